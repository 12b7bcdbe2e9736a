import { type EventSourceMessage, createParser } from "eventsource-parser";
import { LocalError } from "../../rpc/errors.ts";

export interface EventSink {
  /** Called for each event, in order; `data` is empty for one that only names an id. */
  event(event: EventSourceMessage): void;
  /** Called when the server says how many milliseconds to wait before connecting again. */
  retry(ms: number): void;
}

/** What is handed to the parser at a time, so that its own bound cannot be overrun by more than this. */
const SLICE = 65_536;

/**
 * Reads a stream of Server-Sent Events to its end.
 *
 * An event may hold up to `limit` characters: results may be as large as any message, so this is a bound on memory and
 * not on what is sensible. Rejects with `LocalError` `too_large` for a larger one, after which the stream cannot be
 * read on and is cancelled; rejects with the stream's own error where it breaks. An event that is cut off by the end
 * is left out, as the HTML standard says.
 */
export async function readEvents(body: ReadableStream<Uint8Array>, limit: number, sink: EventSink): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const normalize = lineFeeds();
  let overflow: LocalError | undefined;
  const parser = createParser({
    maxBufferSize: limit,
    onEvent: (event) => {
      // The parser bounds what it holds back, not what arrives in one piece.
      if (event.data.length > limit) overflow = tooLarge(limit);
      if (!overflow) sink.event(event);
    },
    onRetry: (ms) => sink.retry(ms),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") overflow = tooLarge(limit);
    },
  });
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const text = normalize(decoder.decode(next.value, { stream: true }));
      for (let start = 0; start < text.length; start += SLICE) {
        parser.feed(text.length <= SLICE ? text : text.slice(start, start + SLICE));
        if (overflow) throw overflow;
      }
    }
  } catch (error) {
    await reader.cancel(error).catch(() => {});
    throw error;
  } finally {
    reader.releaseLock();
  }
}

/**
 * Turns the three line endings that are allowed into one, across chunks. The parser searches the rest of a chunk twice
 * for each line once there is a carriage return in it, which takes quadratic time; and it holds back what a lone
 * carriage return ends.
 */
function lineFeeds(): (text: string) => string {
  let endsInReturn = false;
  return (text) => {
    if (text === "") return text;
    const rest = endsInReturn && text.startsWith("\n") ? text.slice(1) : text;
    endsInReturn = text.endsWith("\r");
    return rest.includes("\r") ? rest.replace(/\r\n?/g, "\n") : rest;
  };
}

function tooLarge(limit: number): LocalError {
  const message = `The server sent an event of more than ${limit} characters; see the limits of the target.`;
  return new LocalError("too_large", message, { data: { limit } });
}
