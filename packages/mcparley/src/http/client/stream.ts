import { LocalError } from "../../rpc/errors.ts";
import type { AnswerOwner } from "./response.ts";
import { discard } from "./body.ts";
import { type StreamPosition, isPolled, readMessages } from "./events.ts";
import { sendHttp } from "./send.ts";
import type { Posted } from "./posted.ts";
import { ReconnectBudget } from "./reconnect.ts";
import type { HttpSettings } from "./settings.ts";
import { isPassing, sessionLost, statusError } from "./status.ts";
import { LAST_EVENT_ID_HEADER } from "../header-names.ts";
import { isEventStream } from "../media-type.ts";

/** How long a stream may stay open after the last answer; most servers end it themselves, which keeps the connection. */
const LINGER_MS = 1_000;

/** Reads the answers that come as streams of events. Loaded for the first of them: many servers answer with plain JSON. */
export class StreamReader {
  readonly #settings: HttpSettings;
  readonly #owner: AnswerOwner;
  readonly #budget = new ReconnectBudget();

  constructor(settings: HttpSettings, owner: AnswerOwner) {
    this.#settings = settings;
    this.#owner = owner;
  }

  /** Delivers what the stream holds, and the streams that take it up. Throws where a request is left without an answer. */
  async read(first: Response, posted: Posted): Promise<void> {
    const { signal } = posted.controller;
    const position: StreamPosition = { lastEventId: undefined, retryMs: undefined };
    let response = first;
    for (;;) {
      const broken = await this.#readToEnd(response, posted, position);
      if (posted.waiting.size === 0) return;
      if (signal.aborted) throw signal.reason;
      // Modern streams cannot be taken up again: the request has to be sent anew, and whether it may is not decided here.
      if (posted.isModern || position.lastEventId === undefined) throw streamEnded(posted.what, broken);
      // However often that is: the limits of the call bound it.
      if (!broken && isPolled(position)) this.#budget.progress();
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
}

function streamEnded(what: string, cause: Error | undefined): LocalError {
  const why = cause ? `: ${cause.message}` : ".";
  return new LocalError("closed", `The server's stream ended before the answer to ${what}${why}`, { cause });
}
