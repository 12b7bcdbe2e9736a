import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import type { Bytes } from "../../rpc/base64.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { LocalError } from "../../rpc/errors.ts";
import {
  type JsonRpcMessage,
  type JsonRpcResponse,
  Prepared,
  beginningOf,
  encode,
  failure,
  isFailure,
  isObject,
  isRequest,
} from "../../rpc/messages.ts";
import type { Call, Link, Reply } from "../../server/core/call.ts";
import type { Session } from "../../server/protocol/session.ts";
import type { Accepted } from "./read-request.ts";
import type { HttpExchange, HttpRequestHead, ResponseBody, ResponseHeaders } from "../exchange.ts";
import { checkedBy } from "./auth-list.ts";
import type { EndpointContext, Posted } from "./endpoint-context.ts";
import { EventStream, type Events, asEvent, eventHeaders } from "./event-stream.ts";
import type { OpenExchange } from "./open-exchanges.ts";
import { jsonHeaders } from "./refusal.ts";
import type { HttpServerAuth } from "./options.ts";

/** The resumable stream of a session that a response becomes if it cannot be JSON. */
export interface ReplyStream {
  /** Called once, when the response has to wait for its reply. */
  onOpen(response: OpenExchange): void;
  /** Called when the response becomes a stream. */
  begin(exchange: HttpExchange): Events;
  /** Called when the response is complete, or the client has disconnected. */
  onClose(): void;
}

/** The legacy session of a request, and the stream that its response may become. */
interface LegacyResponseOptions {
  session?: Session;
  stream?: ReplyStream | undefined;
}

const noOptions: LegacyResponseOptions = {};

/**
 * The response to one POST. Messages about a request are sent on the response to it, so the response is the request's link.
 *
 * ```mermaid
 * stateDiagram-v2
 *   [*] --> complete: the reply is known at once (settle), and is sent as JSON with its own status
 *   [*] --> waiting: the reply is a promise (wait)
 *   waiting --> complete: the reply, as JSON (finish)
 *   waiting --> streaming: a message precedes the reply (send), or the keep-alive interval is over (onInterval)
 *   streaming --> complete: the reply, as the last event with status 200 (finish)
 *   waiting --> gone: the client disconnects
 *   streaming --> gone: the client disconnects
 *   gone --> complete: the reply of a legacy call, which continues and whose resumable stream stores the reply (finish)
 * ```
 *
 * A client that does not accept JSON gets the reply as an event in each case. A modern call is cancelled in `gone`.
 */
export class PostResponse implements Link, OpenExchange {
  due = 0;
  readonly network = "tcp";
  readonly #context: EndpointContext;
  protected readonly exchange: HttpExchange;
  protected readonly acceptedTypes: Accepted;
  readonly #options: LegacyResponseOptions;
  protected events: Events | undefined;
  #call: Call | undefined;
  #isGone = false;

  constructor(
    context: EndpointContext,
    { exchange, acceptedTypes }: Posted,
    options: LegacyResponseOptions = noOptions,
  ) {
    this.#context = context;
    this.exchange = exchange;
    this.acceptedTypes = acceptedTypes;
    this.#options = options;
  }

  /** Sets the modern call that is answered. It is cancelled if the client disconnects, or has done so already. */
  begin(call: Call): void {
    this.#call = call;
    if (this.#isGone || this.exchange.closed) this.#onGone();
  }

  /** Sends the reply at once, or when its promise resolves. */
  settle(reply: Awaitable<Reply | undefined>): Awaitable<void> {
    if (!isPromise(reply)) return this.finish(reply);
    this.wait();
    return reply.then((ready) => this.finish(ready));
  }

  /** Starts to send keep-alives, and to detect that the client disconnects. Called if the reply is not known yet. */
  wait(): void {
    const { stream } = this.#options;
    this.#context.open.add(this);
    stream?.onOpen(this);
    this.exchange.onGone(() => this.#onGone());
    // A client can resume the stream even if nothing has been sent on it.
    if (stream && !this.acceptedTypes.json) this.#startEvents();
  }

  send(message: JsonRpcMessage): void {
    if (!this.acceptedTypes.events) {
      this.#cannotSend(message, "The client accepts no event stream. It must send Accept: text/event-stream.");
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

  waitUntil(work: Promise<unknown>): void {
    this.exchange.waitUntil?.(work);
  }

  onInterval(): void {
    if (this.acceptedTypes.events) this.#startEvents().comment();
  }

  endStream(): void {
    this.#call?.end?.();
  }

  /** Completes the response. `reply` is undefined if the client cancelled the request: then the response is empty. */
  finish(reply: Reply | undefined): void {
    this.close();
    if (this.events) {
      if (reply) this.events.send(this.encodeMessage(reply.message));
      this.events.end();
    } else if (!reply || !this.acceptedTypes.json) {
      // Nothing was sent before the reply, so there is nothing to resume.
      this.exchange.respond(200, eventHeaders, reply ? asEvent(this.encodeMessage(reply.message)) : "");
    } else {
      const { message, status } = reply;
      const headers = headersOf(reply, this.#context.auths, this.exchange);
      this.exchange.respond(
        status,
        headers,
        preparedBody(message) ?? this.#context.encodeLarge?.(message) ?? this.encodeMessage(message),
      );
    }
  }

  protected encodeMessage(message: JsonRpcResponse): string {
    return encodeReply(this.#context, message);
  }

  #startEvents(): Events {
    if (this.events) return this.events;
    const stream = this.#isGone ? undefined : this.#options.stream;
    return (this.events = stream ? stream.begin(this.exchange) : new EventStream(this.exchange));
  }

  protected close(): void {
    this.#context.open.remove(this);
    this.#options.stream?.onClose();
  }

  /** A modern call is cancelled, because a client of a modern revision cancels its request by closing the stream. */
  #onGone(): void {
    this.#isGone = true;
    this.close();
    if (this.#call?.revision.dropCancels) {
      this.#call.cancel(new LocalError("aborted", "The client closed the stream."));
    }
  }

  /** Drops a message that cannot be sent. An input request fails, because the client will not answer it. */
  #cannotSend(unsent: JsonRpcMessage, why: string): void {
    if (!isRequest(unsent)) return;
    const message = `${unsent.method} could not be sent: ${why}`;
    this.#options.session?.receiveResponse(failure(unsent.id, { code: ErrorCode.InvalidRequest, message }));
  }
}

/** The part of an endpoint's state that encodes its responses. */
type Encoding = Pick<EndpointContext, "core" | "encodeLarge">;

/** Encodes a response. A result that is not JSON is a defect of its handler: it is reported, and the client gets -32603. */
export function encodeReply({ core, encodeLarge }: Encoding, message: JsonRpcResponse): string {
  try {
    // `join` would copy the pieces.
    return encodeLarge?.(message)?.reduce((text, piece) => text + piece) ?? encode(message);
  } catch (error) {
    core.report(error, undefined);
    return encode(failure(message.id, { code: ErrorCode.InternalError, message: "Internal error" }));
  }
}

/**
 * Prepared results with more characters are sent as bytes. Concatenating them with the rest of the response would copy them
 * three times.
 */
const longText = 2_048;

/** The bytes of a response from its result on. */
const ends = new WeakMap<Prepared, Bytes>();

/** Returns the body of a response whose result was prepared and is long. The bytes from the result on are encoded once. */
function preparedBody(message: JsonRpcResponse): ResponseBody | undefined {
  if (!("result" in message) || !(message.result instanceof Prepared)) return undefined;
  const { id, result } = message;
  if (result.json.length <= longText) return undefined;
  let bytes = ends.get(result);
  if (!bytes) ends.set(result, (bytes = new TextEncoder().encode(`${result.json}}`)));
  return [beginningOf(id), bytes];
}

/** Returns the headers of a JSON response. Statuses 403, 429 and 503 need more than the content type. */
function headersOf(reply: Reply, auths: readonly HttpServerAuth[], request: HttpRequestHead): ResponseHeaders {
  if (reply.status === 200) return jsonHeaders;
  if (reply.scopes) {
    // The scopes that the client must request (RFC 6750 section 3; 2025-11-25, authorization, "Scope Challenge").
    const scope = reply.scopes.join(" ").replace(/["\\]/g, "\\$&");
    const auth = checkedBy.get(request) ?? auths.find((one) => "challenge" in one);
    const challenge = auth?.challenge?.(reply.scopes, request) ?? `Bearer error="insufficient_scope", scope="${scope}"`;
    return { ...jsonHeaders, "www-authenticate": challenge };
  }
  if (reply.status !== 429 && reply.status !== 503) return jsonHeaders;
  const data = isFailure(reply.message) ? reply.message.error.data : undefined;
  const seconds = isObject(data) && typeof data.retryAfter === "number" ? data.retryAfter : 1;
  return { ...jsonHeaders, "retry-after": String(Math.ceil(seconds)) };
}
