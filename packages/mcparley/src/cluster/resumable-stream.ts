import { pause } from "../rpc/abort.ts";
import type { Clock } from "../rpc/clock.ts";
import { EventStream, type Events } from "../http/server/event-stream.ts";
import type { HttpExchange } from "../http/exchange.ts";
import type { OpenExchange, OpenExchanges } from "../http/server/open-exchanges.ts";
import {
  type StreamHead,
  type StreamLog,
  endMark,
  eventId,
  firstEvent,
  keepAliveMark,
  writeEntry,
} from "./stream-log.ts";

/** Maximum number of tries to write an event that must not be lost, and milliseconds between them. */
const maxTries = 300;
const retryInterval = 1_000;
/** Maximum number of events of a stream that wait until the log is available. */
const maxUnstored = 1_000;

interface ResumableInit {
  /** The id of the stream within its session. */
  id: string;
  log: StreamLog;
  head: StreamHead;
  /** Milliseconds that a client must wait before it reconnects. */
  retry: number;
  /** The stream starts with an empty event that has an id, so that a connection may end before the stream. */
  polls: boolean;
  /** Ends connections after `events.maxStream`. */
  limits: OpenExchanges | undefined;
  /** The stream belongs to no request, so no response ends it. */
  isStandalone: boolean;
  /** Called when the stream has ended and its last event is in the log. */
  onEnd: () => void;
  clock: Clock;
  report: (error: unknown) => void;
}

/** A response that carries a stream. */
export interface Connection extends OpenExchange {
  readonly events: EventStream;
  readonly exchange: HttpExchange;
  /** Called when the response no longer carries the stream. */
  readonly onDropped: () => void;
}

/**
 * A stream of events that outlives its connection (2025-11-25, Transports, "Resumability and Redelivery").
 *
 * Each event is in the log before it is sent, with the same id, so that a client can get the events that it missed. Actions
 * run one after another: events that arrive during a replay are sent after it.
 *
 * ```mermaid
 * stateDiagram-v2
 *   [*] --> connected: the response becomes a stream (begin)
 *   connected --> connected: the client resumes on this node, on a new connection (resume)
 *   connected --> waiting: the connection ends before the stream (release)
 *   waiting --> connected: the client resumes on this node (resume)
 *   connected --> elsewhere: the client resumes on another node (resumedElsewhere)
 *   waiting --> elsewhere: the client resumes on another node (resumedElsewhere)
 *   elsewhere --> connected: the client resumes on this node again (resume)
 *   connected --> ended: the last event is in the log (end)
 *   waiting --> ended: the last event is in the log (end)
 *   elsewhere --> ended: the last event is in the log (end)
 *   ended --> ended: the client resumes, and gets the events that it missed (resume)
 *   ended --> [*]
 * ```
 *
 * A standalone stream never ends: `end` only drops its connection.
 */
export class ResumableStream implements Events {
  readonly id: string;
  readonly #init: ResumableInit;
  #connection: Connection | undefined;
  /** Whether the log has an entry for the stream. */
  #isStored = false;
  #isEnded = false;
  /** Whether another node has the connection. That node is notified of each event. */
  #isElsewhere = false;
  #hasEvents = false;
  #isFailing = false;
  #isAbandoned = false;
  /** The newest events that were sent on a connection only, because the log was unavailable. The connection may have been broken. */
  #unstored: string[] = [];
  #lastAction: Promise<unknown> = Promise.resolve();

  constructor(init: ResumableInit) {
    this.#init = init;
    this.id = init.id;
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** Opens the first connection. The client gets an id to resume from, if the stream could be stored. */
  begin(exchange: HttpExchange, onDropped: () => void): Connection {
    const events = new EventStream(exchange);
    void this.#enqueue(async () => {
      await this.#storeHead();
      events.write(firstEvent(this.#init, this.#isStored ? eventId(this.id, "") : undefined));
    });
    return this.#connect(events, exchange, onDropped);
  }

  /**
   * Sends the events after a position and then the new ones, on a connection that replaces the previous one. Rejects if the
   * log cannot be read.
   */
  resume(exchange: HttpExchange, position: string, onDropped: () => void): Promise<void> {
    return this.#enqueue(async () => {
      const { log } = this.#init;
      for (let [json] = this.#unstored; json !== undefined; [json] = this.#unstored) {
        await log.append(json);
        this.#unstored.shift();
      }
      let page = await log.readFrom(position === "" ? undefined : position);
      this.#drop(this.#connection);
      this.#isElsewhere = false;
      const events = new EventStream(exchange);
      events.write(firstEvent(this.#init, eventId(this.id, position)));
      try {
        for (let last = page.at(-1); last; last = page.at(-1)) {
          for (const entry of page) writeEntry(events, this.id, entry);
          page = await log.readFrom(last.position);
        }
      } catch (error) {
        events.destroy();
        throw error;
      }
      const connection = this.#connect(events, exchange, onDropped);
      if (this.#isEnded) this.#drop(connection);
    });
  }

  /** Ends a connection but not the stream. The client resumes the stream on a new connection. */
  release(connection: Connection): void {
    void this.#enqueue(() => this.#drop(connection));
  }

  /** Ends the connection, because the client has resumed the stream on another node. */
  resumedElsewhere(): void {
    void this.#enqueue(async () => {
      this.#drop(this.#connection);
      this.#isElsewhere = true;
      await this.#storeUnstored();
      await this.#notifyElsewhere();
    });
  }

  /** Extends the lifetime of the log of a silent stream. */
  refresh(): void {
    void this.#enqueue(async () => {
      if (this.#isEnded || !this.#isStored) return;
      this.#isStored = false;
      await this.#storeHead();
      if (this.#hasEvents) await this.#append(keepAliveMark);
    });
  }

  send(json: string): void {
    void this.#enqueue(async () => {
      const position = await this.#append(json);
      this.#hasEvents = true;
      const events = this.#connection?.events;
      if (position === undefined) this.#sendUnstored(json);
      else if (events) writeEntry(events, this.id, { position, value: json });
      await this.#notifyElsewhere();
    });
  }

  comment(): void {
    this.#connection?.events.comment();
  }

  end(): void {
    void this.#enqueue(async () => {
      this.#drop(this.#connection);
      if (this.#init.isStandalone || this.#isEnded) return;
      this.#isEnded = true;
      await this.#storeUnstored();
      if (!this.#isAbandoned) await this.#append(endMark);
      await this.#notifyElsewhere();
      this.#init.onEnd();
    });
  }

  /** Leaves the end of the stream to other nodes, because this process ends before the call has replied. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  async #storeHead(): Promise<void> {
    try {
      await this.#init.log.open(this.#init.head);
      this.#isStored = true;
    } catch (error) {
      this.#init.report(error);
    }
  }

  #sendUnstored(json: string): void {
    this.#connection?.events.send(json);
    this.#unstored.push(json);
    if (this.#unstored.length > maxUnstored) this.#unstored.shift();
  }

  /** Stores the events that the client may not have. Called without a connection, so it waits until the log is available. */
  async #storeUnstored(): Promise<void> {
    for (const json of this.#unstored.splice(0)) await this.#append(json);
  }

  async #notifyElsewhere(): Promise<void> {
    if (this.#isElsewhere) await this.#init.log.notify().catch(this.#init.report);
  }

  #enqueue<T>(action: () => T | Promise<T>): Promise<T> {
    const result = this.#lastAction.then(action);
    this.#lastAction = result.catch(() => {});
    return result;
  }

  /**
   * Writes an event to the log and returns its position. If the log is unavailable, returns undefined if the event can still
   * be sent on the connection. Retries otherwise: without a connection, and for the end mark, only the log reaches the client.
   */
  async #append(value: string): Promise<string | undefined> {
    for (let tries = 1; ; tries++) {
      try {
        const position = await this.#init.log.append(value);
        this.#isFailing = false;
        return position;
      } catch (error) {
        if (!this.#isFailing) this.#init.report(error);
        this.#isFailing = true;
        const canSend = this.#connection && !this.#connection.exchange.closed && value !== endMark;
        if (canSend || !this.#isStored || tries === maxTries) return undefined;
        await pause(this.#init.clock, retryInterval);
      }
    }
  }

  #connect(events: EventStream, exchange: HttpExchange, onDropped: () => void): Connection {
    const connection: Connection = {
      due: 0,
      events,
      exchange,
      onDropped,
      onInterval: () => this.release(connection),
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
    connection.onDropped();
  }
}
