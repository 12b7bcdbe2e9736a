import type { JsonRpcMessage } from "../jsonrpc/messages.ts";
import type { Link } from "../server/call.ts";
import { type Principal, principalKey } from "../server/context.ts";
import type { Session } from "../server/session.ts";
import type { Standalone } from "./standalone.ts";

/** Standalone streams of one session at a time; beyond that the oldest is ended. */
const maxStreams = 4;
/** Messages that are kept for a client that has no standalone stream open. */
const maxMissed = 100;

/**
 * A legacy session that is reached by its id. It is the link for what belongs to no request.
 *
 * A client may have several standalone streams, and each message goes on one of them alone (2025-11-25, transports,
 * "Multiple Connections"): on the newest, since an older one may be a connection that broke unnoticed. While there is
 * none, the last message of each kind is kept.
 */
export class HttpSession implements Link {
  readonly id: string;
  /** Set once the client's `initialize` was good. */
  session!: Session;
  lastUsed: number;
  #streams: Standalone[] | undefined;
  #missed: Map<string, JsonRpcMessage> | undefined;

  constructor(id: string, now: number) {
    this.id = id;
    this.lastUsed = now;
  }

  /** Whether something of it is going on, so that it is not idle. */
  get isBusy(): boolean {
    return this.session.calls.size > 0 || (this.#streams !== undefined && this.#streams.length > 0);
  }

  belongsTo(principal: Principal | undefined): boolean {
    const owner = this.session.principal;
    return owner === principal || principalKey(owner) === principalKey(principal);
  }

  send(message: JsonRpcMessage): void {
    const stream = this.#streams?.at(-1);
    if (stream) stream.send(message);
    else this.#keep(message);
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

  #keep(message: JsonRpcMessage): void {
    if (!("method" in message)) return;
    this.#missed ??= new Map();
    const uri = message.params?.uri;
    this.#missed.set(typeof uri === "string" ? `${message.method} ${uri}` : message.method, message);
    if (this.#missed.size > maxMissed) this.#missed.delete(this.#missed.keys().next().value!);
  }
}
