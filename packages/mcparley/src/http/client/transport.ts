import { pause } from "../../rpc/abort.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type JsonRpcMessage, type RequestId, encode, isObject, isRequest } from "../../rpc/messages.ts";
import type { Envelope, Receiver, Transport } from "../../rpc/transport.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import { findRevision } from "../../mcp/revisions/revisions.ts";
import { AnswerReader } from "./response.ts";
import { discard } from "./body.ts";
import { type Outgoing, sendHttp } from "./send.ts";
import { type LegacyHeaders, legacyHeaders, mirroredHeaders, modernVersionOf } from "./headers.ts";
import { type Posted, PostedRequests } from "./posted.ts";
import { type HttpSettings, lowerCase } from "./settings.ts";
import { isPassing, sessionLost, statusError } from "./status.ts";
import { SESSION_ID_HEADER } from "../header-names.ts";

/** How long the requests after `notifications/initialized` wait for the server to take it. */
const INITIALIZED_MS = 5_000;
/** How long the client waits before it says again what did not reach the server. */
const TELL_DELAYS = [250, 500, 1_000, 2_000];
/** How long `close` waits for the server to end its session. */
const GOODBYE_MS = 2_000;
/** What a server of HTTP+SSE may answer to a POST at the URL of its stream. */
const httpSseStatuses: ReadonlySet<number> = new Set([400, 404, 405]);
/** How long a standing stream that was given up is left alone before a request that succeeds opens it again. */
const STANDALONE_REST_MS = 60_000;

/**
 * Streamable HTTP, from the client's side, in every revision that has it: each message is a POST of its own.
 *
 * Modern messages are known by the version in their `_meta` and stand by themselves. For the others the transport
 * keeps what the legacy revisions share between requests: the session's id, the version that was agreed, and the stream
 * for what the server says by itself.
 */
export class HttpTransport implements Transport {
  readonly #settings: HttpSettings;
  readonly #posted = new PostedRequests();
  readonly #answers: AnswerReader;
  /** Aborted when the transport is closed. */
  readonly #lifetime = new AbortController();
  #receiver: Receiver | undefined;
  /** What names the legacy session; undefined until `initialize` was answered. */
  #legacy: LegacyHeaders | undefined;
  /** The version that modern messages named last, for those that name none. */
  #modernVersion: string | undefined;
  /** Settles when the server has taken `notifications/initialized`, which nothing may overtake. */
  #initialized: Promise<unknown> | undefined;
  #standalone: "off" | "on" | { restUntil: number } = "off";
  #closing: Promise<void> | undefined;
  #mayBeHttpSse = false;

  constructor(settings: HttpSettings) {
    this.#settings = settings;
    this.#answers = new AnswerReader(settings, {
      message: (value) => this.#receive(value),
      malformed: (error) => this.#receiver?.malformed(error),
      headers: () => this.#legacyHeaders(),
      opened: (response) => this.#openSession(response),
    });
  }

  get network(): "tcp" {
    return "tcp";
  }

  /** Whether `initialize` was refused in the way by which a server of HTTP+SSE is known (2025-11-25, transports). */
  get mayBeHttpSse(): boolean {
    return this.#mayBeHttpSse;
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  send(message: JsonRpcMessage | JsonRpcMessage[], envelope?: Envelope): void | Promise<void> {
    if (this.#closing) return Promise.reject(closed());
    const messages = Array.isArray(message) ? message : [message];
    if (messages.some(isRequest)) return void this.#request(message, messages, envelope);
    const [only] = messages;
    if (only && "method" in only && messages.length === 1) {
      if (only.method === Notification.cancelled) return this.#cancel(only, envelope);
      if (only.method === Notification.initialized) return this.#tellInitialized(only, envelope);
    }
    // A response that is lost leaves the server waiting, and to hear it twice does it no harm.
    if (only && !("method" in only) && messages.length === 1) return this.#tellUntilTaken(only, envelope);
    return this.#tell(message, messages, envelope);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Sends what is to be answered; what goes wrong is told to the requests that it concerns. */
  async #request(
    message: JsonRpcMessage | JsonRpcMessage[],
    messages: JsonRpcMessage[],
    envelope?: Envelope,
  ): Promise<void> {
    const posted = this.#posted.open(messages);
    try {
      if (this.#initialized) await this.#initialized;
      const inSession = !posted.isModern && !posted.isInitialize && this.#legacy?.sessionId !== undefined;
      const outgoing = this.#outgoing(message, messages, { envelope, signal: posted.controller.signal });
      const response = await sendHttp(this.#settings, { ...outgoing, pause: () => this.#pause(posted) });
      this.#mayBeHttpSse = posted.isInitialize && httpSseStatuses.has(response.status);
      await this.#answers.read(response, posted, inSession);
    } catch (error) {
      this.#fail(posted, error);
    } finally {
      this.#posted.end(posted);
    }
  }

  /** Sends what has no answer. */
  async #tell(
    message: JsonRpcMessage | JsonRpcMessage[],
    messages: JsonRpcMessage[],
    envelope?: Envelope,
  ): Promise<void> {
    const { signal } = this.#lifetime;
    try {
      if (this.#initialized) await this.#initialized;
      const response = await sendHttp(this.#settings, this.#outgoing(message, messages, { envelope, signal }));
      if (response.ok) return discard(response);
      const [first] = messages;
      const what = first && "method" in first ? first.method : "a response";
      const isGone = response.status === 404 && this.#legacy?.sessionId !== undefined;
      if (isGone) discard(response);
      throw isGone ? sessionLost(what) : await statusError(response, what, this.#settings.clock);
    } catch (error) {
      throw signal.aborted ? closed() : error;
    }
  }

  /**
   * Gives a request up. In modern revisions ending its stream says so; in legacy ones a dropped stream means nothing and
   * the server is told, after which the stream is of no use.
   */
  async #cancel(message: JsonRpcMessage & { params?: object }, envelope?: Envelope): Promise<void> {
    const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
    const posted = this.#posted.find(requestId);
    try {
      const mustTell = posted ? !posted.isModern && !posted.isHeld : this.#legacy !== undefined;
      if (mustTell) await this.#tell(message, [message], envelope);
    } finally {
      this.#posted.settle(requestId as RequestId);
      if (posted?.waiting.size === 0) posted.controller.abort(new LocalError("aborted", "The request was given up."));
    }
  }

  async #tellInitialized(message: JsonRpcMessage, envelope?: Envelope): Promise<void> {
    const telling = this.#tellUntilTaken(message, envelope);
    const limit = new AbortController();
    const taken = Promise.race([telling, pause(this.#settings.clock, INITIALIZED_MS, limit.signal)]);
    const settled = taken
      .catch(() => {})
      .finally(() => {
        limit.abort();
        if (this.#initialized === settled) this.#initialized = undefined;
      });
    this.#initialized = settled;
    await telling;
    if (this.#legacy?.sessionId !== undefined) this.#openStandalone();
  }

  /** Sends again, a few times, what a proxy could not pass on: a server that was never told waits, or says nothing by itself. */
  async #tellUntilTaken(message: JsonRpcMessage, envelope: Envelope | undefined): Promise<void> {
    for (const delay of TELL_DELAYS) {
      try {
        return await this.#tell(message, [message], envelope);
      } catch (error) {
        const { code, data } = error as LocalError;
        const { status } = (data ?? {}) as { status?: number };
        if (code !== "unreachable" && !(code === "http" && isPassing(status ?? 0))) throw error;
      }
      await pause(this.#settings.clock, delay, this.#lifetime.signal);
    }
    return this.#tell(message, [message], envelope);
  }

  #outgoing(
    message: JsonRpcMessage | JsonRpcMessage[],
    messages: JsonRpcMessage[],
    { envelope, signal }: { envelope: Envelope | undefined; signal: AbortSignal },
  ): Outgoing {
    const body = Array.isArray(message) ? `[${message.map(encode).join(",")}]` : encode(message);
    const headers = {
      ...this.#headersFor(messages, envelope),
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    };
    return { method: "POST", headers, body, signal };
  }

  #headersFor(messages: readonly JsonRpcMessage[], envelope: Envelope | undefined): Record<string, string> {
    const [first] = messages;
    if (!first) return {};
    const named = modernVersionOf(first);
    if (named !== undefined) this.#modernVersion = named;
    const version = named ?? (this.#legacy || isRequest(first) ? undefined : this.#modernVersion);
    if (version !== undefined) return { ...lowerCase(envelope?.headers ?? {}), ...mirroredHeaders(first, version) };
    const opensSession = isRequest(first) && first.method === Method.initialize;
    return opensSession ? {} : this.#legacyHeaders();
  }

  #legacyHeaders(): Record<string, string> {
    return this.#legacy ? legacyHeaders(this.#legacy) : {};
  }

  #openSession(response: Response): void {
    const sessionId = response.headers.get(SESSION_ID_HEADER) ?? undefined;
    // Visible ASCII only (2025-11-25, transports); anything else could not be sent back.
    const isUsable = sessionId !== undefined && /^[!-~]+$/.test(sessionId);
    this.#legacy = { sessionId: isUsable ? sessionId : undefined, version: undefined };
  }

  #receive(value: unknown): void {
    if (this.#closing) return;
    const answered = isObject(value) && this.#posted.find(value.id);
    if (answered && answered.isInitialize && this.#legacy && isObject(value.result)) {
      const revision = findRevision(value.result.protocolVersion);
      if (revision?.versionHeader) this.#legacy.version = revision.version;
    }
    if (this.#posted.note(value)) this.#openStandaloneAgain();
    this.#receiver?.message(value);
  }

  #pause(posted: Posted): () => void {
    const resumes = [...posted.waiting].map((id) => this.#receiver?.waits?.(id));
    posted.isHeld = true;
    return () => {
      posted.isHeld = false;
      for (const resume of resumes) resume?.();
    };
  }

  #fail(posted: Posted, error: unknown): void {
    if (this.#closing) return;
    const failed = error instanceof LocalError ? error : new LocalError("closed", messageOf(error), { cause: error });
    for (const id of this.#posted.end(posted)) {
      if (this.#receiver?.failed) this.#receiver.failed(id, failed);
      else this.#receiver?.malformed(failed);
    }
  }

  #openStandalone(): void {
    if (this.#standalone === "on" || this.#closing) return;
    this.#standalone = "on";
    const stream = {
      settings: this.#settings,
      headers: this.#legacyHeaders(),
      signal: this.#lifetime.signal,
      sink: {
        message: (value: unknown) => this.#receive(value),
        malformed: (error: Error) => {
          if (!this.#closing) this.#receiver?.malformed(error);
        },
      },
    };
    const kept = import("./standalone.ts").then(({ keepStandalone }) => keepStandalone(stream));
    void kept.then((isWorthMore) => {
      this.#standalone = isWorthMore ? { restUntil: this.#settings.clock.now() + STANDALONE_REST_MS } : "off";
    });
  }

  /** A server that answers may have recovered from what kept the standing stream from being opened. */
  #openStandaloneAgain(): void {
    if (typeof this.#standalone === "object" && this.#settings.clock.now() >= this.#standalone.restUntil) {
      this.#openStandalone();
    }
  }

  async #close(): Promise<void> {
    // Set before anything that could come back here.
    await Promise.resolve();
    this.#lifetime.abort(closed());
    this.#posted.abortAll(closed());
    if (this.#legacy?.sessionId !== undefined) await this.#sayGoodbye();
    this.#receiver?.closed();
  }

  /** Ends the session, as far as the server lets itself be told (2025-11-25, transports, "Session Management"). */
  async #sayGoodbye(): Promise<void> {
    const { clock } = this.#settings;
    const controller = new AbortController();
    const timer = clock.setTimeout(() => controller.abort(), GOODBYE_MS);
    try {
      const headers = this.#legacyHeaders();
      discard(await sendHttp(this.#settings, { method: "DELETE", headers, signal: controller.signal }));
    } catch {
      // The session ends by its idle limit then.
    } finally {
      clock.clearTimeout(timer);
    }
  }
}

function closed(): LocalError {
  return new LocalError("closed", "The transport is closed.");
}

function messageOf(error: unknown): string {
  return `The request could not be sent: ${error instanceof Error ? error.message : String(error)}`;
}
