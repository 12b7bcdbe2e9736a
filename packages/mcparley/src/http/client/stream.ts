import { routineEnd } from "../../rpc/abort.ts";
import { Backoff, retryAfterOf } from "../../rpc/backoff.ts";
import { LocalError, hasCode, isTransient } from "../../rpc/errors.ts";
import { isObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import { LAST_EVENT_ID_HEADER } from "../header-names.ts";
import { refusalInSession } from "./lost-session.ts";
import { isEventStream, statusError } from "./response.ts";
import { type PostedRequest, withId } from "./posted.ts";
import { sendHttp } from "./send.ts";
import type { HttpSettings } from "./settings.ts";
import { type MessageSink, type StreamPosition, isPolled, readMessages } from "./sse.ts";
import type { HttpReply } from "./reply.ts";

/** Milliseconds that a stream may stay open after the last response. Most servers end it, which keeps the connection. */
const LINGER_MS = 1_000;

/**
 * Delivers the messages of an event stream that answers a POST, and of its continuations. Throws if they leave the
 * request without an answer.
 */
export type AnswerReader = (first: HttpReply, request: PostedRequest) => Promise<void>;

/** The receiver of the streams of a transport. */
interface AnswerSink extends MessageSink {
  /** Returns the headers that name the session. */
  headers(): Readonly<Record<string, string>>;
  /** Called if the server no longer knows the session. */
  onLost(cause: Error): void;
}

/** Makes the reader for the streams of one transport. */
export function answerReader(settings: HttpSettings, sink: AnswerSink): AnswerReader {
  return async (first, request) => {
    const { controller, isModern, what } = request;
    const position: StreamPosition = { lastEventId: undefined, retryMs: undefined };
    let response = first;
    let backoff: Backoff | undefined;
    for (;;) {
      const began = settings.clock.now();
      const broken = await readToEnd(response, request, { settings, sink, backoff, position });
      if (request.isAnswered) return;
      if (controller.signal.aborted) throw controller.signal.reason;
      // A modern stream cannot be resumed. Whether the request may be sent again is not decided here.
      if (isModern || position.lastEventId === undefined) throw streamEnded(what, broken);
      backoff ??= new Backoff(settings.wakefulClock, controller.signal);
      backoff.wasOpen(settings.clock.now() - began);
      // The timeouts of the call limit how often a server makes the client poll.
      if (!broken && isPolled(position)) backoff.reset();
      response = await resumeStream(request, broken, { settings, sink, backoff, position });
    }
  };
}

/** Reads a stream to its end. Returns the error that interrupted it, if any. */
async function readToEnd(
  response: HttpReply,
  request: PostedRequest,
  { settings, sink, backoff, position }: StreamState & { backoff: Backoff | undefined },
): Promise<Error | undefined> {
  const { clock } = settings;
  const { controller, limit } = request;
  let timer: unknown;
  try {
    const lingering: MessageSink = {
      message: (value) => {
        backoff?.reset();
        noteInputRequests(value, request);
        sink.message(withId(value, request.id));
        if (!request.isAnswered || timer !== undefined) return;
        timer = clock.setTimeout(() => controller.abort(routineEnd), LINGER_MS);
      },
      malformed: (error) => sink.malformed(error),
    };
    await readMessages(response, lingering, { limit, position });
    return undefined;
  } catch (error) {
    // The server would send an event that is too large again.
    if (!request.isAnswered && hasCode(error, "too_large")) throw error;
    return error as Error;
  } finally {
    if (timer !== undefined) clock.clearTimeout(timer);
  }
}

/** Notes the requests of the server among the messages that arrived on the stream of a call. No call waits for the answer to a ping. */
function noteInputRequests(value: unknown, call: PostedRequest): void {
  for (const message of Array.isArray(value) ? value : [value]) {
    const isInput = isObject(message) && "id" in message && "method" in message && message.method !== Method.ping;
    if (isInput) (call.inputIds ??= new Set()).add(message.id);
  }
}

interface StreamState {
  settings: HttpSettings;
  sink: AnswerSink;
  position: StreamPosition;
}

/** Opens the rest of a legacy stream (2025-11-25, transports, "Resumability and Redelivery"). */
async function resumeStream(
  { controller, what }: PostedRequest,
  broken: Error | undefined,
  { settings, sink, backoff, position }: StreamState & { backoff: Backoff },
): Promise<HttpReply> {
  const { signal } = controller;
  let problem = broken;
  while (!backoff.isSpent) {
    await backoff.wait(Math.max(position.retryMs ?? 0, retryAfterOf(problem) ?? 0));
    let response: HttpReply;
    try {
      response = await getStream(settings, sink.headers(), { lastEventId: position.lastEventId, signal });
    } catch (error) {
      if (signal.aborted || !hasCode(error, "unreachable", "closed")) throw error;
      problem = error;
      continue;
    }
    if (response.ok && isEventStream(response)) return response;
    if (!isTransient(response.status)) throw await refusalOf(response, what, { settings, sink });
    problem = await statusError(response, what, settings.clock);
  }
  throw streamEnded(what, problem);
}

/** Sends the GET for a stream, or for the rest of one. */
export function getStream(
  settings: HttpSettings,
  headers: Readonly<Record<string, string>>,
  { lastEventId, signal }: { lastEventId: string | undefined; signal: AbortSignal },
): Promise<HttpReply> {
  const allHeaders: Record<string, string> = { ...headers, accept: "text/event-stream" };
  if (lastEventId !== undefined) allHeaders[LAST_EVENT_ID_HEADER] = lastEventId;
  return sendHttp(settings, { method: "GET", headers: allHeaders, signal });
}

/**
 * Makes the error for the rest of a stream that the server refuses. A lost session is reported, and the request fails with
 * `closed`: the server had accepted it, so it must not be sent again in a new session.
 */
async function refusalOf(
  response: HttpReply,
  what: string,
  { settings, sink }: { settings: HttpSettings; sink: AnswerSink },
): Promise<LocalError> {
  const refusal = await refusalInSession(response, `the rest of ${what}`, settings.clock);
  if (!hasCode(refusal, "session_lost")) return refusal;
  sink.onLost(refusal);
  return streamEnded(what, refusal);
}

function streamEnded(what: string, cause: Error | undefined): LocalError {
  const why = cause ? `: ${cause.message}` : ".";
  return new LocalError("closed", `The server's stream ended before the answer to ${what}${why}`, { cause });
}
