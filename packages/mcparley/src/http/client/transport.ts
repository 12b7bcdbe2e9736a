import type { TransportFactory } from "../../client/connect/transports.ts";
import { LocalError, hasCode } from "../../rpc/errors.ts";
import {
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  encode,
  isObject,
  isRequest,
} from "../../rpc/messages.ts";
import type { Envelope, Receiver, Transport } from "../../rpc/transport.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import { isEventStream, discard, readJson, readRefusal, statusError } from "./response.ts";
import type * as Legacy from "./legacy.ts";
import type { LegacySession } from "./legacy-session.ts";
import {
  type PostedRequest,
  answersRequests,
  defaultReplyLimit,
  modernHeaders,
  modernVersionOf,
  withId,
} from "./posted.ts";
import { type Outgoing, sendHttp, transportClosed } from "./send.ts";
import { type HttpSettings, type HttpTarget, lowerCase, nameOf, readHttpTarget } from "./settings.ts";
import type { AnswerReader } from "./stream.ts";
import type { HttpReply } from "./reply.ts";

/** Loads the transports of legacy revisions. */
const loadLegacy = (): Promise<typeof Legacy> => import("./legacy.ts");

/** The statuses with which a server of HTTP+SSE may refuse a POST to the URL of its stream. */
const httpSseStatuses: ReadonlySet<number> = new Set([400, 404, 405]);

/** The notifications that do not wait for a free connection, because requests wait for them. Responses do not wait either. */
const urgentNotifications: ReadonlySet<string> = new Set([Notification.initialized, Notification.cancelled]);

/**
 * The client's Streamable HTTP transport for all revisions that have it. Each message is a POST.
 *
 * Modern messages have a version in their `_meta` and are independent of each other. Legacy messages belong to a session.
 */
class HttpTransport implements Transport {
  readonly network = "tcp";
  /** Whether `initialize` was refused as a server of HTTP+SSE refuses it (2025-11-25, transports). */
  mayBeHttpSse = false;
  readonly #settings: HttpSettings;
  /** The requests whose responses have not been read to their end. */
  readonly #posted = new Map<unknown, PostedRequest>();
  /** Aborted when the transport is closed. */
  readonly #lifetime = new AbortController();
  #receiver: Receiver | undefined;
  #readStream: Promise<AnswerReader> | undefined;
  /** Undefined until `initialize` was answered. */
  #session: LegacySession | undefined;
  /** The version of the last modern message, for messages that name none. */
  #modernVersion: string | undefined;
  /** Whether the client answers requests of the server. */
  #answersRequests = false;
  #closing: Promise<void> | undefined;

  constructor(settings: HttpSettings) {
    this.#settings = settings;
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  /**
   * Sends a message. A failure of a request is reported to the receiver. Otherwise the promise rejects.
   *
   * For a request the promise resolves when the response has been read to its end.
   */
  async send(message: JsonRpcMessage, envelope?: Envelope): Promise<void> {
    if (this.#closing) throw transportClosed();
    if (!isRequest(message)) return this.#postOneWay(message, envelope);
    const request = this.#begin(message, envelope);
    let response: HttpReply | undefined;
    try {
      if (this.#session?.initialization) await this.#session.initialization;
      const session = request.isModern || request.isInitialize ? undefined : this.#namedSession;
      const outgoing = this.#outgoing(message, envelope, request.controller.signal);
      outgoing.pause = () => this.#pause(request);
      outgoing.isUrgent = request.what === Method.listen;
      response = await sendHttp(this.#settings, outgoing);
      this.mayBeHttpSse = request.isInitialize && httpSseStatuses.has(response.status);
      await this.#read(response, request, session);
    } catch (error) {
      this.#fail(request, response ? "The response could not be read" : "The request could not be sent", error);
    } finally {
      this.#posted.delete(request.id);
    }
  }

  /** The session, if the server has assigned an id to it. */
  get #namedSession(): LegacySession | undefined {
    return this.#session?.hasId ? this.#session : undefined;
  }

  #begin(message: JsonRpcRequest, envelope: Envelope | undefined): PostedRequest {
    const { id, method } = message;
    const { createController, limits } = this.#settings;
    const request: PostedRequest = {
      id,
      what: method.slice(0, 200),
      isModern: modernVersionOf(message) !== undefined,
      isInitialize: method === Method.initialize,
      isHeld: false,
      isAnswered: false,
      limit: limits.message ?? envelope?.maxReply ?? defaultReplyLimit,
      controller: createController(),
    };
    this.#posted.set(id, request);
    return request;
  }

  turn(signal: AbortSignal | undefined): void | Promise<void> {
    return this.#settings.send.turn?.(this.#settings.url, signal);
  }

  needMessages(isNeeded: boolean): void {
    this.#session?.needMessages(isNeeded);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #outgoing(message: JsonRpcMessage, envelope: Envelope | undefined, signal: AbortSignal): Outgoing {
    const headers = this.#headersFor(message, envelope);
    headers.accept = "application/json, text/event-stream";
    headers["content-type"] = "application/json";
    return { method: "POST", headers, body: encode(message), signal };
  }

  /** Returns a new object, which the caller may change. */
  #headersFor(message: JsonRpcMessage, envelope: Envelope | undefined): Record<string, string> {
    const messageVersion = modernVersionOf(message);
    if (messageVersion !== undefined) this.#modernVersion = messageVersion;
    const version = messageVersion ?? (this.#session || isRequest(message) ? undefined : this.#modernVersion);
    if (version !== undefined) {
      const headers = modernHeaders(message, version);
      return envelope?.headers ? { ...lowerCase(envelope.headers), ...headers } : headers;
    }
    if (!isRequest(message) || message.method !== Method.initialize) return { ...this.#session?.headers };
    this.#answersRequests = answersRequests(message);
    return {};
  }

  /** Delivers the messages of a response. Throws if it leaves the request without an answer. */
  async #read(response: HttpReply, request: PostedRequest, session: LegacySession | undefined): Promise<void> {
    if (!response.ok) {
      const { clock } = this.#settings;
      for (const error of await readRefusal(response, request, { session, clock })) this.#deliver(error);
    } else {
      if (request.isInitialize) await this.#startSession(response);
      if (isEventStream(response)) {
        // Many servers answer with plain JSON only, so the reader of streams is not part of the start.
        this.#readStream ??= import("./stream.ts").then(({ answerReader }) =>
          answerReader(this.#settings, {
            message: (value) => this.#deliver(value),
            malformed: (error) => this.#receiver?.malformed(error),
            headers: () => this.#session?.headers ?? {},
            onLost: (cause) => this.#lose(cause),
          }),
        );
        return (await this.#readStream)(response, request);
      }
      this.#deliver(withId(await readJson(response, request.what, request.limit), request.id));
    }
    if (request.isAnswered) return;
    const message = `The reply to ${request.what} contains no response with the id ${JSON.stringify(request.id)}.`;
    throw new LocalError("invalid_message", message);
  }

  async #startSession(response: HttpReply): Promise<void> {
    // Modern revisions have no sessions.
    const { LegacySession } = await loadLegacy();
    const sink = {
      message: (value: unknown) => this.#deliver(value),
      malformed: (error: Error) => {
        if (!this.#closing) this.#receiver?.malformed(error);
      },
      onInterrupted: (cause: Error | undefined) => this.#receiver?.interrupted?.(cause),
      onLost: (cause: Error) => this.#lose(cause),
    };
    this.#session = new LegacySession(response, this.#settings, { lifetime: this.#lifetime.signal, sink });
    // The transport may have been closed since the response arrived.
    if (this.#closing) await this.#session.terminate();
  }

  #lose(cause: Error): void {
    if (this.#session) this.#session.isLost = true;
    if (!this.#closing) this.#receiver?.sessionLost?.(cause);
  }

  #deliver(value: unknown): void {
    if (this.#closing) return;
    if (isObject(value) && this.#unanswered(value.id)?.isInitialize) this.#session?.readRevision(value.result);
    if (this.#noteAnswer(value)) this.#session?.noteAnswer();
    this.#receiver?.message(value);
  }

  #unanswered(id: unknown): PostedRequest | undefined {
    const request = this.#posted.get(id);
    return request?.isAnswered ? undefined : request;
  }

  /** Notes the request that a received value answers. A batch answers one of them and may contain other messages. */
  #noteAnswer(value: unknown): boolean {
    if (Array.isArray(value)) return value.map((message) => this.#noteAnswer(message)).includes(true);
    const request = isObject(value) && !("method" in value) ? this.#unanswered(value.id) : undefined;
    if (!request) return false;
    request.isAnswered = true;
    return true;
  }

  /** Stops the timeouts of a request while its POST waits for authorization or for a connection. */
  #pause(request: PostedRequest): () => void {
    const resume = request.isAnswered ? undefined : this.#receiver?.waits?.(request.id);
    request.isHeld = true;
    return () => {
      request.isHeld = false;
      resume?.();
    };
  }

  #fail(request: PostedRequest, what: string, error: unknown): void {
    if (this.#closing || request.isAnswered) return;
    request.isAnswered = true;
    if (this.#session && hasCode(error, "session_lost")) this.#session.isLost = true;
    const reason = error instanceof Error ? error.message : String(error);
    const failure =
      error instanceof LocalError ? error : new LocalError("closed", `${what}: ${reason}`, { cause: error });
    this.#receiver?.failed?.(request.id, failure);
  }

  /** Sends a notification or a response, which get no response. */
  #postOneWay(message: JsonRpcMessage, envelope: Envelope | undefined): Promise<void> {
    const post = (): Promise<void> => this.#post(message, envelope);
    if ("method" in message) {
      if (message.method === Notification.cancelled) return this.#cancelRequest(message, envelope);
      const isInitialized = message.method === Notification.initialized;
      return isInitialized && this.#session ? this.#session.sendInitialized(post, this.#answersRequests) : post();
    }
    if (!this.#session) return post();
    return this.#session.sendResponse(message.id, post, {
      calls: [...this.#posted.values()],
      cancel: (cancellation) => this.#cancelRequest(cancellation, undefined),
      fail: (call, what, error) => this.#fail(call, what, error),
    });
  }

  async #post(message: JsonRpcMessage, envelope: Envelope | undefined): Promise<void> {
    const { signal } = this.#lifetime;
    try {
      if (this.#session?.initialization) await this.#session.initialization;
      const outgoing = this.#outgoing(message, envelope, signal);
      outgoing.isUrgent = !("method" in message) || urgentNotifications.has(message.method);
      const response = await sendHttp(this.#settings, outgoing);
      const what = "method" in message ? message.method : "a response";
      const session = this.#namedSession;
      if (response.ok) {
        if (!session) return discard(response);
        // Its body is not needed, so nothing waits for the end of it.
        void session.lossInReply(response, what).then((loss) => loss && this.#lose(loss));
        return;
      }
      throw await (session ? session.refusal(response, what) : statusError(response, what, this.#settings.clock));
    } catch (error) {
      // Nobody repeats a notification, so the loss is noted here.
      if (hasCode(error, "session_lost")) this.#lose(error);
      throw signal.aborted ? transportClosed() : error;
    }
  }

  /**
   * Cancels a request. In modern revisions the end of the stream is the cancellation. In legacy revisions a dropped stream
   * means nothing, so the notification is sent and the stream closed after it.
   */
  async #cancelRequest(message: JsonRpcNotification, envelope: Envelope | undefined): Promise<void> {
    const request = this.#unanswered(message.params?.requestId);
    try {
      const mustNotify = request ? !request.isModern && !request.isHeld : this.#session !== undefined;
      if (mustNotify) await this.#post(message, envelope);
    } finally {
      if (request) {
        request.isAnswered = true;
        request.controller.abort(new LocalError("aborted", "The request was cancelled."));
      }
    }
  }

  async #close(): Promise<void> {
    // `#closing` must be set before the lines below cause further calls.
    await Promise.resolve();
    this.#lifetime.abort(transportClosed());
    for (const { controller } of this.#posted.values()) controller.abort(transportClosed());
    await this.#session?.terminate();
    this.#receiver?.closed();
  }
}

/**
 * Makes transports to an MCP endpoint. They share one authorization.
 *
 * Throws `LocalError` `invalid_target` for a URL or a header that cannot be used.
 */
export function httpTransports(target: HttpTarget): TransportFactory {
  const settings = readHttpTarget(target);
  return {
    kind: "http",
    target: nameOf(settings.url),
    identity: JSON.stringify([settings.url, Object.entries(settings.headers).map(String).toSorted()]),
    extension: target.auth?.extension,
    credentials: settings.auth?.credentials,
    open: () => new HttpTransport(settings),
    async openOlder({ refused: refusedTransport, ...limits }) {
      if (refusedTransport && !(refusedTransport instanceof HttpTransport && refusedTransport.mayBeHttpSse))
        return undefined;
      const { openHttpSse } = await loadLegacy();
      return openHttpSse(settings, limits);
    },
  };
}
