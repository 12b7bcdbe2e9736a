import type { LogEntry } from "../store/store.ts";
import { EventStream, type Events } from "./event-stream.ts";
import type { Exchange, ResponseHeaders } from "./exchange.ts";
import type { OpenExchange, OpenExchanges } from "./open-exchanges.ts";

/** The log in which the events of one stream are kept. */
export interface EventLog {
  append(value: string): Promise<string>;
  readFrom(after: string | undefined, limit?: number): Promise<LogEntry[]>;
}

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
  /** Nothing more will be said on it; what was said is in its log. */
  ended?: boolean;
  /** Called when it has ended, after the last event is in the log. */
  onEnd: () => void;
  report: (error: unknown) => void;
}

/** One response that carries a stream, as long as it does. */
export interface Connection extends OpenExchange {
  readonly events: EventStream;
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
  #ended: boolean;
  #last: Promise<unknown> = Promise.resolve();

  constructor(init: ResumableInit) {
    this.#init = init;
    this.id = init.id;
    this.#ended = init.ended ?? false;
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** Opens the first connection. */
  begin(exchange: Exchange, headers: ResponseHeaders | undefined, left: () => void): Connection {
    return this.#connect(this.#open(exchange, headers, ""), left);
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
      const events = this.#open(exchange, undefined, after);
      try {
        for (let last = page.at(-1); last; last = page.at(-1)) {
          for (const { position, value } of page) this.#write(events, value, position);
          page = await log.readFrom(last.position);
        }
      } catch (error) {
        events.destroy();
        throw error;
      }
      const connection = this.#connect(events, left);
      if (this.#ended) this.#drop(connection);
    });
  }

  /** Ends a connection and not the stream: the client comes back for the rest. */
  release(connection: Connection): void {
    void this.#inOrder(() => this.#drop(connection));
  }

  send(json: string): void {
    void this.#inOrder(async () => {
      const position = await this.#append(json);
      if (this.#connection) this.#write(this.#connection.events, json, position);
    });
  }

  comment(): void {
    this.#connection?.events.comment();
  }

  end(): void {
    void this.#inOrder(() => {
      this.#drop(this.#connection);
      if (this.#init.endless || this.#ended) return;
      this.#ended = true;
      this.#init.onEnd();
    });
  }

  /**
   * Begins with where the connection begins, also where a client comes back: some keep no id from one connection to the
   * next, and would lose the stream with a connection that brings none.
   */
  #open(exchange: Exchange, headers: ResponseHeaders | undefined, after: string): EventStream {
    const { polls, retry } = this.#init;
    const events = new EventStream(exchange, headers);
    events.write(polls ? `id: ${this.#eventId(after)}\nretry: ${retry}\ndata: \n\n` : `retry: ${retry}\n\n`);
    return events;
  }

  #inOrder<T>(act: () => T | Promise<T>): Promise<T> {
    const done = this.#last.then(act);
    this.#last = done.catch(() => {});
    return done;
  }

  /** Without its log an event is still worth sending, though it cannot be sent again. */
  async #append(json: string): Promise<string | undefined> {
    try {
      return await this.#init.log.append(json);
    } catch (error) {
      this.#init.report(error);
      return undefined;
    }
  }

  #write(events: EventStream, json: string, position: string | undefined): void {
    if (position === undefined) events.send(json);
    else events.write(`id: ${this.#eventId(position)}\nevent: message\ndata: ${json}\n\n`);
  }

  #eventId(position: string): string {
    return `${this.id}_${position}`;
  }

  #connect(events: EventStream, left: () => void): Connection {
    const connection: Connection = {
      due: 0,
      events,
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
