import type { Clock } from "../rpc/clock.ts";
import type { LogEntry } from "../store/store.ts";
import { EventStream, type Events } from "../http/server/event-stream.ts";
import type { Exchange } from "../http/exchange.ts";
import type { OpenExchange, OpenExchanges } from "../http/server/open-exchanges.ts";

/** The log of the events of one stream. */
export interface EventLog {
  /** Stores that the stream exists, before a client gets its id. */
  open(): Promise<void>;
  append(value: string): Promise<string>;
  readFrom(after: string | undefined, limit?: number): Promise<LogEntry[]>;
  /** Notifies the node that has the connection of a new entry. */
  nudge(): Promise<void>;
}

/** Number of tries, and milliseconds between them, to write an event that must not be lost. */
const maxTries = 300;
const retryInterval = 1_000;
/** The entry at the end of a stream. */
export const endMark = "end";
/** An entry without content, so that the log of a silent stream does not expire. */
const quietMark = "";

export interface ResumableInit {
  /** The id of the stream within its session. */
  id: string;
  log: EventLog;
  /** Milliseconds that a client must wait before it reconnects. */
  retry: number;
  /** The stream starts with an empty event that has an id, so that its connections may end before the stream. */
  polls: boolean;
  /** Ends connections after `events.maxStream`. */
  limits: OpenExchanges | undefined;
  /** A standalone stream, which ends only with its connection. */
  endless: boolean;
  /** Called when the stream has ended and its last event is in the log. */
  onEnd: () => void;
  clock: Clock;
  report: (error: unknown) => void;
}

/** A response that carries a stream. */
export interface Connection extends OpenExchange {
  readonly events: EventStream;
  readonly exchange: Exchange;
  /** Called when it no longer carries the stream. */
  readonly left: () => void;
}

/**
 * A stream of events that outlives its connection (2025-11-25, transports, "Resumability and Redelivery").
 *
 * Each event is in the log before it is sent, with the same id, so that a client can get the events that it missed. Actions
 * run one after another: events that arrive during a replay are sent after it.
 */
export class ResumableStream implements Events {
  readonly id: string;
  readonly #init: ResumableInit;
  #connection: Connection | undefined;
  #opened = false;
  #ended = false;
  /** Another node has the connection, and gets a notification with each event. */
  #elsewhere = false;
  #wrote = false;
  #failing = false;
  #abandoned = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(init: ResumableInit) {
    this.#init = init;
    this.id = init.id;
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** Opens the first connection. The client gets an id to resume from when the stream is stored. */
  begin(exchange: Exchange, left: () => void): Connection {
    const events = new EventStream(exchange);
    void this.#inOrder(async () => {
      await this.#announce();
      events.write(firstEvent(this.#init, this.#opened ? eventId(this.id, "") : undefined));
    });
    return this.#connect(events, exchange, left);
  }

  /**
   * Sends the events after a position and then the new ones, on a connection that replaces the previous one. Rejects if the
   * log cannot be read.
   */
  resume(exchange: Exchange, after: string, left: () => void): Promise<void> {
    return this.#inOrder(async () => {
      const { log } = this.#init;
      let page = await log.readFrom(after === "" ? undefined : after);
      this.#drop(this.#connection);
      this.#elsewhere = false;
      const events = new EventStream(exchange);
      events.write(firstEvent(this.#init, eventId(this.id, after)));
      try {
        for (let last = page.at(-1); last; last = page.at(-1)) {
          for (const entry of page) writeEntry(events, this.id, entry);
          page = await log.readFrom(last.position);
        }
      } catch (error) {
        events.destroy();
        throw error;
      }
      const connection = this.#connect(events, exchange, left);
      if (this.#ended) this.#drop(connection);
    });
  }

  /** Ends a connection but not the stream. The client reconnects for the rest. */
  release(connection: Connection): void {
    void this.#inOrder(() => this.#drop(connection));
  }

  /** Ends its connection, because the client has resumed the stream on another node. */
  carriedElsewhere(): void {
    void this.#inOrder(async () => {
      this.#drop(this.#connection);
      this.#elsewhere = true;
      await this.#nudge();
    });
  }

  /** Extends the lifetime of the log of a silent stream. */
  refresh(): void {
    void this.#inOrder(async () => {
      if (this.#ended || !this.#opened) return;
      this.#opened = false;
      await this.#announce();
      if (this.#wrote) await this.#append(quietMark);
    });
  }

  send(json: string): void {
    void this.#inOrder(async () => {
      const position = await this.#append(json);
      this.#wrote = true;
      const events = this.#connection?.events;
      if (position === undefined) events?.send(json);
      else if (events) writeEntry(events, this.id, { position, value: json });
      await this.#nudge();
    });
  }

  comment(): void {
    this.#connection?.events.comment();
  }

  end(): void {
    void this.#inOrder(async () => {
      this.#drop(this.#connection);
      if (this.#init.endless || this.#ended) return;
      this.#ended = true;
      if (!this.#abandoned) await this.#append(endMark);
      await this.#nudge();
      this.#init.onEnd();
    });
  }

  /** Leaves the end of the stream to other nodes, because this process ends before the call has a reply. */
  abandon(): void {
    this.#abandoned = true;
  }

  async #announce(): Promise<void> {
    try {
      await this.#init.log.open();
      this.#opened = true;
    } catch (error) {
      this.#init.report(error);
    }
  }

  async #nudge(): Promise<void> {
    if (this.#elsewhere) await this.#init.log.nudge().catch(this.#init.report);
  }

  #inOrder<T>(act: () => T | Promise<T>): Promise<T> {
    const done = this.#last.then(act);
    this.#last = done.catch(() => {});
    return done;
  }

  /**
   * Writes an event to the log. If the log is unavailable, an event can still be sent on the connection. Without a connection,
   * and for the end mark, the log is the only way to the client, so the write is retried.
   */
  async #append(value: string): Promise<string | undefined> {
    for (let tries = 1; ; tries++) {
      try {
        const position = await this.#init.log.append(value);
        this.#failing = false;
        return position;
      } catch (error) {
        if (!this.#failing) this.#init.report(error);
        this.#failing = true;
        const arrives = this.#connection && !this.#connection.exchange.closed && value !== endMark;
        if (arrives || !this.#opened || tries === maxTries) return undefined;
        await new Promise<void>((resolve) => this.#init.clock.setTimeout(resolve, retryInterval));
      }
    }
  }

  #connect(events: EventStream, exchange: Exchange, left: () => void): Connection {
    const connection: Connection = {
      due: 0,
      events,
      exchange,
      left,
      beat: () => this.release(connection),
      endStream: () => {},
    };
    if (this.#init.polls) this.#init.limits?.add(connection);
    this.#connection = connection;
    return connection;
  }

  #drop(connection: Connection | undefined): void {
    if (!connection || connection !== this.#connection) return;
    this.#connection = undefined;
    this.#init.limits?.remove(connection);
    connection.events.end();
    connection.left();
  }
}

/** Returns the id of an event: its stream and its position. */
export function eventId(stream: string, position: string): string {
  return `${stream}_${position}`;
}

/**
 * Returns the first event of a connection. It has an id also on a resumed stream, because some clients keep no id from one
 * connection to the next.
 */
export function firstEvent({ polls, retry }: { polls: boolean; retry: number }, id: string | undefined): string {
  return polls && id !== undefined ? `id: ${id}\nretry: ${retry}\ndata: \n\n` : `retry: ${retry}\n\n`;
}

/** Sends an entry of a log with its id. Marks are not sent. */
export function writeEntry(events: EventStream, stream: string, { position, value }: LogEntry): void {
  if (value === endMark || value === quietMark) return;
  events.write(`id: ${eventId(stream, position)}\nevent: message\ndata: ${value}\n\n`);
}
