import type { EventSourceMessage } from "eventsource-parser";
import { abortedError, routineEnd } from "../../rpc/abort.ts";
import { LocalError, isTransient } from "../../rpc/errors.ts";
import { type JsonRpcMessage, type RequestId, encode, isObject, isRequest } from "../../rpc/messages.ts";
import type { Envelope, Receiver, Transport } from "../../rpc/transport.ts";
import { Notification } from "../../mcp/methods.ts";
import { isEventStream, asksForAuthorization, discard, sessionLost, statusError } from "./response.ts";
import { defaultReplyLimit } from "./posted.ts";
import { sendHttp, transportClosed } from "./send.ts";
import { type HttpSettings, nameOf } from "./settings.ts";
import { type MessageSink, deliverEvent, readEvents } from "./sse.ts";
import type { HttpReply, ReplyBody } from "./reply.ts";
import { sendUntilAccepted, untilAccepted } from "./until-accepted.ts";

/** Milliseconds for the server to open its stream and to name its endpoint. */
const ENDPOINT_MS = 10_000;
/** The name of a response in error messages. */
const answerName = "a response";

/**
 * Opens the transport of 2024-11-05 at a URL (2026-07-28, Streamable HTTP, "Backward Compatibility"). Returns undefined if
 * the server does not have it: it opens no stream, or the first event is not `endpoint`, or does not arrive in time.
 *
 * Throws `LocalError` `http` if the endpoint has another origin or the server is busy, `unreachable` or `closed` if the
 * connection fails, `unauthorized` if the server asks for a sign-in, errors of the authorization, and `aborted` if the
 * signal is aborted.
 */
export async function openHttpSse(
  settings: HttpSettings,
  signal: AbortSignal | undefined,
): Promise<Transport | undefined> {
  const { clock } = settings;
  const lifetime = new AbortController();
  const abort = (): void => lifetime.abort(routineEnd);
  signal?.addEventListener("abort", abort);
  let timer = clock.setTimeout(abort, ENDPOINT_MS);
  const pause = (): (() => void) => {
    clock.clearTimeout(timer);
    return () => (timer = clock.setTimeout(abort, ENDPOINT_MS));
  };
  let transport: Transport | undefined;
  try {
    if (signal?.aborted) abort();
    const stream = await getEvents(settings, lifetime, pause);
    const first = await stream?.first;
    if (stream?.failure && !lifetime.signal.aborted) throw stream.failure;
    if (stream && first?.event === "endpoint") {
      transport = new HttpSseTransport(settings, stream, readEndpoint(first.data, settings.url));
    }
    return transport;
  } finally {
    clock.clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    if (!transport) lifetime.abort(routineEnd);
    // oxlint-disable-next-line no-unsafe-finally -- the abort of the caller has precedence over other errors
    if (signal?.aborted) throw abortedError("Connecting", signal);
  }
}

/** Sends the GET for the stream. Returns undefined if the response is no event stream. */
async function getEvents(
  settings: HttpSettings,
  lifetime: AbortController,
  pause: () => () => void,
): Promise<EventStream | undefined> {
  const { signal } = lifetime;
  let response: HttpReply;
  try {
    response = await sendHttp(settings, { method: "GET", headers: { accept: "text/event-stream" }, signal, pause });
  } catch (error) {
    // After a redirect the server does not have this transport. Errors of the network and of the authorization leave it open.
    if (error instanceof LocalError && !/^(http|aborted)$/.test(error.code)) throw error;
    return undefined;
  }
  if (asksForAuthorization(response) || isTransient(response.status))
    throw await statusError(response, "GET for a stream", settings.clock);
  if (response.ok && isEventStream(response) && response.body) {
    return new EventStream(response.body, settings, lifetime);
  }
  discard(response);
  return undefined;
}

/**
 * Reads the URL for messages. It must have the origin of the target: another origin would receive the messages and the
 * headers that authorize them.
 */
function readEndpoint(data: string, url: URL): URL {
  const endpoint = URL.canParse(data, url.href) ? new URL(data, url) : undefined;
  if (endpoint?.origin === url.origin && endpoint.username === "" && endpoint.password === "") return endpoint;
  const to = endpoint ? nameOf(endpoint) : "an invalid URL";
  const message = `${nameOf(url)} names ${to} as the endpoint for messages. Messages are only sent to the origin of the target.`;
  throw new LocalError("http", message);
}

interface StreamReader {
  deliver: (data: string) => void;
  ended: (cause: Error | undefined) => void;
}

/** An event stream whose first event is read before the reader of the other events exists. */
class EventStream {
  /** Settles with the first event, or with undefined if the stream ends before it. */
  readonly first: Promise<EventSourceMessage | undefined>;
  readonly #lifetime: AbortController;
  /** The maximum size of replies that may be larger than other events, by the ids of their requests. */
  readonly #larger = new Map<unknown, number>();
  #settleFirst: ((event: EventSourceMessage | undefined) => void) | undefined;
  #reader: StreamReader | undefined;
  /** The data of events that arrived before `read` was called. */
  #early: string[] = [];
  #ended: { cause: Error | undefined } | undefined;

  /** Aborting `lifetime` ends the request whose body this is. */
  constructor(body: ReplyBody, settings: HttpSettings, lifetime: AbortController) {
    this.#lifetime = lifetime;
    const limit = (): number => settings.limits.message ?? Math.max(defaultReplyLimit, ...this.#larger.values());
    this.first = new Promise((resolve) => {
      this.#settleFirst = resolve;
    });
    readEvents(body, limit, { event: (event) => this.#accept(event), retry: () => {} }).then(
      () => this.#finish(undefined),
      (error: Error) => this.#finish(error),
    );
  }

  /** Begins to deliver the data of messages. `ended` is called once. */
  read(reader: StreamReader): void {
    this.#reader = reader;
    for (const data of this.#early) reader.deliver(data);
    this.#early = [];
    if (this.#ended) reader.ended(this.#ended.cause);
  }

  /** The error of a stream that broke before its first event. */
  get failure(): LocalError | undefined {
    const cause = this.#settleFirst && this.#ended?.cause;
    if (!cause || cause instanceof LocalError) return cause;
    return new LocalError("closed", `The stream of the server was interrupted: ${cause.message}`, { cause });
  }

  /**
   * Accepts larger events until the reply to a request has arrived, also if the request is cancelled: a reply over the limit
   * ends the stream, and with it the session.
   */
  expectReply(id: RequestId, limit: number): void {
    this.#larger.set(id, limit);
  }

  arrived(value: unknown): void {
    if (this.#larger.size > 0 && isObject(value) && !("method" in value)) this.#larger.delete(value.id);
  }

  close(): void {
    this.#lifetime.abort(routineEnd);
  }

  #accept(event: EventSourceMessage): void {
    if (this.#settleFirst) {
      this.#settleFirst(event);
      this.#settleFirst = undefined;
    } else if (event.data !== "" && (event.event === undefined || event.event === "message")) {
      if (this.#reader) this.#reader.deliver(event.data);
      else this.#early.push(event.data);
    }
  }

  #finish(cause: Error | undefined): void {
    this.#settleFirst?.(undefined);
    this.#ended = { cause };
    this.#reader?.ended(cause);
  }
}

/**
 * The client's HTTP+SSE transport (2024-11-05, basic/transports). One stream carries all messages of the server. Each
 * message to the server is a POST, which the server only acknowledges. The session ends with the stream.
 */
class HttpSseTransport implements Transport {
  readonly network = "tcp";
  readonly #settings: HttpSettings;
  readonly #stream: EventStream;
  /** The URL for POST requests. */
  readonly #endpoint: URL;
  /** Aborted when the transport is closed. */
  readonly #lifetime = new AbortController();
  #receiver: Receiver | undefined;
  /** Settles when the server has accepted `notifications/initialized`. Later messages wait for it. */
  #initialized: Promise<void> | undefined;

  constructor(settings: HttpSettings, stream: EventStream, endpoint: URL) {
    this.#settings = settings;
    this.#stream = stream;
    this.#endpoint = endpoint;
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    const sink: MessageSink = {
      message: (value) => {
        this.#stream.arrived(value);
        receiver.message(value);
      },
      malformed: (error) => receiver.malformed(error),
    };
    this.#stream.read({
      deliver: (data) => {
        if (!this.#lifetime.signal.aborted) deliverEvent(data, sink);
      },
      ended: (cause) => this.#finish(cause ?? new LocalError("closed", "The server ended its stream.")),
    });
  }

  send(message: JsonRpcMessage, envelope?: Envelope): void | Promise<void> {
    const what = "method" in message ? message.method : answerName;
    const id = isRequest(message) ? message.id : undefined;
    if (id !== undefined && envelope?.maxReply) this.#stream.expectReply(id, envelope.maxReply);
    const pause = (): (() => void) => (id !== undefined && this.#receiver?.waits?.(id)) || (() => {});
    const body = encode(message);
    // If a response is lost, the server waits without end.
    const isRepeated = what === Notification.initialized || what === answerName;
    const posting = isRepeated
      ? sendUntilAccepted(() => this.#post(body, what, pause), this.#settings.clock, this.#lifetime.signal)
      : this.#post(body, what, pause);
    if (what === Notification.initialized) {
      this.#initialized = untilAccepted(posting, this.#settings.clock).then(() => {
        this.#initialized = undefined;
      });
    }
    if (id === undefined) return posting;
    posting.catch((error: Error) => this.#receiver?.failed?.(id, error));
  }

  close(): Promise<void> {
    this.#finish(undefined);
    return Promise.resolve();
  }

  async #post(body: string, what: string, pause: () => () => void): Promise<void> {
    await this.#initialized;
    const { signal } = this.#lifetime;
    if (signal.aborted) throw transportClosed();
    const headers = { "content-type": "application/json" };
    let response: HttpReply;
    try {
      const outgoing = { method: "POST", url: this.#endpoint, headers, body, signal, pause } as const;
      response = await sendHttp(this.#settings, outgoing);
    } catch (error) {
      throw signal.aborted ? transportClosed() : error;
    }
    if (response.ok) return discard(response);
    if (response.status !== 404) throw await statusError(response, what, this.#settings.clock);
    discard(response);
    const lost = sessionLost(what);
    // Calls wait for the answer, and the server may have run them. They end as if the connection was lost.
    if (what === answerName) this.#finish(new LocalError("closed", lost.message, { cause: lost }));
    throw lost;
  }

  #finish(cause: Error | undefined): void {
    if (this.#lifetime.signal.aborted) return;
    this.#lifetime.abort(transportClosed());
    this.#stream.close();
    this.#receiver?.closed(cause);
  }
}
