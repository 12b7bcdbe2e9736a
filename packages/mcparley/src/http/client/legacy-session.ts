import { pause, routineEnd } from "../../rpc/abort.ts";
import { type LocalError, hasCode } from "../../rpc/errors.ts";
import { type JsonRpcNotification, isObject, notification } from "../../rpc/messages.ts";
import { Notification } from "../../mcp/methods.ts";
import { findRevision } from "../../mcp/revisions/index.ts";
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from "../header-names.ts";
import { lossIn, refusalInSession } from "./lost-session.ts";
import type { PostedRequest } from "./posted.ts";
import { discard, readShortJson } from "./response.ts";
import { sendHttp } from "./send.ts";
import type { HttpSettings } from "./settings.ts";
import { type StandaloneSink, StandaloneStream } from "./standalone.ts";
import type { HttpReply } from "./reply.ts";
import { sendUntilAccepted, untilAccepted } from "./until-accepted.ts";

/** Maximum milliseconds that the first request waits until the server has answered the GET for the standalone stream. */
const OPEN_MS = 1_000;
/** Milliseconds that a call waits for its answer after the server refused a response that the call needs. */
const ANSWER_MS = 5_000;
/** Maximum milliseconds that `terminate` waits until the server has ended the session. */
const END_MS = 2_000;

/** The calls of a transport that are not answered yet. */
interface WaitingCalls {
  readonly calls: readonly PostedRequest[];
  cancel(cancellation: JsonRpcNotification): Promise<void>;
  fail(call: PostedRequest, what: string, error: Error): void;
}

/** The legacy session of an HTTP transport: the headers that name it, and its standalone stream. */
export class LegacySession {
  /** The headers of each message in the session: its id, if the server assigned one, and the negotiated version. */
  readonly headers: Record<string, string> = {};
  /** The server no longer knows the session. */
  isLost = false;
  /** Settles when the server has accepted `notifications/initialized`. Later messages wait for it. */
  initialization: Promise<void> | undefined;
  /** Returns the error of the session if a refusal shows that the server does not know it. */
  readonly lossIn: typeof lossIn = lossIn;
  readonly #settings: HttpSettings;
  readonly #lifetime: AbortSignal;
  readonly #sink: StandaloneSink;
  #standalone: StandaloneStream | undefined;
  #isNeeded = false;

  /** `response` is the response to `initialize`. `sink` receives the messages of the standalone stream. */
  constructor(
    response: HttpReply,
    settings: HttpSettings,
    { lifetime, sink }: { lifetime: AbortSignal; sink: StandaloneSink },
  ) {
    this.#settings = settings;
    this.#lifetime = lifetime;
    this.#sink = sink;
    const id = response.headers.get(SESSION_ID_HEADER);
    // Visible ASCII only (2025-11-25, transports). Other characters could not be sent back.
    if (id !== null && /^[!-~]+$/.test(id)) this.headers[SESSION_ID_HEADER] = id;
  }

  get hasId(): boolean {
    return this.headers[SESSION_ID_HEADER] !== undefined;
  }

  /** Reads the negotiated version from the result of `initialize`. */
  readRevision(result: unknown): void {
    const revision = isObject(result) ? findRevision(result.protocolVersion) : undefined;
    if (revision?.versionHeader) this.headers[PROTOCOL_VERSION_HEADER] = revision.version;
  }

  /** Returns the error of the session if an accepted notification or response has a reply that states its loss. Never rejects. */
  async lossInReply(response: HttpReply, what: string): Promise<LocalError | undefined> {
    const reply = await readShortJson(response);
    const error = isObject(reply) && isObject(reply.error) ? reply.error : {};
    return lossIn(what, { status: response.status, text: error.message });
  }

  /** Makes the error of a message that the server has refused. */
  refusal(response: HttpReply, what: string): Promise<LocalError> {
    return refusalInSession(response, what, this.#settings.clock);
  }

  /**
   * Sends a response to a request of the server, and again if the server is unavailable, as long as one of the calls that may
   * need it has no answer. If the server does not accept it, the call that waits for it fails.
   */
  async sendResponse(id: unknown, post: () => Promise<void>, waiting: WaitingCalls): Promise<void> {
    const call = waiting.calls.find(({ inputIds }) => inputIds?.has(id));
    // A request on the standalone stream may belong to any call.
    const calls = call ? [call] : waiting.calls;
    const isNeeded = (): boolean => calls.some(({ isAnswered }) => !isAnswered);
    try {
      await sendUntilAccepted(post, { clock: this.#settings.clock, signal: this.#lifetime, isNeeded });
    } catch (error) {
      if (call) void this.#failUnanswered(call, waiting, error as Error);
      throw error;
    }
  }

  /** Fails and cancels a call that has no answer in five seconds. Some servers refuse a response that they have processed. */
  async #failUnanswered(call: PostedRequest, waiting: WaitingCalls, cause: Error): Promise<void> {
    await pause(this.#settings.clock, ANSWER_MS, this.#lifetime).catch(() => {});
    if (call.isAnswered) return;
    const reason = "The server did not receive the answer to its request";
    waiting.cancel(notification(Notification.cancelled, { requestId: call.id, reason })).catch(() => {});
    waiting.fail(call, reason, new Error(cause.message, { cause }));
  }

  /**
   * Sends `notifications/initialized`, and opens the standalone stream. With `waitsForStream` later messages wait for it: some
   * servers send requests on the stream, and lose them if it is not open.
   */
  async sendInitialized(post: () => Promise<void>, waitsForStream: boolean): Promise<void> {
    const posting = sendUntilAccepted(post, { clock: this.#settings.clock, signal: this.#lifetime });
    const opening = posting
      .catch((error: unknown) => {
        // A server that refuses the notification for another reason may have the stream.
        if (hasCode(error, "session_lost")) throw error;
      })
      .then(() => this.#openStandalone());
    const acceptance = untilAccepted(waitsForStream ? opening : posting, this.#settings.clock).then(() => {
      if (this.initialization === acceptance) this.initialization = undefined;
    });
    this.initialization = acceptance;
    // It fails with the error of `posting`, which is awaited below.
    opening.catch(() => {});
    await posting;
  }

  /**
   * Opens the standalone stream, on which a server sends messages that belong to no request. Settles when the server has
   * answered, or after a second.
   */
  async #openStandalone(): Promise<void> {
    if (!this.hasId || this.#standalone) return;
    const init = { lifetime: this.#lifetime, sink: this.#sink };
    this.#standalone = new StandaloneStream(this.#settings, { ...this.headers }, init);
    this.#standalone.open();
    this.#standalone.need(this.#isNeeded);
    await untilAccepted(this.#standalone.firstAnswer, this.#settings.clock, OPEN_MS);
  }

  /** Sets whether the messages of the standalone stream are needed. */
  needMessages(isNeeded: boolean): void {
    this.#isNeeded = isNeeded;
    this.#standalone?.need(isNeeded);
  }

  /** Called when the server has answered a request. */
  noteAnswer(): void {
    this.#standalone?.noteAnswer();
  }

  /** Asks the server to end the session (2025-11-25, transports, "Session Management"). */
  async terminate(): Promise<void> {
    if (!this.hasId || this.isLost) return;
    const { clock } = this.#settings;
    const controller = new AbortController();
    const timer = clock.setTimeout(() => controller.abort(routineEnd), END_MS);
    try {
      const outgoing = { method: "DELETE", headers: this.headers, signal: controller.signal } as const;
      discard(await sendHttp(this.#settings, outgoing));
    } catch {
      // The session ends after its idle timeout.
    } finally {
      clock.clearTimeout(timer);
    }
  }
}
