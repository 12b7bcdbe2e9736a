import { type Awaitable, all } from "../../../rpc/awaitable.ts";
import { ErrorCode } from "../../../mcp/errors.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { type Classified, type JsonRpcMessage, classify, encode, failure, isRequest } from "../../../rpc/messages.ts";
import type { Reply } from "../../../server/dispatch/reply.ts";
import type { Link } from "../../../server/dispatch/call.ts";
import type { Principal } from "../../../server/dispatch/context.ts";
import type { ServerCore } from "../../../server/core.ts";
import { LegacyConnection } from "../../../server/protocol/legacy.ts";
import { encodeReply } from "../respond.ts";
import type { Sender } from "../endpoint-context.ts";
import type { EventStream } from "../event-stream.ts";
import type { OpenExchange } from "../open-exchanges.ts";
import { HttpRefusal } from "../refusal.ts";

type Heard = Exclude<Classified, { kind: "invalid" }>;
type Answering = Awaitable<Reply | undefined>;

interface SessionInit {
  /** The session id. A POST names the session only by this id, so it must not be guessable. */
  id: string;
  core: ServerCore;
  /** The sender of the request that opened the stream. */
  sender: Sender;
  events: EventStream;
  onEnd: () => void;
}

/** A session of the HTTP+SSE transport. The client posts messages, and the server sends all its messages on one stream. */
export class HttpSseSession implements Link, OpenExchange {
  due = 0;
  readonly id: string;
  readonly principal: Principal | undefined;
  readonly caller: string;
  readonly isBusy = true;
  countedSize = 0;
  wasUsed = false;
  lastUsed: number;
  readonly #core: ServerCore;
  readonly #events: EventStream;
  readonly #onEnd: () => void;
  readonly #legacy: LegacyConnection;
  #answering = 0;
  #state: "open" | "ending" | "ended" = "open";

  constructor({ id, core, sender, events, onEnd }: SessionInit) {
    this.id = id;
    const { principal, address, caller } = sender;
    this.principal = principal;
    this.caller = caller;
    this.lastUsed = core.clock.now();
    this.#core = core;
    this.#events = events;
    this.#onEnd = onEnd;
    this.#legacy = new LegacyConnection(core, { link: this, principal, address });
  }

  get network(): "tcp" {
    return "tcp";
  }

  get keptSize(): number {
    return this.#legacy.keptSize;
  }

  get isInitialized(): boolean {
    return this.#legacy.isOpen;
  }

  /** Processes a message or a batch at once. Throws a refusal of 400 for an invalid one. */
  receive(value: unknown, principal: Principal | undefined): void {
    if (Array.isArray(value)) return this.#receiveBatch(value, principal);
    const heard = this.#read(value);
    if (heard.kind !== "request") return this.#hear(heard);
    void this.#answerAll([this.#legacy.answer(heard.message, principal)]).then(([json]) => this.#say(json));
  }

  send(message: JsonRpcMessage): void {
    try {
      this.#events.send(encode(message));
    } catch (error) {
      this.#core.report(error, undefined);
      if (!isRequest(message)) return;
      this.#legacy.answered(failure(message.id, { code: ErrorCode.InternalError, message: "Internal error" }));
    }
  }

  beat(): void {
    this.#events.comment();
  }

  /** Ends the session when its requests in flight have been answered. */
  endStream(): void {
    if (this.#state === "open") this.#state = "ending";
    this.#endIfDone();
  }

  reset(cause: Error): void {
    this.#core.report(cause, undefined);
    this.end(cause);
  }

  /** Ends the session at once, and cancels its calls and its input requests. */
  end(cause: Error): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#legacy.end(cause);
    this.#events.end();
    this.#onEnd();
  }

  #receiveBatch(batch: readonly unknown[], principal: Principal | undefined): void {
    const refusal = this.#legacy.refuseBatch(batch.length);
    if (refusal !== undefined) throw new HttpRefusal(400, refusal);
    const all = batch.map((value) => this.#read(value));
    const answering: Answering[] = [];
    for (const heard of all) {
      if (heard.kind === "request") answering.push(this.#legacy.answer(heard.message, principal));
      else this.#hear(heard);
    }
    void this.#answerAll(answering).then((answers) =>
      this.#say(answers.length === 0 ? undefined : `[${answers.join(",")}]`),
    );
  }

  #read(value: unknown): Heard {
    return readable(classify(value, this.#core.limits.idLength));
  }

  #hear(heard: Heard): void {
    if (heard.kind === "notification") this.#legacy.notified(heard.message);
    else if (heard.kind === "response") this.#legacy.answered(heard.message);
  }

  /** Returns the replies as JSON. Requests that the client cancelled have no reply. */
  async #answerAll(answering: readonly Answering[]): Promise<string[]> {
    this.#answering++;
    const replies = await all(answering);
    return replies.flatMap((reply) => (reply ? [encodeReply(this.#core, reply.message)] : []));
  }

  #say(json: string | undefined): void {
    this.#answering--;
    if (json !== undefined && this.#state !== "ended") this.#events.send(json);
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
  if (!Array.isArray(value)) readable(classify(value));
}

function readable(heard: Classified): Heard {
  if (heard.kind !== "invalid") return heard;
  throw new HttpRefusal(400, `Invalid message: ${heard.reason}.`, { id: heard.id });
}
