import type { Clock } from "../rpc/clock.ts";
import type { LogEntry } from "../store/store.ts";
import { EventStream, type Events } from "../http/server/event-stream.ts";
import type { Exchange } from "../http/exchange.ts";
import type { OpenExchange, OpenExchanges } from "../http/server/open-exchanges.ts";

/** The log in which the events of one stream are kept. */
export interface EventLog {
  /** Says that there is such a stream, before anyone is told its id. */
  open(): Promise<void>;
  append(value: string): Promise<string>;
  readFrom(after: string | undefined, limit?: number): Promise<LogEntry[]>;
  /** Tells whoever carries the stream elsewhere that there is something in the log. */
  nudge(): Promise<void>;
}

/** How often, and after how many milliseconds each time, it is tried to write what must not be lost. */
const maxTries = 300;
const retryInterval = 1_000;
/** Stands in a log where its stream ended. */
export const endMark = "end";
/** Stands in a log for nothing, so that one on which nothing is said for long does not expire. */
const quietMark = "";

export interface ResumableInit {
  /** Names the stream within its session. */
  id: string;
  log: EventLog;
  /** Milliseconds that a client is to wait before it comes back. */
  retry: number;
  /** The stream begins with an event that only names an id, and a connection may be ended before it. */
  polls: boolean;
  /** Ends connections that have been open for long. */
  limits: OpenExchanges | undefined;
  /** It has no end of its own: ending it is only ending its connection. */
  endless: boolean;
  /** Called when it has ended, after the last event is in the log. */
  onEnd: () => void;
  clock: Clock;
  report: (error: unknown) => void;
}

/** One response that carries a stream, as long as it does. */
export interface Connection extends OpenExchange {
  readonly events: EventStream;
  readonly exchange: Exchange;
  /** Called when it does not carry the stream any more. */
  readonly left: () => void;
}

/**
 * A stream of events that outlives its connection (2025-11-25, transports, "Resumability and Redelivery").
 *
 * Each event is in the log before it is sent, under the id that it is sent with, so that whatever a client may have
 * missed can be sent again. All that is done to a stream is done in order: what is said while the past is sent again
 * comes after it.
 */
export class ResumableStream implements Events {
  readonly id: string;
  readonly #init: ResumableInit;
  #connection: Connection | undefined;
  #opened = false;
  #ended = false;
  /** Another node carries it, and is told of what there is to be sent. */
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

  /** Opens the first connection. Its client is told how to come back once there is something to come back to. */
  begin(exchange: Exchange, left: () => void): Connection {
    const events = new EventStream(exchange);
    void this.#inOrder(async () => {
      await this.#announce();
      events.write(firstEvent(this.#init, this.#opened ? eventId(this.id, "") : undefined));
    });
    return this.#connect(events, exchange, left);
  }

  /**
   * Sends what came after a position, then goes on from there, on a new connection that takes the place of the one
   * before. Rejects where the log cannot be read.
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

  /** Ends a connection and not the stream: the client comes back for the rest. */
  release(connection: Connection): void {
    void this.#inOrder(() => this.#drop(connection));
  }

  /** Lets go of its connection: its client has come back to another node, which is told what there is from now on. */
  carriedElsewhere(): void {
    void this.#inOrder(async () => {
      this.#drop(this.#connection);
      this.#elsewhere = true;
      await this.#nudge();
    });
  }

  /** Keeps the log of a stream on which nothing is said from expiring. */
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

  /** Leaves it to others to say how it ended: its call is given up before it was answered, since this process ends. */
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
   * Without its log an event is still worth sending, though it cannot be sent again. Where there is no connection to send
   * it on, or it is the end, the log is the only way to whoever comes back: then it is tried until the log is there again.
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

/** The id of an event: its stream, and its position there. */
export function eventId(stream: string, position: string): string {
  return `${stream}_${position}`;
}

/**
 * What a connection begins with: where it begins, also where a client comes back. Some keep no id from one connection to
 * the next, and would lose the stream with a connection that brings none.
 */
export function firstEvent({ polls, retry }: { polls: boolean; retry: number }, id: string | undefined): string {
  return polls && id !== undefined ? `id: ${id}\nretry: ${retry}\ndata: \n\n` : `retry: ${retry}\n\n`;
}

/** Sends an entry of a log under its id; what is no message is none to the client either. */
export function writeEntry(events: EventStream, stream: string, { position, value }: LogEntry): void {
  if (value === endMark || value === quietMark) return;
  events.write(`id: ${eventId(stream, position)}\nevent: message\ndata: ${value}\n\n`);
}
