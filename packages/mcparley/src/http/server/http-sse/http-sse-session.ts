import { type Awaitable, all } from "../../../rpc/awaitable.ts";
import { ErrorCode } from "../../../mcp/errors.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { readMessage } from "../../../mcp/read-message.ts";
import { type Classified, type JsonRpcMessage, encode, failure, isRequest } from "../../../rpc/messages.ts";
import type { Link, Reply } from "../../../server/core/call.ts";
import type { Principal } from "../../../server/core/context.ts";
import { LegacyConnection } from "../../../server/protocol/legacy.ts";
import { encodeReply } from "../respond.ts";
import type { EndpointContext, Sender } from "../endpoint-context.ts";
import type { EventStream } from "../event-stream.ts";
import type { OpenExchange } from "../open-exchanges.ts";
import type { TableEntry } from "../sessions/session-shares.ts";
import { HttpRefusal } from "../refusal.ts";

type Message = Exclude<Classified, { kind: "invalid" }>;

interface SessionInit {
  context: EndpointContext;
  /** The sender of the request that opened the stream. */
  sender: Sender;
  events: EventStream;
  /** Called when the session has ended. */
  onEnd: () => void;
}

/**
 * A session of the HTTP+SSE transport. The client posts messages, and the server sends all its messages on one stream.
 *
 * ```mermaid
 * stateDiagram-v2
 *   [*] --> open: the client opened the stream
 *   open --> ending: the endpoint drains (endStream)
 *   ending --> ended: no request is in flight
 *   open --> ended: the client disconnects, answers no pings (reset) or never sends initialize
 *   open --> ended: the session is displaced, or the endpoint closes (end)
 *   ending --> ended: closeTimeout is over (end)
 *   ended --> [*]
 * ```
 */
export class HttpSseSession implements Link, OpenExchange {
  due = 0;
  readonly caller: string;
  readonly startedAt: number;
  entry: TableEntry | undefined;
  lastUsed: number;
  readonly #init: SessionInit;
  readonly #legacy: LegacyConnection;
  /** Number of POSTs whose replies have not been sent. */
  #answering = 0;
  #state: "open" | "ending" | "ended" = "open";

  constructor(init: SessionInit) {
    const { core } = init.context;
    const { principal, address, caller } = init.sender;
    this.caller = caller;
    this.startedAt = core.clock.now();
    this.lastUsed = this.startedAt;
    this.#init = init;
    this.#legacy = new LegacyConnection(core, { link: this, principal, address });
  }

  get network(): "tcp" {
    return "tcp";
  }

  /** The caller who opened the stream. */
  get principal(): Principal | undefined {
    return this.#init.sender.principal;
  }

  get keptSize(): number {
    return this.#legacy.session?.keptSize ?? 0;
  }

  /** The stream of a session that is not initialized does not protect it from being displaced. */
  get isBusy(): boolean {
    return this.isInitialized;
  }

  get isInitialized(): boolean {
    return this.#legacy.session !== undefined;
  }

  /** Processes a message or a batch at once. Throws a refusal of 400 for an invalid one. */
  receive(value: unknown, principal: Principal | undefined): void {
    const isBatch = Array.isArray(value);
    const values: readonly unknown[] = isBatch ? value : [value];
    const problem = isBatch ? this.#legacy.refuseBatch(values.length) : undefined;
    if (problem !== undefined) throw new HttpRefusal(400, problem);
    const messages = values.map((one) => requireValid(readMessage(one, this.#init.context.core.limits.idLength)));
    const replies: Awaitable<Reply | undefined>[] = [];
    for (const { kind, message } of messages) {
      if (kind === "request") replies.push(this.#legacy.answer(message, principal));
      else if (kind === "notification") this.#legacy.session?.receiveNotification(message);
      else this.#legacy.session?.receiveResponse(message);
    }
    if (replies.length > 0) void this.#sendReplies(replies, isBatch);
  }

  send(message: JsonRpcMessage): void {
    try {
      this.#init.events.send(encode(message));
    } catch (error) {
      this.#init.context.core.report(error, undefined);
      if (!isRequest(message)) return;
      const body = { code: ErrorCode.InternalError, message: "Internal error" };
      this.#legacy.session?.receiveResponse(failure(message.id, body));
    }
  }

  onInterval(): void {
    this.#init.events.comment();
  }

  /** Ends the session when its requests in flight have been answered. */
  endStream(): void {
    if (this.#state === "open") this.#state = "ending";
    this.#endIfDone();
  }

  reset(cause: Error): void {
    this.#init.context.core.report(cause, undefined);
    this.end(cause);
  }

  /** Ends the session at once, and cancels its calls and its input requests. */
  end(cause: Error): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#legacy.session?.end(cause);
    this.#init.events.end();
    this.#init.onEnd();
  }

  /** Sends the replies to one POST together. A request that the client cancelled has no reply. */
  async #sendReplies(pending: readonly Awaitable<Reply | undefined>[], isBatch: boolean): Promise<void> {
    this.#answering++;
    const replies = await all(pending);
    const replyTexts = replies.flatMap((reply) => (reply ? [encodeReply(this.#init.context, reply.message)] : []));
    this.#answering--;
    if (replyTexts.length > 0 && this.#state !== "ended") {
      this.#init.events.send(isBatch ? `[${replyTexts.join(",")}]` : replyTexts.join(""));
    }
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#state === "ending" && this.#answering === 0) {
      this.end(new LocalError("closed", "The server is shutting down."));
    }
  }
}

/** Throws a refusal of 400 for an invalid message. Batches are not checked here, because their session checks them. */
export function checkPosted(value: unknown): void {
  if (!Array.isArray(value)) requireValid(readMessage(value));
}

function requireValid(message: Classified): Message {
  if (message.kind !== "invalid") return message;
  throw new HttpRefusal(400, `Invalid message: ${message.reason}.`, { id: message.id });
}
