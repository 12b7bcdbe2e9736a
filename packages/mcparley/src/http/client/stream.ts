import { pause } from "../../rpc/abort.ts";
import type { Clock } from "../../rpc/clock.ts";
import { LocalError, isTransient } from "../../rpc/errors.ts";
import { LAST_EVENT_ID_HEADER } from "../header-names.ts";
import { isEventStream } from "../media-type.ts";
import type { Posted } from "./posted.ts";
import { discard, sessionLost, statusError } from "./response.ts";
import { sendHttp } from "./send.ts";
import type { HttpSettings } from "./settings.ts";
import { type MessageSink, type StreamPosition, isPolled, readMessages } from "./sse.ts";

/** How long a stream may stay open after the last response. Most servers end it themselves, which keeps the connection. */
const LINGER_MS = 1_000;
/** A standalone stream that was open for this long has worked. Proxies cut silent streams off after a minute. */
const WORKING_MS = 5_000;

const MAX_TRIES = 6;
const FIRST_DELAY = 1_000;
const LONGEST_DELAY = 30_000;
/** The shortest pause between two connections, even if the server asks for a shorter one. */
const SHORTEST_RETRY = 500;

interface ReconnectBudget {
  /** Resets the budget, because a message arrived. */
  reset(): void;
  /**
   * Waits until the next try: for the time that the server asked for, or longer each time. Returns false at once if no
   * tries are left. Rejects when the signal is aborted.
   */
  wait(clock: Clock, retryMs: number | undefined, signal: AbortSignal): Promise<boolean>;
}

/** Limits how often streams are opened again without progress. Streams that break together count as one try. */
function reconnectBudget(): ReconnectBudget {
  let tries = 0;
  let waiting = 0;
  return {
    reset: () => (tries = 0),
    async wait(clock, retryMs, signal) {
      if (waiting === 0) {
        if (tries >= MAX_TRIES) return false;
        tries++;
      }
      waiting++;
      try {
        const longest = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (tries - 1));
        // The server's value is a minimum (2025-11-25, transports). The random part keeps many clients apart.
        const delay =
          retryMs === undefined
            ? longest * (0.5 + Math.random() / 2)
            : Math.max(retryMs, SHORTEST_RETRY) * (1 + Math.random() / 10);
        await pause(clock, delay, signal);
        return true;
      } finally {
        waiting--;
      }
    },
  };
}

/** Reads the responses to requests that arrive as event streams. */
export interface AnswerStreams {
  /** Delivers the messages of a stream and of its continuations. Throws if it leaves a request without an answer. */
  read(first: Response, posted: Posted): Promise<void>;
}

/** Makes the reader for the streams of one transport. They share one reconnect budget. */
export function answerStreams(
  settings: HttpSettings,
  sink: MessageSink & { headers: () => Readonly<Record<string, string>> },
): AnswerStreams {
  const budget = reconnectBudget();
  return {
    async read(first, posted) {
      const { controller, isModern, waiting, what } = posted;
      const position: StreamPosition = { lastEventId: undefined, retryMs: undefined };
      let response = first;
      for (;;) {
        const broken = await readToEnd(response, posted, { settings, sink, budget, position });
        if (waiting.size === 0) return;
        if (controller.signal.aborted) throw controller.signal.reason;
        // A modern stream cannot be resumed. Whether the request may be sent again is not decided here.
        if (isModern || position.lastEventId === undefined) throw streamEnded(what, broken);
        // The timeouts of the call limit how often a server makes the client poll.
        if (!broken && isPolled(position)) budget.reset();
        response = await resumeStream(posted, broken, { settings, headers: sink.headers(), budget, position });
      }
    },
  };
}

/** Reads a stream to its end. Returns the error that broke it, if any. */
async function readToEnd(
  response: Response,
  { waiting, controller }: Posted,
  { settings, sink, budget, position }: StreamState & { sink: MessageSink },
): Promise<Error | undefined> {
  const { clock, limits } = settings;
  let timer: unknown;
  try {
    const lingering: MessageSink = {
      message: (value) => {
        budget.reset();
        sink.message(value);
        if (waiting.size > 0 || timer !== undefined) return;
        timer = clock.setTimeout(() => controller.abort(), LINGER_MS);
      },
      malformed: (error) => sink.malformed(error),
    };
    await readMessages(response, lingering, { limit: limits.message, position });
    return undefined;
  } catch (error) {
    // The server would send an event that is too large again.
    if (waiting.size > 0 && error instanceof LocalError && error.code === "too_large") throw error;
    return error as Error;
  } finally {
    if (timer !== undefined) clock.clearTimeout(timer);
  }
}

interface StreamState {
  settings: HttpSettings;
  budget: ReconnectBudget;
  position: StreamPosition;
}

/** Opens the rest of a legacy stream (2025-11-25, transports, "Resumability and Redelivery"). */
async function resumeStream(
  { controller, what }: Posted,
  broken: Error | undefined,
  { settings, headers, budget, position }: StreamState & { headers: Readonly<Record<string, string>> },
): Promise<Response> {
  const { signal } = controller;
  let problem = broken;
  while (await budget.wait(settings.wakefulClock, position.retryMs, signal)) {
    let response: Response;
    try {
      response = await getStream(settings, headers, { lastEventId: position.lastEventId ?? "", signal });
    } catch (error) {
      if (signal.aborted || !(error instanceof LocalError) || !/^(unreachable|closed)$/.test(error.code)) throw error;
      problem = error;
      continue;
    }
    if (response.ok && isEventStream(response)) return response;
    if (!isTransient(response.status))
      throw await refusalOf(response, settings, { lost: what, what: `the rest of ${what}` });
    problem = await statusError(response, what, settings.clock);
  }
  throw streamEnded(what, problem);
}

/**
 * Keeps the standalone stream of a legacy session open, on which the server sends messages that belong to no request
 * (2025-11-25, transports, "Listening for Messages from the Server").
 *
 * Settles when the server refuses it, when no tries are left, or when the signal is aborted. `sink.malformed` receives the
 * reason, unless the server offers no such stream or the signal is aborted. Returns whether a later try may succeed.
 */
export async function keepStandalone(
  settings: HttpSettings,
  headers: Readonly<Record<string, string>>,
  { signal, sink }: { signal: AbortSignal; sink: MessageSink },
): Promise<boolean> {
  const { clock } = settings;
  const budget = reconnectBudget();
  const position: StreamPosition = { lastEventId: undefined, retryMs: undefined };
  const counting = {
    message(value: unknown) {
      budget.reset();
      sink.message(value);
    },
    malformed: (error: Error) => sink.malformed(error),
  };
  try {
    for (;;) {
      const began = clock.now();
      const ended = await readStandalone(settings, headers, { position, signal, sink: counting });
      if (ended === "refused") return false;
      if (clock.now() - began >= WORKING_MS || (!ended && isPolled(position))) budget.reset();
      if (await budget.wait(clock, position.retryMs, signal)) continue;
      sink.malformed(givenUp(ended));
      return true;
    }
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** Opens the stream and reads it to its end. Returns why it ended, if known. Throws if the signal is aborted. */
async function readStandalone(
  settings: HttpSettings,
  headers: Readonly<Record<string, string>>,
  { position, signal, sink }: { position: StreamPosition; signal: AbortSignal; sink: MessageSink },
): Promise<Error | "refused" | undefined> {
  try {
    const response = await getStream(settings, headers, { lastEventId: position.lastEventId, signal });
    if (response.ok && isEventStream(response)) {
      await readMessages(response, sink, { limit: settings.limits.unaskedEvent, position });
      return undefined;
    }
    if (isTransient(response.status)) return await statusError(response, "GET", settings.clock);
    if (response.status === 405) discard(response);
    else sink.malformed(await refusalOf(response, settings, { lost: "GET", what: "GET for a stream" }));
    return "refused";
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    if (error instanceof LocalError && error.code === "too_large") {
      sink.malformed(error);
      // If the stream were resumed at its position, the server would send the same event again.
      position.lastEventId = undefined;
    }
    return error;
  }
}

function getStream(
  settings: HttpSettings,
  headers: Readonly<Record<string, string>>,
  { lastEventId, signal }: { lastEventId: string | undefined; signal: AbortSignal },
): Promise<Response> {
  const sent: Record<string, string> = { ...headers, accept: "text/event-stream" };
  if (lastEventId !== undefined) sent[LAST_EVENT_ID_HEADER] = lastEventId;
  return sendHttp(settings, { method: "GET", headers: sent, signal });
}

/** The error for a stream that the server refuses to open. */
async function refusalOf(
  response: Response,
  { clock }: HttpSettings,
  { lost, what }: { lost: string; what: string },
): Promise<LocalError> {
  if (response.status !== 404) return statusError(response, what, clock);
  discard(response);
  return sessionLost(lost);
}

function streamEnded(what: string, cause: Error | undefined): LocalError {
  const why = cause ? `: ${cause.message}` : ".";
  return new LocalError("closed", `The server's stream ended before the answer to ${what}${why}`, { cause });
}

function givenUp(cause: Error | undefined): LocalError {
  const why = cause ? ` ${cause.message}` : " The server ends it each time.";
  const message = `The standalone stream of the session could not be kept open; its notifications are missed.${why}`;
  return new LocalError("closed", message, { cause });
}
