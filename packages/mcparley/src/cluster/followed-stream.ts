import { ErrorCode } from "../mcp/errors.ts";
import { type RequestId, encode, failure, isObject, isRequestId } from "../rpc/messages.ts";
import { repeat } from "../rpc/clock.ts";
import { LogTail, readLog } from "../store/log-tail.ts";
import { EventStream } from "../http/server/event-stream.ts";
import type { HttpExchange } from "../http/exchange.ts";
import type { OpenExchange, OpenExchanges } from "../http/server/open-exchanges.ts";
import { type ClusterNode, renewalInterval } from "./cluster-node.ts";
import { type StreamHead, type StreamLog, endMark, eventId, firstEvent, writeEntry } from "./stream-log.ts";

/** Milliseconds between two checks of the owner, and between two reads of the log without a notification. */
const checkInterval = renewalInterval;

interface FollowedInit {
  /** The id of the stream. */
  id: string;
  /** The node on which the call runs. */
  owner: string;
  sessionId: string;
  log: StreamLog;
  head: StreamHead;
  node: ClusterNode;
  open: OpenExchanges;
  /** Ends connections after `events.maxStream`. */
  limits: OpenExchanges | undefined;
  /** The revision lets a connection end before its stream. */
  polls: boolean;
  /** Milliseconds that a client must wait before it reconnects. */
  retry: number;
}

/**
 * A connection to a stream whose call runs on another node (the owner), or has ended. It sends the events of the log, and new
 * ones as they arrive. If the owner died, it sends an error that states whether the request may be sent again.
 *
 * ```mermaid
 * stateDiagram-v2
 *   [*] --> replaying: the client resumes (start)
 *   replaying --> following: the stored events are sent
 *   following --> following: the owner has a lease, and is notified once
 *   following --> over: the owner has no lease, and an error for each open request was sent
 *   replaying --> over: the end mark was sent, or the store is unavailable
 *   following --> over: the end mark was sent, the client has gone, or the connection has reached its time limit
 *   over --> [*]
 * ```
 */
export class FollowedStream implements OpenExchange {
  due = 0;
  readonly #init: FollowedInit;
  readonly #events: EventStream;
  readonly #tail: LogTail;
  /** Ends the connection when it reaches its time limit. */
  readonly #limit: OpenExchange = { due: 0, onInterval: () => this.#end() };
  #isOwnerNotified = false;
  #isOver = false;
  #stopChecks: (() => void) | undefined;

  constructor(exchange: HttpExchange, init: FollowedInit) {
    this.#init = init;
    const { node, log, open, limits } = init;
    const { core, store } = node;
    this.#events = new EventStream(exchange);
    this.#tail = new LogTail({
      store,
      log: log.name,
      clock: core.clock,
      interval: checkInterval,
      take: (entry) => {
        if (this.#isOver) return;
        writeEntry(this.#events, init.id, entry);
        if (entry.value === endMark) this.#end();
      },
      report: node.report,
    });
    open.add(this);
    if (init.polls) limits?.add(this.#limit);
    exchange.onGone(() => this.#end());
  }

  /** Sends the events after a position, and follows the log. Ends the connection if the store is unavailable. */
  async start(position: string): Promise<void> {
    const { node, id } = this.#init;
    this.#events.write(firstEvent(this.#init, eventId(id, position)));
    try {
      await this.#tail.start(position === "" ? undefined : position);
    } catch (error) {
      this.#events.destroy();
      this.#end();
      throw error;
    }
    if (this.#isOver) return;
    const { report } = node;
    this.#stopChecks = repeat(node.core.clock, checkInterval, () => void this.#checkOwner().catch(report));
    await this.#checkOwner().catch(report);
  }

  onInterval(): void {
    this.#events.comment();
  }

  endStream(): void {
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { open, limits } = this.#init;
    open.remove(this);
    limits?.remove(this.#limit);
    this.#stopChecks?.();
    void this.#tail.stop();
    this.#events.end();
  }

  /**
   * Notifies the owner that the client has resumed here. From then on it sends a notification with each event. If the owner
   * died, sends its errors. They are not stored, because each process that follows the stream sends the same ones.
   */
  async #checkOwner(): Promise<void> {
    const { node, owner, sessionId, id: stream, head } = this.#init;
    if (await node.isAlive(owner)) {
      if (this.#isOwnerNotified) return;
      await node.send(owner, { about: "carried", session: sessionId, stream });
      this.#isOwnerNotified = true;
      return;
    }
    // The events that the owner wrote before it died.
    await this.#tail.catchUp();
    const answeredIds = await this.#readAnswered();
    if (this.#isOver) return;
    for (const [id, repeatable] of head.requests) {
      if (!answeredIds.has(id)) this.#events.send(ownerDied(id, repeatable));
    }
    this.#end();
  }

  /** Returns the ids of the requests whose replies are in the log. */
  async #readAnswered(): Promise<Set<RequestId>> {
    const answeredIds = new Set<RequestId>();
    for await (const { value } of readLog(this.#init.node.store, this.#init.log.name)) {
      const message: unknown = value.startsWith("{") ? JSON.parse(value) : undefined;
      if (isObject(message) && !("method" in message) && isRequestId(message.id)) answeredIds.add(message.id);
    }
    return answeredIds;
  }
}

/** Returns the error reply to a request whose node died before it replied. */
function ownerDied(id: RequestId, repeatable: boolean): string {
  const cure = repeatable
    ? "It is safe to send the request again."
    : "Its effects are unknown. Send the request again only if it is safe to repeat.";
  const message = `The process that worked on this request died before it replied. ${cure}`;
  return encode(failure(id, { code: ErrorCode.InternalError, message, data: { repeatable } }));
}
