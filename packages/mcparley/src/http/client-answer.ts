import { LocalError } from "../jsonrpc/errors.ts";
import { redact } from "../jsonrpc/redact.ts";
import { discard, readText } from "./client-body.ts";
import { type StreamPosition, isEventStream, isJson, mediaType, readMessages } from "./client-events.ts";
import { sendHttp } from "./client-fetch.ts";
import type { Posted } from "./client-posted.ts";
import { ReconnectBudget } from "./client-reconnect.ts";
import { readRefusal } from "./client-refused.ts";
import type { HttpSettings } from "./client-settings.ts";
import { isPassing } from "./client-standalone.ts";
import { sessionLost, statusError } from "./client-status.ts";
import { LAST_EVENT_ID_HEADER } from "./header-names.ts";

/** How long a stream may stay open after the last answer; most servers end it themselves, which keeps the connection. */
const LINGER_MS = 1_000;

/** What reads answers for its transport. */
export interface AnswerOwner {
  /** Called for each message, in the order of its stream. */
  message(value: unknown): void;
  malformed(error: Error): void;
  /** The headers that name the session. */
  headers(): Record<string, string>;
  /** Called with the good response to `initialize`, before its answer is read. */
  opened(response: Response): void;
}

/** Reads the responses to POSTs until each request in them is answered, taking up streams that break where it can. */
export class AnswerReader {
  readonly #settings: HttpSettings;
  readonly #owner: AnswerOwner;
  readonly #budget = new ReconnectBudget();

  constructor(settings: HttpSettings, owner: AnswerOwner) {
    this.#settings = settings;
    this.#owner = owner;
  }

  /** Delivers what the response holds. Throws where it leaves a request without an answer. */
  async read(response: Response, posted: Posted, inSession: boolean): Promise<void> {
    if (!response.ok) return this.#readRefusal(response, posted, inSession);
    if (posted.isInitialize) this.#owner.opened(response);
    if (isEventStream(response)) return this.#readStream(response, posted);
    if (!isJson(response)) throw this.#unreadable(response, posted);
    await this.#readJson(response, posted);
  }

  async #readRefusal(response: Response, posted: Posted, inSession: boolean): Promise<void> {
    const { what, waiting: ids } = posted;
    const answers = await readRefusal({ response, what, ids, inSession, clock: this.#settings.clock });
    if (answers instanceof LocalError) throw answers;
    for (const answer of answers) this.#owner.message(answer);
    checkAnswered(posted);
  }

  async #readJson(response: Response, posted: Posted): Promise<void> {
    const text = await readText(response, this.#settings.limits.message);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      const excerpt = JSON.stringify(redact(text.slice(0, 200)));
      throw new LocalError("invalid_message", `The server answered ${posted.what} with no JSON: ${excerpt}.`, {
        cause,
      });
    }
    this.#owner.message(value);
    checkAnswered(posted);
  }

  async #readStream(first: Response, posted: Posted): Promise<void> {
    const { signal } = posted.controller;
    const position: StreamPosition = { lastEventId: undefined, retryMs: undefined };
    let response = first;
    for (;;) {
      const broken = await this.#readToEnd(response, posted, position);
      if (posted.waiting.size === 0) return;
      if (signal.aborted) throw signal.reason;
      // Modern streams cannot be taken up again: the request has to be sent anew, and whether it may is not decided here.
      if (posted.isModern || position.lastEventId === undefined) throw streamEnded(posted.what, broken);
      response = await this.#resume(posted, position, broken);
    }
  }

  /** Reads a stream; gives why it broke, if it did. */
  async #readToEnd(response: Response, posted: Posted, position: StreamPosition): Promise<Error | undefined> {
    const { clock, limits } = this.#settings;
    let timer: unknown;
    try {
      await readMessages(response, limits.message, position, {
        message: (value) => {
          this.#budget.progress();
          this.#owner.message(value);
          if (posted.waiting.size > 0 || timer !== undefined) return;
          timer = clock.setTimeout(() => posted.controller.abort(), LINGER_MS);
        },
        malformed: (error) => this.#owner.malformed(error),
      });
      return undefined;
    } catch (error) {
      // An event that is too large would come again.
      if (posted.waiting.size > 0 && error instanceof LocalError && error.code === "too_large") throw error;
      return error as Error;
    } finally {
      if (timer !== undefined) clock.clearTimeout(timer);
    }
  }

  /** Opens the rest of a legacy stream (2025-11-25, transports, "Resumability and Redelivery"). */
  async #resume(posted: Posted, position: StreamPosition, broken: Error | undefined): Promise<Response> {
    const { signal } = posted.controller;
    let problem = broken;
    while (await this.#budget.wait(this.#settings.wakefulClock, position.retryMs, signal)) {
      const resumed = await this.#tryResume(posted, position);
      if (resumed instanceof Response) return resumed;
      problem = resumed;
    }
    throw streamEnded(posted.what, problem);
  }

  async #tryResume({ what, controller }: Posted, { lastEventId }: StreamPosition): Promise<Response | Error> {
    const { signal } = controller;
    const headers = {
      ...this.#owner.headers(),
      accept: "text/event-stream",
      [LAST_EVENT_ID_HEADER]: lastEventId ?? "",
    };
    let response: Response;
    try {
      response = await sendHttp(this.#settings, { method: "GET", headers, signal });
    } catch (error) {
      if (!signal.aborted && error instanceof LocalError && error.code === "unreachable") return error;
      throw error;
    }
    if (response.ok && isEventStream(response)) return response;
    if (isPassing(response.status)) return statusError(response, what, this.#settings.clock);
    if (response.status !== 404) throw await statusError(response, `the rest of ${what}`, this.#settings.clock);
    discard(response);
    throw sessionLost(what);
  }

  #unreadable(response: Response, { what }: Posted): LocalError {
    discard(response);
    const { status } = response;
    const type = mediaType(response);
    const got = type === "" ? "no answer" : `"${type.slice(0, 100)}"`;
    const message = `The server answered ${what} with ${status} and ${got} where JSON was expected. Is this the URL of an MCP endpoint?`;
    return new LocalError("invalid_message", message, { data: { status, contentType: type } });
  }
}

function checkAnswered({ waiting, what }: Posted): void {
  if (waiting.size === 0) return;
  const ids = [...waiting].map((id) => JSON.stringify(id)).join(", ");
  throw new LocalError("invalid_message", `The server answered ${what} with something else than a response to ${ids}.`);
}

function streamEnded(what: string, cause: Error | undefined): LocalError {
  const why = cause ? `: ${cause.message}` : ".";
  return new LocalError("closed", `The server's stream ended before the answer to ${what}${why}`, { cause });
}
