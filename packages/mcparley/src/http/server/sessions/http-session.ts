import type { Classified, JsonObject, JsonRpcMessage, JsonRpcRequest } from "../../../rpc/messages.ts";
import { Notification } from "../../../mcp/methods.ts";
import type { Reply } from "../../../server/dispatch/reply.ts";
import type { Link } from "../../../server/dispatch/call.ts";
import { type Principal, principalKey } from "../../../server/dispatch/context.ts";
import { notified } from "../../../server/protocol/legacy.ts";
import type { Session, SharedBy } from "../../../server/protocol/session.ts";
import type { Standalone } from "./standalone.ts";

/** Maximum number of standalone streams of one session. One more ends the oldest. */
const maxStreams = 4;
/** Maximum number of messages that wait while the client has no standalone stream open. */
const maxMissed = 100;

/** A message without a reply: a notification or a response. */
export type OneWayMessage = Exclude<Classified, { kind: "invalid" | "request" }>;

/**
 * A legacy session that requests name by its id. It is the link for messages that belong to no request.
 *
 * A client may have several standalone streams. Each message is sent on exactly one of them (2025-11-25, Transports,
 * "Multiple Connections"): on the newest, because an older connection may be broken unnoticed. While no stream is open,
 * messages wait. Of several notifications of the same change, only the last one waits.
 */
export class HttpSession implements Link {
  readonly id: string;
  /** Set when the client's `initialize` succeeded. */
  session!: Session;
  /** Set if other processes serve the session as well. */
  readonly shared?: SharedBy;
  lastUsed: number;
  /** The caller whose share the session counts for; see `callerKey`. */
  readonly caller: string;
  countedSize = 0;
  wasUsed = false;
  #streams: Standalone[] | undefined;
  #missed: Map<unknown, JsonRpcMessage> | undefined;

  constructor(id: string, now: number, caller: string) {
    this.id = id;
    this.caller = caller;
    this.lastUsed = now;
  }

  get network(): "tcp" {
    return "tcp";
  }

  get keptSize(): number {
    return this.session.keptSize;
  }

  /** Whether a call is in flight or a stream is open. A busy session is not idle. */
  get isBusy(): boolean {
    return this.session.inFlight > 0 || (this.#streams !== undefined && this.#streams.length > 0);
  }

  get isOpen(): boolean {
    return this.stream !== undefined;
  }

  /** The stream for messages that belong to no request. Undefined if none is open. */
  get stream(): Standalone | undefined {
    return this.#streams?.at(-1);
  }

  belongsTo(principal: Principal | undefined): boolean {
    const owner = this.session.principal;
    return owner === principal || principalKey(owner) === principalKey(principal);
  }

  /**
   * Processes a notification or a response at once. Errors are reported and do not reach the client: Workers throw if a
   * request uses the streams or signals of another, as a cancellation does.
   */
  receive(received: OneWayMessage): Promise<void> | void {
    try {
      if (received.kind === "notification") notified(this.session, received.message);
      else this.session.answered(received.message);
    } catch (error) {
      this.session.core.report(error, undefined);
    }
  }

  /** Called before the reply to a request is sent. Stores the changes of the request, and returns the reply to send. */
  beforeReply?(request: JsonRpcRequest, reply: Reply | undefined): Promise<Reply | undefined>;

  send(message: JsonRpcMessage): void {
    const { stream } = this;
    if (stream) stream.send(message);
    else this.#miss(message);
  }

  attach(stream: Standalone): void {
    this.#streams ??= [];
    this.#streams.push(stream);
    if (this.#streams.length > maxStreams) this.#streams.shift()?.end();
    for (const message of this.#missed?.values() ?? []) if (this.#isWanted(message)) stream.send(message);
    this.#missed = undefined;
    this.session.startPings();
  }

  /** Ends the streams of a client that does not answer, so that it opens a new one. */
  reset(cause: Error): void {
    this.session.core.report(cause, undefined);
    this.endStreams();
  }

  detach(stream: Standalone): void {
    this.#streams = this.#streams?.filter((other) => other !== stream);
  }

  /** Ends the standalone streams in an orderly way. */
  endStreams(): void {
    const streams = this.#streams ?? [];
    this.#streams = undefined;
    for (const stream of streams) stream.end();
  }

  /** Ends the session, and cancels its calls and its input requests. */
  end(cause: Error): void {
    this.endStreams();
    this.session.end(cause);
  }

  /** Whether a message that waited is still wanted. The credential that opens the stream may have fewer scopes. */
  #isWanted(message: JsonRpcMessage): boolean {
    if (!("method" in message) || message.method !== Notification.resourceUpdated) return true;
    return this.session.wants({ uri: String(message.params?.uri) });
  }

  #miss(message: JsonRpcMessage): void {
    if (!("method" in message)) return;
    this.#missed ??= new Map();
    this.#missed.set(kindOf(message), message);
    if (this.#missed.size > maxMissed) this.#missed.delete(this.#missed.keys().next().value);
  }
}

/** Returns the key of a waiting message. A later notification of the same change has the same key; other keys are unique. */
function kindOf(message: JsonRpcMessage & { method: string; params?: JsonObject }): unknown {
  const { method, params } = message;
  if (method === Notification.resourceUpdated) return `${method} ${String(params?.uri)}`;
  return method.endsWith("/list_changed") ? method : message;
}
