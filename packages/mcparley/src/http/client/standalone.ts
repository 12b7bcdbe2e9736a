import { link } from "../../rpc/abort.ts";
import { Backoff, retryAfterOf } from "../../rpc/backoff.ts";
import { LocalError, RpcErrorCode, hasCode, isTransient } from "../../rpc/errors.ts";
import { isObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import { refusalInSession, sessionLost } from "./lost-session.ts";
import { asksForAuthorization, discard, isEventStream, readShortJson, statusError } from "./response.ts";
import { sendHttp } from "./send.ts";
import type { HttpSettings } from "./settings.ts";
import { type MessageSink, type StreamPosition, isPolled, readMessages } from "./sse.ts";
import { getStream } from "./stream.ts";
import type { HttpReply } from "./reply.ts";

/** Milliseconds that a stream without subscribers rests after its last attempt. Then a response of the server opens it again. */
const REST_MS = 60_000;
/** Maximum characters of an event, unless the target has another limit. */
const defaultUnaskedEvent = 1_048_576;

/** The name of the request in error messages. */
const what = "GET for a stream";

/** Receives the messages of a standalone stream and the changes of its state. */
export interface StandaloneSink extends MessageSink {
  /** Called with the error when the stream breaks or cannot be opened, and with undefined when it is open again. */
  onInterrupted(cause: Error | undefined): void;
  /** Called once if the server no longer knows the session. */
  onLost(cause: Error): void;
}

/** The states of a standalone stream; `tests/faults/states/stream.ts` has the transitions. */
type StandaloneState = "resting" | "opening" | "open" | "waiting" | "ended";

/**
 * The standalone stream of a legacy session, on which the server sends messages that belong to no request
 * (2025-11-25, transports, "Listening for Messages from the Server").
 *
 * A stream that breaks is opened again within the limits of `Backoff`. After the last attempt it rests, unless it is needed:
 * then it is opened again every 30 seconds until it opens.
 */
export class StandaloneStream {
  readonly #settings: HttpSettings;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #lifetime: AbortSignal;
  readonly #sink: StandaloneSink;
  readonly #position: StreamPosition = { lastEventId: undefined, retryMs: undefined };
  #state: StandaloneState = "resting";
  #restsUntil = 0;
  #isNeeded = false;
  /** The server has opened the stream in this session. */
  #isOffered = false;
  #isInterrupted = false;
  #settleFirst = (): void => {};
  /** Settles when the first request for the stream was answered or has failed. */
  readonly firstAnswer: Promise<void> = new Promise<void>((resolve) => (this.#settleFirst = resolve));

  /** `headers` name the session. The stream ends when `lifetime` is aborted. */
  constructor(
    settings: HttpSettings,
    headers: Readonly<Record<string, string>>,
    { lifetime, sink }: { lifetime: AbortSignal; sink: StandaloneSink },
  ) {
    this.#settings = settings;
    this.#headers = headers;
    this.#lifetime = lifetime;
    this.#sink = sink;
  }

  get state(): StandaloneState {
    return this.#state;
  }

  /** Opens the stream, unless it is open or the server has refused it. */
  open(): void {
    if (this.#state === "resting" && !this.#lifetime.aborted) void this.#keepOpen();
  }

  /** Sets whether there are subscribers. A stream that they need is opened, and never rests. */
  need(isNeeded: boolean): void {
    this.#isNeeded = isNeeded;
    if (isNeeded) this.open();
  }

  /** Called when the server has answered a request, so it may have recovered. */
  noteAnswer(): void {
    if (this.#state === "resting" && this.#settings.clock.now() >= this.#restsUntil) this.open();
  }

  async #keepOpen(): Promise<void> {
    const backoff = new Backoff(this.#settings.clock, this.#lifetime);
    try {
      for (;;) {
        this.#state = "opening";
        const cause = await this.#attempt(backoff);
        if (this.state === "ended") return;
        if (cause) this.#interrupt(cause);
        if (backoff.isSpent && !this.#isNeeded) return this.#rest(cause);
        this.#state = "waiting";
        await backoff.wait(Math.max(this.#position.retryMs ?? 0, retryAfterOf(cause) ?? 0));
      }
    } catch (error) {
      this.#state = "ended";
      if (!this.#lifetime.aborted) this.#sink.malformed(error as Error);
    }
  }

  /** Opens the stream and reads it to its end. Returns the error that interrupted it. Throws if the lifetime is aborted. */
  async #attempt(backoff: Backoff): Promise<Error | undefined> {
    const { lastEventId } = this.#position;
    const scope = link(this.#lifetime);
    try {
      const init = { lastEventId, signal: scope.signal };
      const response = await getStream(this.#settings, this.#headers, init).finally(this.#settleFirst);
      if (response.ok && isEventStream(response)) return await this.#read(response, backoff);
      return await this.#refused(response);
    } catch (error) {
      if (this.#lifetime.aborted) throw error;
      if (error instanceof LocalError && !/^(unreachable|closed|timeout)$/.test(error.code)) this.#end(error);
      return error as Error;
    } finally {
      scope.unlink();
    }
  }

  /** Reads an open stream to its end. Returns undefined if the server ended it so that the client polls. */
  async #read(response: HttpReply, backoff: Backoff): Promise<Error | undefined> {
    const { clock, limits } = this.#settings;
    const position = this.#position;
    const sink: MessageSink = {
      message: (value) => {
        backoff.reset();
        this.#sink.message(value);
      },
      malformed: (error) => this.#sink.malformed(error),
      otherEvent(event) {
        // The first event of HTTP+SSE: the server was replaced by one that has no sessions of this transport.
        if (event === "endpoint") throw sessionLost(what, response.status);
      },
    };
    this.#state = "open";
    this.#isOffered = true;
    this.#restore();
    const began = clock.now();
    try {
      const limit = limits.unaskedEvent ?? defaultUnaskedEvent;
      await readMessages(response, sink, { limit, position, option: "limits.unaskedEvent" });
      if (!isPolled(position))
        return new LocalError("closed", "The server ended the standalone stream of the session.");
      backoff.reset();
      return undefined;
    } catch (error) {
      if (this.#lifetime.aborted) throw error;
      if (hasCode(error, "session_lost")) throw error;
      if (!hasCode(error, "too_large")) return error as Error;
      this.#sink.malformed(error);
      // If the stream were resumed at its position, the server would send the same event again.
      position.lastEventId = undefined;
      return new LocalError("closed", error.message, { cause: error });
    } finally {
      backoff.wasOpen(clock.now() - began);
    }
  }

  /** Handles a response that opens no stream. Returns its error if a later attempt may succeed. */
  async #refused(response: HttpReply): Promise<Error | undefined> {
    const { clock } = this.#settings;
    const { status } = response;
    if (isTransient(status) && status !== 501) return statusError(response, what, clock);
    if (!this.#isOffered && (status === 405 || status === 501)) {
      discard(response);
      this.#end(undefined);
      return undefined;
    }
    const error = await refusalInSession(response, what, clock);
    // A server without this stream may refuse every GET.
    const isGone = !this.#isOffered && !hasCode(error, "unauthorized") && (await this.#isSessionGone());
    if (isGone) this.#lose(sessionLost(what, status));
    else this.#end(error);
    return undefined;
  }

  /** Whether the server refuses a ping as it has refused the GET. */
  async #isSessionGone(): Promise<boolean> {
    const headers = { ...this.#headers, accept: "application/json, text/event-stream" };
    const ping = { jsonrpc: "2.0", id: "session-check", method: Method.ping };
    const scope = link(this.#lifetime);
    try {
      const outgoing = { method: "POST", body: JSON.stringify(ping), signal: scope.signal } as const;
      const response = await sendHttp(this.#settings, {
        ...outgoing,
        headers: { ...headers, "content-type": "application/json" },
      });
      const { status } = response;
      if (response.ok) return hasError(await readShortJson(response));
      discard(response);
      return status < 500 && !asksForAuthorization(response) && !isTransient(status);
    } finally {
      scope.unlink();
    }
  }

  /** Ends the attempts. A server that had offered the stream before does not continue the session. */
  #end(cause: Error | undefined): void {
    if (cause && this.#isOffered) return this.#lose(cause);
    this.#state = "ended";
    if (cause) this.#sink.malformed(cause);
    this.#restore();
  }

  #lose(cause: Error): void {
    this.#state = "ended";
    this.#sink.onLost(cause);
  }

  #rest(cause: Error | undefined): void {
    this.#state = "resting";
    this.#restsUntil = this.#settings.clock.now() + REST_MS;
    const why = cause ? ` ${cause.message}` : " The server ends it each time.";
    const message = `The standalone stream of the session could not be kept open; its notifications are lost.${why}`;
    this.#sink.malformed(new LocalError("closed", message, { cause }));
  }

  #interrupt(cause: Error): void {
    if (this.#isInterrupted) return;
    this.#isInterrupted = true;
    this.#sink.onInterrupted(cause);
  }

  #restore(): void {
    if (!this.#isInterrupted) return;
    this.#isInterrupted = false;
    this.#sink.onInterrupted(undefined);
  }
}

/** Whether a reply to a ping is an error, and does not mean that the server has no pings. */
function hasError(reply: unknown): boolean {
  return isObject(reply) && isObject(reply.error) && reply.error.code !== RpcErrorCode.MethodNotFound;
}
