import { LocalError } from "../../rpc/errors.ts";
import { redact } from "../../rpc/redact.ts";
import { readEvents } from "./sse.ts";

/** Where a stream stands, so that it can be taken up again. */
export interface StreamPosition {
  lastEventId: string | undefined;
  /** Milliseconds that the server wants to be left alone before the next connection. */
  retryMs: number | undefined;
}

/**
 * Whether a stream that ended without an error was ended in order to be polled: its server said when to come back, and
 * with which id (2025-11-25, transports, "Sending Messages to the Server").
 */
export function isPolled({ lastEventId, retryMs }: StreamPosition): boolean {
  return lastEventId !== undefined && retryMs !== undefined;
}

export interface MessageSink {
  message(value: unknown): void;
  malformed(error: Error): void;
}

/** Reads the messages of an event stream to its end, and notes in `position` how to go on from there. */
export async function readMessages(
  response: Response,
  limit: number,
  position: StreamPosition,
  sink: MessageSink,
): Promise<void> {
  if (!response.body) return;
  await readEvents(response.body, limit, {
    event({ id, event, data }) {
      // An empty id takes back the one before it (HTML standard, server-sent events).
      if (id !== undefined) position.lastEventId = id === "" ? undefined : id;
      if (data === "" || (event !== undefined && event !== "message")) return;
      const value = parse(data, sink);
      if (value !== undefined) sink.message(value);
    },
    retry(ms) {
      position.retryMs = ms;
    },
  });
}

function parse(data: string, sink: MessageSink): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch (cause) {
    const message = `The server sent an event that is not JSON: ${JSON.stringify(redact(data.slice(0, 100)))}.`;
    sink.malformed(new LocalError("invalid_message", message, { cause }));
    return undefined;
  }
}
