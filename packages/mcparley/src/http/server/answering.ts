import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import { LocalError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import {
  type JsonRpcMessage,
  type JsonRpcResponse,
  type RequestId,
  beginningOf,
  encode,
  failure,
  isRequest,
} from "../../rpc/messages.ts";
import type { Reply } from "../../server/dispatch/answer.ts";
import type { Call, Link } from "../../server/dispatch/call.ts";
import type { Principal } from "../../server/dispatch/context.ts";
import type { Origin } from "../../server/protocol/modern.ts";
import type { Session } from "../../server/protocol/session.ts";
import type { Accepted } from "../accept.ts";
import type { EndpointContext, Posted } from "./endpoint-context.ts";
import { encodeReply, preparedEnd } from "./encode-reply.ts";
import { EventStream, type Events, asEvent, eventHeaders } from "./event-stream.ts";
import type { Exchange } from "../exchange.ts";
import type { OpenExchange } from "./open-exchanges.ts";
import { headersOf } from "./reply-headers.ts";

/** A stream that an answer becomes instead of a plain one. */
export interface AnswerStream {
  /** Called once, when there is an answer to be made. */
  opened(answer: OpenExchange): void;
  /** Called when the answer becomes a stream. */
  begin(exchange: Exchange): Events;
  /** Called when the answer is made, or nobody reads it on this exchange any more. */
  closed(): void;
}

/** What a request and its answer belong to. */
export interface Belonging {
  /** The legacy session that the request belongs to. */
  session?: Session;
  stream?: AnswerStream | undefined;
}

const toNone: Belonging = {};

/**
 * The answer to one POST while it is being made.
 *
 * It is JSON with the status of its outcome, unless there is something to say before the outcome is known, or time
 * passes: then it is a stream of events, of status 200 whatever the outcome. It is the link of its request, since what
 * is said about a request goes where its answer goes.
 */
export class Answering implements Link, Origin, OpenExchange {
  due = 0;
  readonly principal: Principal | undefined;
  readonly address: string | undefined;
  readonly #context: EndpointContext;
  protected readonly exchange: Exchange;
  protected readonly accepted: Accepted;
  readonly #belonging: Belonging;
  protected events: Events | undefined;
  #call: Call | undefined;
  #gone = false;

  constructor(
    context: EndpointContext,
    { exchange, principal, address, accepted }: Posted,
    belonging: Belonging = toNone,
  ) {
    this.#context = context;
    this.exchange = exchange;
    this.accepted = accepted;
    this.#belonging = belonging;
    this.principal = principal;
    this.address = address;
  }

  get network(): "tcp" {
    return "tcp";
  }

  get link(): Link {
    return this;
  }

  opened(call: Call): void {
    this.#call = call;
    if (this.#gone || this.exchange.closed) this.#onGone();
  }

  /** Ends the answer with a reply, once there is one. */
  settle(reply: Awaitable<Reply | undefined>): Awaitable<void> {
    if (!isPromise(reply)) return this.finish(reply);
    this.wait();
    return reply.then((ready) => this.finish(ready));
  }

  /** Notices from now on if the client goes away, and gives signs of life: to be called where there is no reply yet. */
  wait(): void {
    const { stream } = this.#belonging;
    this.#context.open.add(this);
    stream?.opened(this);
    this.exchange.onGone(() => this.#onGone());
    // A stream that a client can come back to is worth having before there is anything on it.
    if (stream && !this.accepted.json) this.#startEvents();
  }

  send(message: JsonRpcMessage): void {
    if (!this.accepted.events) {
      this.#cannotSend(message, "The client accepts no event stream. It has to send Accept: text/event-stream.");
      return;
    }
    try {
      const json = encode(message);
      this.#startEvents().send(json);
    } catch (error) {
      this.#context.core.report(error, undefined);
      this.#cannotSend(message, "Internal error");
    }
  }

  beat(): void {
    if (this.accepted.events) this.#startEvents().comment();
  }

  endStream(): void {
    this.#call?.end?.();
  }

  /** Ends the answer. Without a reply the client gave the request up, and nothing may be said about it. */
  finish(reply: Reply | undefined): void {
    this.close();
    if (this.events) {
      if (reply) this.events.send(this.encoded(reply.message));
      this.events.end();
    } else if (!reply || !this.accepted.json) {
      // A stream that says nothing before its end is not worth coming back to: it is sent whole.
      this.exchange.respond(200, eventHeaders, reply ? asEvent(this.encoded(reply.message)) : "");
    } else {
      this.#finishAsJson(reply);
    }
  }

  #finishAsJson(reply: Reply): void {
    const { message, status } = reply;
    const headers = headersOf(reply, this.#context.auth, this.exchange);
    const prepared = preparedEnd(message);
    if (prepared) this.exchange.respond(status, headers, beginningOf(message.id as RequestId), prepared);
    else this.exchange.respond(status, headers, this.encoded(message));
  }

  protected encoded(message: JsonRpcResponse): string {
    return encodeReply(this.#context.core, message);
  }

  #startEvents(): Events {
    return (this.events ??= this.#makeEvents(this.#gone ? undefined : this.#belonging.stream));
  }

  #makeEvents(stream: AnswerStream | undefined): Events {
    return stream ? stream.begin(this.exchange) : new EventStream(this.exchange);
  }

  protected close(): void {
    this.#context.open.remove(this);
    this.#belonging.stream?.closed();
  }

  /** Whether a client that went away meant to cancel is for its revision to say. */
  #onGone(): void {
    this.#gone = true;
    this.close();
    if (this.#call?.revision.dropCancels) {
      this.#call.cancel(new LocalError("aborted", "The client closed the stream of its request."));
    }
  }

  /** Drops what cannot be sent; a question fails, since nobody will answer it. */
  #cannotSend(unsent: JsonRpcMessage, why: string): void {
    if (!isRequest(unsent)) return;
    const message = `${unsent.method} could not be asked: ${why}`;
    this.#belonging.session?.answered(failure(unsent.id, { code: ErrorCode.InvalidRequest, message }));
  }
}
