import type { Classified, JsonObject, JsonRpcMessage, JsonRpcRequest } from "../../../rpc/messages.ts";
import { Notification } from "../../../mcp/methods.ts";
import type { Reply } from "../../../server/dispatch/reply.ts";
import type { Link } from "../../../server/dispatch/call.ts";
import { type Principal, principalKey } from "../../../server/dispatch/context.ts";
import { notified } from "../../../server/protocol/legacy.ts";
import type { Session, SharedBy } from "../../../server/protocol/session.ts";
import type { Standalone } from "./standalone.ts";

/** Standalone streams of one session at a time; beyond that the oldest is ended. */
const maxStreams = 4;
/** Messages that are kept for a client that has no standalone stream open. */
const maxMissed = 100;

/** What a client says that is not answered. */
export type Heard = Exclude<Classified, { kind: "invalid" | "request" }>;

/**
 * A legacy session that is reached by its id. It is the link for what belongs to no request.
 *
 * A client may have several standalone streams, and each message goes on one of them alone (2025-11-25, transports,
 * "Multiple Connections"): on the newest, since an older one may be a connection that broke unnoticed. While there is
 * none, what would be sent is kept, of news of the same change the last alone.
 */
export class HttpSession implements Link {
  readonly id: string;
  /** Set once the client's `initialize` was good. */
  session!: Session;
  /** Set where other processes serve it as well. */
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

  /** Whether something of it is going on, so that it is not idle. */
  get isBusy(): boolean {
    return this.session.inFlight > 0 || (this.#streams !== undefined && this.#streams.length > 0);
  }

  /** The stream on which what belongs to no request is sent; undefined where none is open. */
  get stream(): Standalone | undefined {
    return this.#streams?.at(-1);
  }

  belongsTo(principal: Principal | undefined): boolean {
    const owner = this.session.principal;
    return owner === principal || principalKey(owner) === principalKey(principal);
  }

  /** Takes what is not answered, with effect at once. */
  hear(heard: Heard): Promise<void> | void {
    if (heard.kind === "notification") notified(this.session, heard.message);
    else this.session.answered(heard.message);
  }

  /** Called with the reply to a request before it is sent, and gives what is sent: for whoever keeps what it changed. */
  keep?(request: JsonRpcRequest, reply: Reply | undefined): Promise<Reply | undefined>;

  send(message: JsonRpcMessage): void {
    const { stream } = this;
    if (stream) stream.send(message);
    else this.#miss(message);
  }

  attach(stream: Standalone): void {
    this.#streams ??= [];
    this.#streams.push(stream);
    if (this.#streams.length > maxStreams) this.#streams.shift()?.end();
    for (const message of this.#missed?.values() ?? []) stream.send(message);
    this.#missed = undefined;
  }

  detach(stream: Standalone): void {
    this.#streams = this.#streams?.filter((other) => other !== stream);
  }

  /** Ends its standalone streams in an orderly way. */
  endStreams(): void {
    const streams = this.#streams ?? [];
    this.#streams = undefined;
    for (const stream of streams) stream.end();
  }

  /** Ends it: gives up its calls, and its questions. */
  end(cause: Error): void {
    this.endStreams();
    this.session.end(cause);
  }

  #miss(message: JsonRpcMessage): void {
    if (!("method" in message)) return;
    this.#missed ??= new Map();
    this.#missed.set(kindOf(message), message);
    if (this.#missed.size > maxMissed) this.#missed.delete(this.#missed.keys().next().value);
  }
}

/** What a message is news of: another of the same kind says no more. Others than news of changes are each of its own. */
function kindOf(message: JsonRpcMessage & { method: string; params?: JsonObject }): unknown {
  const { method, params } = message;
  if (method === Notification.resourceUpdated) return `${method} ${String(params?.uri)}`;
  return method.endsWith("/list_changed") ? method : message;
}
