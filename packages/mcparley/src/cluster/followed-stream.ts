import { ErrorCode } from "../mcp/errors.ts";
import { type RequestId, encode, failure, isObject } from "../rpc/messages.ts";
import { LogTail } from "../store/log-tail.ts";
import type { LogEntry } from "../store/store.ts";
import { EventStream } from "../http/server/event-stream.ts";
import type { Exchange } from "../http/exchange.ts";
import type { OpenExchange, OpenExchanges } from "../http/server/open-exchanges.ts";
import { endMark, eventId, firstEvent, writeEntry } from "./resumable-stream.ts";
import { type ClusterNode, nodeLease } from "./cluster-node.ts";
import type { StreamHead, StreamLog } from "./stream-log.ts";

/** Milliseconds between two checks whether the node is alive. Two in a row must find it dead. */
const lookInterval = nodeLease / 2;
const pageSize = 200;

export interface FollowedInit {
  /** The id of the stream, and the node that the call runs on. */
  id: string;
  owner: string;
  sessionId: string;
  log: StreamLog;
  head: StreamHead;
  node: ClusterNode;
  open: OpenExchanges;
  /** Ends connections after `events.maxStream`. */
  limits: OpenExchanges | undefined;
  polls: boolean;
  retry: number;
}

/**
 * A connection to a stream whose call runs on another node, or has ended. It sends the events of the log, and new ones as they
 * arrive. If that node has died, it sends an error that says whether the request may be sent again.
 */
export class FollowedStream implements OpenExchange {
  due = 0;
  readonly #init: FollowedInit;
  readonly #events: EventStream;
  readonly #tail: LogTail;
  /** Ends the connection when it has been open for long enough. */
  readonly #limit: OpenExchange = { due: 0, beat: () => this.#end(), endStream: () => {} };
  #head: StreamHead;
  #isOwnerTold = false;
  #isOver = false;
  #timer: unknown;
  #wasDead = false;

  constructor(exchange: Exchange, init: FollowedInit) {
    this.#init = init;
    this.#head = init.head;
    const { node, log, open, limits } = init;
    const { core, store } = node;
    this.#events = new EventStream(exchange);
    this.#tail = new LogTail({
      store,
      log: log.name,
      clock: core.clock,
      interval: lookInterval,
      take: (entry) => this.#take(entry),
      report: (error) => core.report(error, undefined),
    });
    open.add(this);
    if (init.polls) limits?.add(this.#limit);
    exchange.onGone(() => this.#end());
  }

  /** Sends the events after a position, and follows the log. Ends the connection if the store is unavailable. */
  async start(after: string): Promise<void> {
    const { node, id } = this.#init;
    this.#events.write(firstEvent(this.#init, eventId(id, after)));
    try {
      await this.#tail.start(after === "" ? undefined : after);
    } catch (error) {
      this.#events.destroy();
      this.#end();
      throw error;
    }
    if (this.#isOver) return;
    this.#watch();
    await this.#tellOwner().catch((error: unknown) => node.core.report(error, undefined));
  }

  beat(): void {
    this.#events.comment();
  }

  endStream(): void {
    this.#end();
  }

  #take(entry: LogEntry): void {
    if (this.#isOver) return;
    writeEntry(this.#events, this.#init.id, entry);
    if (entry.value === endMark) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { open, limits, node } = this.#init;
    open.remove(this);
    limits?.remove(this.#limit);
    if (this.#timer !== undefined) node.core.clock.clearTimeout(this.#timer);
    void this.#tail.stop();
    this.#events.end();
  }

  /** Tells the node of the call that the client is here. From then on it sends a notification with each event. */
  async #tellOwner(): Promise<void> {
    const { node, owner, sessionId, id } = this.#init;
    await node.post(owner, { about: "carried", session: sessionId, stream: id });
    this.#isOwnerTold = true;
  }

  #watch(): void {
    const { node } = this.#init;
    this.#timer = node.core.clock.setTimeout(() => {
      this.#watch();
      this.#look().catch((error: unknown) => node.core.report(error, undefined));
    }, lookInterval);
  }

  async #look(): Promise<void> {
    const { node, owner, log } = this.#init;
    if (!this.#isOwnerTold) await this.#tellOwner();
    const isDead = !(await node.isAlive(owner));
    const isSure = isDead && this.#wasDead;
    this.#wasDead = isDead;
    if (!isSure) return;
    if (!(await log.close(this.#head))) {
      // The node that does it may die as well, so this one checks again.
      this.#head = (await log.head()) ?? this.#head;
      return;
    }
    const answered = await this.#answered();
    for (const [id, repeatable] of this.#head.requests) if (!answered.has(id)) await log.append(lost(id, repeatable));
    await log.append(endMark);
    await this.#tail.look();
  }

  /** Returns the ids of the requests whose replies are in the log. */
  async #answered(): Promise<Set<RequestId>> {
    const answered = new Set<RequestId>();
    for (let after: string | undefined; ;) {
      const entries = await this.#init.log.readFrom(after, pageSize);
      for (const { value } of entries) {
        const message: unknown = value.startsWith("{") ? JSON.parse(value) : undefined;
        if (isObject(message) && !("method" in message)) answered.add(message.id as RequestId);
      }
      after = entries.at(-1)?.position;
      if (entries.length < pageSize) return answered;
    }
  }
}

/** The reply to a request whose node died before it replied. */
function lost(id: RequestId, repeatable: boolean): string {
  const cure = repeatable
    ? "Nothing speaks against sending it again."
    : "What it had done until then is not known: send it again only if it may be done twice.";
  const message = `The process that worked on this request died before it was answered. ${cure}`;
  return encode(failure(id, { code: ErrorCode.InternalError, message, data: { repeatable } }));
}
