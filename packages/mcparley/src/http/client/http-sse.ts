import type { EventSourceMessage } from "eventsource-parser";
import { abortedError, routineEnd } from "../../rpc/abort.ts";
import { LocalError, hasCode, isTransient } from "../../rpc/errors.ts";
import { type JsonRpcMessage, encode, isObject, isRequest } from "../../rpc/messages.ts";
import type { Envelope, Receiver, Transport } from "../../rpc/transport.ts";
import { Notification } from "../../mcp/methods.ts";
import { isEventStream, asksForAuthorization, discard, statusError } from "./response.ts";
import { refusalInSession } from "./lost-session.ts";
import { defaultReplyLimit } from "./posted.ts";
import { sendHttp, transportClosed } from "./send.ts";
import { type HttpSettings, nameOf } from "./settings.ts";
import { deliverEvent, readEvents } from "./sse.ts";
import type { HttpReply, ReplyBody } from "./reply.ts";
import { isUnavailable, sendUntilAccepted, untilAccepted } from "./until-accepted.ts";

/** Maximum milliseconds for the server to open its stream and to name its endpoint. */
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
  { signal, ms }: { signal: AbortSignal | undefined; ms: number },
): Promise<Transport | undefined> {
  const { clock } = settings;
  const limit = Math.min(ENDPOINT_MS, ms);
  const lifetime = new AbortController();
  const abort = (): void => lifetime.abort(routineEnd);
  signal?.addEventListener("abort", abort);
  let timer = clock.setTimeout(abort, limit);
  const pause = (): (() => void) => {
    clock.clearTimeout(timer);
    return () => (timer = clock.setTimeout(abort, limit));
  };
  let isOpen = false;
  try {
    if (signal?.aborted) abort();
    const body = await getEvents(settings, lifetime.signal, pause);
    if (!body) return undefined;
    const transport = new HttpSseTransport(settings, body, lifetime);
    isOpen = (await transport.endpoint) !== undefined;
    return isOpen ? transport : undefined;
  } finally {
    clock.clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    if (!isOpen) lifetime.abort(routineEnd);
    // oxlint-disable-next-line no-unsafe-finally -- the abort of the caller has precedence over other errors
    if (signal?.aborted) throw abortedError("Connecting", signal);
  }
}

/** Sends the GET for the stream and returns its body. Returns undefined if the response is no event stream. */
async function getEvents(
  settings: HttpSettings,
  signal: AbortSignal,
  pause: () => () => void,
): Promise<ReplyBody | undefined> {
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
  if (response.ok && isEventStream(response) && response.body) return response.body;
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
  const name = endpoint ? nameOf(endpoint) : "an invalid URL";
  const message = `${nameOf(url)} names ${name} as the endpoint for messages. Messages are only sent to the origin of the target.`;
  throw new LocalError("http", message);
}

/**
 * The client's HTTP+SSE transport (2024-11-05, basic/transports). One stream carries all messages of the server. Each
 * message to the server is a POST, which the server only acknowledges. The session ends with the stream.
 */
class HttpSseTransport implements Transport {
  readonly network = "tcp";
  /**
   * Resolves with the URL for POST requests, which the first event of the stream names. Resolves with undefined if the first
   * event is another one. Rejects if the stream breaks before it.
   */
  readonly endpoint: Promise<URL | undefined>;
  readonly #settings: HttpSettings;
  /** Aborted when the transport is closed. It ends the stream and the POST requests. */
  readonly #lifetime: AbortController;
  /** The maximum size of replies that may be larger than other events, by the ids of their requests. */
  readonly #larger = new Map<unknown, number>();
  #receiver: Receiver | undefined;
  /** The events that arrived before `start` was called, and the end of the stream. */
  #early: ((receiver: Receiver) => void)[] = [];
  /** Settles when the server has accepted `notifications/initialized`. Later messages wait for it. */
  #initialized: Promise<void> | undefined;

  constructor(settings: HttpSettings, body: ReplyBody, lifetime: AbortController) {
    this.#settings = settings;
    this.#lifetime = lifetime;
    const first = new Promise<EventSourceMessage | undefined>((resolve, reject) => {
      let isFirst = true;
      const event = (message: EventSourceMessage): void => {
        if (isFirst) resolve(message);
        else this.#accept(message);
        isFirst = false;
      };
      const limit = (): number => settings.limits.message ?? Math.max(defaultReplyLimit, ...this.#larger.values());
      readEvents(body, limit, { event, retry: () => {} }).then(
        () => {
          resolve(undefined);
          this.#whenStarted(() => this.#finish(new LocalError("closed", "The server ended its stream.")));
        },
        (error: Error) => {
          if (lifetime.signal.aborted) resolve(undefined);
          else reject(interruptedStream(error));
          this.#whenStarted(() => this.#finish(error));
        },
      );
    });
    this.endpoint = first.then((event) =>
      event?.event === "endpoint" ? readEndpoint(event.data, settings.url) : undefined,
    );
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    for (const action of this.#early.splice(0)) action(receiver);
  }

  send(message: JsonRpcMessage, envelope?: Envelope): void | Promise<void> {
    const what = "method" in message ? message.method : answerName;
    const id = isRequest(message) ? message.id : undefined;
    // Until the reply has arrived, also if the request is cancelled: a reply over the limit ends the stream and the session.
    if (id !== undefined && envelope?.maxReply) this.#larger.set(id, envelope.maxReply);
    const pause = (): (() => void) => (id !== undefined && this.#receiver?.waits?.(id)) || (() => {});
    const body = encode(message);
    // If a response is lost, the server waits without end.
    const isRepeated = what === Notification.initialized || what === answerName;
    const posting = isRepeated
      ? sendUntilAccepted(() => this.#post(body, what, pause), {
          clock: this.#settings.clock,
          signal: this.#lifetime.signal,
          isNeeded: () => what === answerName,
        })
      : this.#post(body, what, pause);
    if (what === Notification.initialized) {
      this.#initialized = untilAccepted(posting, this.#settings.clock).then(() => {
        this.#initialized = undefined;
      });
    }
    if (id === undefined) return posting.catch((error: Error) => this.#failOneWay(error, what));
    posting.catch((error: Error) => this.#receiver?.failed?.(id, error));
  }

  close(): Promise<void> {
    this.#finish(undefined);
    return Promise.resolve();
  }

  async #post(body: string, what: string, pause: () => () => void): Promise<void> {
    await this.#initialized;
    const url = await this.endpoint;
    const { signal } = this.#lifetime;
    if (!url || signal.aborted) throw transportClosed();
    const headers = { "content-type": "application/json" };
    let response: HttpReply;
    try {
      const outgoing = { method: "POST", url, headers, body, signal, pause } as const;
      response = await sendHttp(this.#settings, outgoing);
    } catch (error) {
      throw signal.aborted ? transportClosed() : error;
    }
    if (response.ok) return discard(response);
    throw await refusalInSession(response, what, this.#settings.clock);
  }

  /** Ends the session if it was lost, because nobody repeats a notification or a response. Throws the error. */
  #failOneWay(error: Error, what: string): never {
    const isLost = hasCode(error, "session_lost");
    if (what !== answerName) {
      if (isLost) this.#receiver?.sessionLost?.(error);
    } else if (isLost || isUnavailable(error)) {
      // Calls wait for the answer, and the server may have run them. They end as if the connection was lost.
      const message = `The server did not receive the answer to its request: ${error.message}`;
      this.#finish(new LocalError("closed", message, { cause: error }));
    }
    throw error;
  }

  #whenStarted(action: (receiver: Receiver) => void): void {
    if (this.#receiver) action(this.#receiver);
    else this.#early.push(action);
  }

  #accept({ event, data }: EventSourceMessage): void {
    if (data === "" || (event !== undefined && event !== "message")) return;
    this.#whenStarted((receiver) => {
      if (this.#lifetime.signal.aborted) return;
      deliverEvent(data, {
        message: (value) => {
          if (this.#larger.size > 0 && isObject(value) && !("method" in value)) this.#larger.delete(value.id);
          receiver.message(value);
        },
        malformed: (error) => receiver.malformed(error),
      });
    });
  }

  #finish(cause: Error | undefined): void {
    if (this.#lifetime.signal.aborted) return;
    this.#lifetime.abort(transportClosed());
    this.#receiver?.closed(cause);
  }
}

function interruptedStream(cause: Error): LocalError {
  if (cause instanceof LocalError) return cause;
  return new LocalError("closed", `The stream of the server was interrupted: ${cause.message}`, { cause });
}
