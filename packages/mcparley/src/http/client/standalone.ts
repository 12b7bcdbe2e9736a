import { LocalError } from "../../rpc/errors.ts";
import { discard } from "./body.ts";
import { type MessageSink, type StreamPosition, isPolled, readMessages } from "./events.ts";
import { sendHttp } from "./send.ts";
import { ReconnectBudget } from "./reconnect.ts";
import type { HttpSettings } from "./settings.ts";
import { isPassing, sessionLost, statusError } from "./status.ts";
import { LAST_EVENT_ID_HEADER } from "../header-names.ts";
import { isEventStream } from "../media-type.ts";

/** A stream that was open for this long was worth opening: proxies cut silent ones off after a minute. */
const WORTHWHILE_MS = 5_000;

interface StandaloneStream {
  settings: HttpSettings;
  /** The headers that name the session. */
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
  sink: MessageSink;
}

/**
 * Keeps the stream open on which a server says what belongs to no request (2025-11-25, transports, "Listening for
 * Messages from the Server").
 *
 * Settles when the server offers none, when the tries to open it again are spent, or when the signal is aborted;
 * `sink.malformed` is told why, except for the first and the last. Gives whether it is worth trying again some time.
 */
export async function keepStandalone(stream: StandaloneStream): Promise<boolean> {
  const { settings, signal, sink } = stream;
  const { clock } = settings;
  const budget = new ReconnectBudget();
  const position: StreamPosition = { lastEventId: undefined, retryMs: undefined };
  const listening = { ...stream, sink: progressing(sink, budget) };
  try {
    for (;;) {
      const began = clock.now();
      const ended = await listenOnce(listening, position);
      if (ended === "refused") return false;
      const isWorthwhile = clock.now() - began >= WORTHWHILE_MS || (!ended && isPolled(position));
      if (isWorthwhile) budget.progress();
      if (await budget.wait(clock, position.retryMs, signal)) continue;
      sink.malformed(givenUp(ended));
      return true;
    }
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

function progressing(sink: MessageSink, budget: ReconnectBudget): MessageSink {
  return {
    message(value) {
      budget.progress();
      sink.message(value);
    },
    malformed: (error) => sink.malformed(error),
  };
}

/** Opens the stream and reads it to its end. Gives why it ended, where that is known; throws when it was aborted. */
async function listenOnce(stream: StandaloneStream, position: StreamPosition): Promise<Error | "refused" | undefined> {
  const { settings, headers, signal, sink } = stream;
  try {
    const response = await get(settings, headers, position, signal);
    if (response.ok && isEventStream(response)) {
      await readMessages(response, settings.limits.unaskedEvent, position, sink);
      return undefined;
    }
    if (isPassing(response.status)) return await statusError(response, "GET", settings.clock);
    if (response.status === 405) discard(response);
    else sink.malformed(await refusal(response, settings));
    return "refused";
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    if (error instanceof LocalError && error.code === "too_large") {
      sink.malformed(error);
      // To take the stream up where it was would bring the same event again.
      position.lastEventId = undefined;
    }
    return error;
  }
}

function get(
  settings: HttpSettings,
  headers: Readonly<Record<string, string>>,
  { lastEventId }: StreamPosition,
  signal: AbortSignal,
): Promise<Response> {
  const sent: Record<string, string> = { ...headers, accept: "text/event-stream" };
  if (lastEventId !== undefined) sent[LAST_EVENT_ID_HEADER] = lastEventId;
  return sendHttp(settings, { method: "GET", headers: sent, signal });
}

async function refusal(response: Response, { clock }: HttpSettings): Promise<LocalError> {
  if (response.status !== 404) return statusError(response, "GET for a stream", clock);
  discard(response);
  return sessionLost("GET");
}

function givenUp(cause: Error | undefined): LocalError {
  const why = cause ? ` ${cause.message}` : " The server ends it each time.";
  const message = `The stream for what the server says by itself could not be kept open; its notifications are missed.${why}`;
  return new LocalError("closed", message, { cause });
}
