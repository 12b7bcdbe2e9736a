import type { Awaitable } from "../../rpc/awaitable.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import { type Reply, replyToError } from "../dispatch/reply.ts";
import type { Principal } from "../dispatch/context.ts";
import type { ServerCore } from "../dispatch/core.ts";
import { type Way, answerInSession, initialize, notified } from "./legacy.ts";
import type { Session } from "./session.ts";

/**
 * The legacy revisions on one duplex channel: at most one session, opened by `initialize`.
 *
 * It is loaded when the first message of a legacy revision arrives, since a client of a modern one never sends any.
 */
export class LegacySide {
  readonly #core: ServerCore;
  readonly #way: Way;
  #session: Session | undefined;

  constructor(core: ServerCore, way: Way) {
    this.#core = core;
    this.#way = way;
  }

  /** Whether a client has opened the session. */
  get isOpen(): boolean {
    return this.#session !== undefined;
  }

  /** Characters that the session keeps of its client. */
  get keptSize(): number {
    return this.#session?.keptSize ?? 0;
  }

  /** Answers a request; `principal` is that of the request, where each brings its own credential. */
  answer(
    request: JsonRpcRequest,
    principal: Principal | undefined = this.#way.principal,
  ): Awaitable<Reply | undefined> {
    if (this.#session) return answerInSession(this.#session, request, { link: this.#way.link, principal });
    const { id, method } = request;
    if (method === Method.initialize) return this.#initialize(request);
    if (method === Method.ping) return { message: { jsonrpc: "2.0", id, result: {} }, status: 200 };
    const error = new ProtocolError(ErrorCode.InvalidRequest, `Send "initialize" before ${method.slice(0, 200)}.`);
    return replyToError(id, error, undefined);
  }

  notified(message: JsonRpcNotification): void {
    if (this.#session) notified(this.#session, message);
  }

  answered(response: JsonRpcResponse): void {
    this.#session?.answered(response);
  }

  /** Says why a batch of this many messages is not taken, if it is not. */
  refuseBatch(length: number): string | undefined {
    if (!this.#session?.revision.batches) {
      return "Batches are not part of this revision: send one message at a time.";
    }
    const { batch } = this.#core.limits;
    return length === 0 || length > batch ? `A batch holds 1 to ${batch} messages; got ${length}.` : undefined;
  }

  /** Fails the questions that wait, as when the client can send nothing more. */
  cannotBeAsked(cause: Error): void {
    this.#session?.cannotBeAsked(cause);
  }

  end(cause: Error): void {
    this.#session?.end(cause);
  }

  #initialize(request: JsonRpcRequest): Reply {
    const { reply, session } = initialize(this.#core, request, this.#way);
    this.#session = session;
    return reply;
  }
}
