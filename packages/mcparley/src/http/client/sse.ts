import { type EventSourceMessage, createParser } from "eventsource-parser";
import { LocalError } from "../../rpc/errors.ts";
import { parseJson } from "../../rpc/parse-json.ts";
import { redact } from "../../rpc/redact.ts";
import type { HttpReply, ReplyBody } from "./reply.ts";

interface EventSink {
  /** Called for each event, in order. `data` is empty for an event that only names an id. */
  event(event: EventSourceMessage): void;
  /** The option of the target that is the limit, for its error. Default: `limits.message`. */
  readonly option?: string;
  /** Called with the milliseconds that the server asks the client to wait before it connects again. */
  retry(ms: number): void;
}

/** Characters that the parser gets at a time. Its own limit cannot be exceeded by more than this. */
const SLICE = 65_536;

/**
 * Reads a stream of Server-Sent Events to its end.
 *
 * An event may have up to `limit` characters; a function is called for each piece of the stream. Rejects with `LocalError`
 * `too_large` for a larger event and cancels the stream. Rejects with the stream's own error if it breaks. An event that the
 * end of the stream cuts off is left out, as the HTML standard requires.
 */
export async function readEvents(body: ReplyBody, limit: number | (() => number), sink: EventSink): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const normalize = lineFeeds();
  const limitNow = typeof limit === "number" ? () => limit : limit;
  const pending = pendingCharacters();
  let overflow: LocalError | undefined;
  const parser = createParser({
    // The parser takes only a constant limit.
    ...(typeof limit === "number" && { maxBufferSize: limit }),
    onEvent: (event) => {
      // The parser limits its buffer, but not an event that arrives in one piece.
      if (event.data.length > limitNow()) overflow = tooLarge(limitNow(), sink);
      if (!overflow) sink.event(event);
    },
    onRetry: (ms) => sink.retry(ms),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") overflow = tooLarge(limitNow(), sink);
    },
  });
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const text = normalize(decoder.decode(next.value, { stream: true }));
      for (let start = 0; start < text.length; start += SLICE) {
        const slice = text.length <= SLICE ? text : text.slice(start, start + SLICE);
        parser.feed(slice);
        // The names of fields count here, so an event that is not complete may have twice the characters.
        if (pending(slice) > 2 * limitNow()) overflow ??= tooLarge(limitNow(), sink);
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

/** Returns a function that takes the text of a stream and returns the number of characters after the last empty line. */
function pendingCharacters(): (text: string) => number {
  let count = 0;
  let endsInLine = false;
  return (text) => {
    const end = text.lastIndexOf("\n\n");
    if (end !== -1) count = text.length - end - 2;
    else if (endsInLine && text.startsWith("\n")) count = text.length - 1;
    else count += text.length;
    endsInLine = text.endsWith("\n");
    return count;
  };
}

/**
 * Replaces the three allowed line endings by one, across chunks. If a chunk contains a carriage return, the parser searches
 * the rest of the chunk twice for each line, which takes quadratic time; and it delays a line that ends in a lone one.
 */
function lineFeeds(): (text: string) => string {
  let endsInReturn = false;
  return (text) => {
    if (text === "") return text;
    const chunk = endsInReturn && text.startsWith("\n") ? text.slice(1) : text;
    endsInReturn = text.endsWith("\r");
    return chunk.includes("\r") ? chunk.split("\r\n").join("\n").split("\r").join("\n") : chunk;
  };
}

function tooLarge(limit: number, { option = "limits.message" }: EventSink): LocalError {
  const message = `The server sent an event of more than ${limit} characters. Raise ${option}.`;
  return new LocalError("too_large", message, { data: { limit } });
}

/** The position in a stream from which it can be resumed. */
export interface StreamPosition {
  lastEventId: string | undefined;
  /** Milliseconds that the server asks the client to wait before it connects again. */
  retryMs: number | undefined;
}

/**
 * Whether a stream that ended without an error was ended so that the client polls: the server gave an event id and a
 * retry time before (2025-11-25, transports, "Sending Messages to the Server").
 */
export function isPolled({ lastEventId, retryMs }: StreamPosition): boolean {
  return lastEventId !== undefined && retryMs !== undefined;
}

/** Receives the messages of an event stream. */
export interface MessageSink {
  message(value: unknown): void;
  malformed(error: Error): void;
  /** Called with the name of an event that is not a message. An error that it throws ends the stream. */
  otherEvent?(event: string): void;
}

/** Reads the messages of an event stream to its end, and keeps the position in `position`. */
export async function readMessages(
  response: HttpReply,
  sink: MessageSink,
  { limit, position, option = "limits.message" }: { limit: number; position: StreamPosition; option?: string },
): Promise<void> {
  if (!response.body) return;
  await readEvents(response.body, limit, {
    option,
    event({ id, event, data }) {
      // An empty id cancels the id before it (HTML standard, server-sent events).
      if (id !== undefined) position.lastEventId = id === "" ? undefined : id;
      if (event !== undefined && event !== "message") sink.otherEvent?.(event);
      else if (data !== "") deliverEvent(data, sink);
    },
    retry(ms) {
      position.retryMs = ms;
    },
  });
}

/** Parses the data of an event and delivers the message. Data of blanks is ignored. */
export function deliverEvent(data: string, sink: MessageSink): void {
  let value: unknown;
  try {
    value = parseJson(data);
  } catch (cause) {
    if (data.trim() === "") return;
    const message = `The server sent an event that is not JSON: ${JSON.stringify(redact(data.slice(0, 100)))}.`;
    return sink.malformed(new LocalError("invalid_message", message, { cause }));
  }
  sink.message(value);
}
