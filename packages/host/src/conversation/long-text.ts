import { Buffer } from "node:buffer";
import { printable } from "mcparley";
import type { TextPart } from "./messages.ts";
import type { ResultStore } from "./result-handles.ts";
import { type ServerText, labelServerText } from "./server-text.ts";
import { cutText, utf8Bytes } from "./text-size.ts";

/** The limits and the store for texts of servers in a conversation. */
export interface TextLimits {
  /** Maximum bytes of a text. A longer one becomes a handle. */
  readonly maxBytes: number;
  readonly store: ResultStore;
}

/** Maximum UTF-16 units of a text that are kept. The rest of a longer text is removed. */
const MAX_KEPT_LENGTH = 16 * 1024 * 1024;
/** Bytes of the first part of a long text. */
const FIRST_PART_BYTES = 8 * 1024;

/**
 * Returns a text of a server for the model, with its label. If it is over the limit, the parts are its start and a remark with the handle
 * of the whole.
 */
export function serverTextParts(server: ServerText, limits: TextLimits): TextPart[] {
  const text = cutText(server.text, MAX_KEPT_LENGTH);
  const isWhole = server.text.length <= MAX_KEPT_LENGTH;
  const labelled = (part: string): TextPart => labelledPart({ ...server, text: part });
  if (isWhole && isWithin(text, limits.maxBytes)) return [labelled(text)];

  const content = Buffer.from(text, "utf8");
  const { handle } = limits.store.keep({ kind: server.kind, origin: server.origin, content });
  const first = readPart(content, { offset: 0, length: Math.min(FIRST_PART_BYTES, limits.maxBytes) });
  const removed = isWhole ? "" : ` Only the first ${content.length} of ${utf8Bytes(server.text)} bytes are kept.`;
  const remark =
    `The text has ${content.length} bytes, and the part above ends at byte ${first.end}.${removed} ` +
    `Read on with read_result: { "handle": "${handle}", "offset": ${first.end} }, or search in it with "find".`;
  return [labelled(first.text), { type: "text", text: remark }];
}

function labelledPart({ kind, origin, text }: ServerText): TextPart {
  return { type: "text", text: labelServerText({ kind, origin, text }), from: origin };
}

/** Whether a text is within the limit, also after invisible characters were escaped. */
function isWithin(text: string, maxBytes: number): boolean {
  return utf8Bytes(text) <= maxBytes && utf8Bytes(printable(text)) <= maxBytes;
}

/** A part of a kept text, with the offsets of its first byte and of the byte after its end. */
export interface ReadPart {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Returns a part of a text in UTF-8. Its ends are moved to the boundaries of characters. It is shorter than `length` if escaped
 * characters would make it longer than that.
 */
export function readPart(content: Buffer, { offset, length }: { offset: number; length: number }): ReadPart {
  let start = Math.min(offset, content.length);
  while (isContinuation(content, start)) start += 1;
  for (let size = length; ; size = Math.floor(size / 2)) {
    let end = Math.min(start + size, content.length);
    while (end > start && isContinuation(content, end)) end -= 1;
    // A part has at least one character, so that a caller that reads on makes progress.
    if (end === start && end < content.length) {
      end += 1;
      while (isContinuation(content, end)) end += 1;
    }
    const text = content.toString("utf8", start, end);
    if (size <= 64 || utf8Bytes(printable(text)) <= Math.max(length, 64)) return { text, start, end };
  }
}

function isContinuation(content: Buffer, index: number): boolean {
  const byte = content[index];
  return byte !== undefined && byte >> 6 === 0b10;
}
