import { LocalError } from "../rpc/errors.ts";
import type { RequestId } from "../rpc/messages.ts";
import { redact } from "../rpc/redact.ts";
import type { Receiver } from "../rpc/transport.ts";
import type { DroppedLine, LineSink } from "./lines.ts";

/** The largest line that is taken unless an option says otherwise: 16 MiB. */
export const DEFAULT_MAX_LINE_BYTES = 16_777_216;

const EXCERPT = 100;

/** Hands each line to the receiver as the JSON value that it is, and reports the lines that are none. */
export function jsonLines(receiver: Receiver, limit: number): LineSink {
  return {
    line(text) {
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch (cause) {
        receiver.malformed(notJson("A line is not JSON", text, cause));
        return;
      }
      receiver.message(value);
    },
    dropped(line) {
      const error = asError(line, limit);
      receiver.malformed(error);
      // Whoever waits for that answer should learn at once that it will not come.
      const id = answeredId(line.head);
      if (id !== undefined) receiver.failed?.(id, error);
    },
    unfinished(text) {
      // A peer may leave out the last line ending; JSON that was cut off never parses as an object.
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch (cause) {
        receiver.malformed(notJson("The input ended inside a line", text, cause));
        return;
      }
      receiver.message(value);
    },
  };
}

function notJson(what: string, text: string, cause: unknown): LocalError {
  const excerpt = text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text;
  const cure = "Each line must be one JSON-RPC message; logs belong on stderr.";
  return new LocalError("invalid_message", `${what}: ${JSON.stringify(redact(excerpt))}. ${cure}`, { cause });
}

function asError({ reason, bytes }: DroppedLine, limit: number): LocalError {
  if (reason === "not_utf8")
    return new LocalError("invalid_message", `A line of ${bytes} bytes is not UTF-8 and was dropped.`);
  const message = `A line of ${bytes} bytes is over the limit of ${limit} bytes and was dropped; see maxLineBytes.`;
  return new LocalError("too_large", message, { data: { bytes, limit } });
}

const response =
  /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?\d{1,15}|"(?:[^"\\]|\\.){0,128}")\s*,\s*"(?:result|error)"/;

/** The id of the request that a response answers of which only the beginning is there, where the beginning tells. */
function answeredId(head: string): RequestId | undefined {
  const id = response.exec(head)?.[1];
  return id === undefined ? undefined : (JSON.parse(id) as RequestId);
}
