import { repairJson } from "./well-formed.ts";
import { type JsonObject, type JsonRpcMessage, isObject } from "./messages.ts";

/** The number of characters from which on a string is inserted into the JSON text without a copy. */
export const LARGE_CHARS = 65_536;

/** Characters that JSON escapes. Surrogates are included, because JSON escapes one without its pair. */
// oxlint-disable-next-line no-control-regex -- JSON escapes control characters
const escapedCharacter = /["\\\u0000-\u001f\ud800-\udfff]/;

/**
 * Encodes a response with large strings as pieces of one JSON text. Returns undefined for other messages, and for a result
 * that is not JSON.
 *
 * `JSON.stringify` copies a large string twice. Here a string without escapes, such as base64, is a piece by itself.
 */
export function encodeLarge(message: JsonRpcMessage): string[] | undefined {
  if (!("result" in message) || !hasLarge(message.result as JsonObject)) return undefined;
  const large: string[] = [];
  // No string of the message can contain it, because it did not exist before.
  const mark = crypto.randomUUID();
  let json: string;
  try {
    json = JSON.stringify(message, (_key, value: unknown) => {
      if (typeof value !== "string" || value.length < LARGE_CHARS) return value;
      large.push(value);
      return mark;
    });
  } catch {
    return undefined;
  }
  const [first = "", ...segments] = repairJson(json).split(`"${mark}"`);
  return segments.reduce(
    (pieces, segment, index) => {
      const text = large[index]!;
      if (escapedCharacter.test(text)) pieces.push(repairJson(JSON.stringify(text)), segment);
      else pieces.push('"', text, `"${segment}`);
      return pieces;
    },
    [first],
  );
}

/** Returns whether the contents of a result contain a large string. Every result is checked, so loops over names are avoided. */
function hasLarge({ content, contents, messages }: JsonObject): boolean {
  return hasLargePart(content) || hasLargePart(contents) || hasLargePart(messages);
}

function hasLargePart(list: unknown): boolean {
  if (!Array.isArray(list)) return false;
  for (const part of list as unknown[]) if (isLarge(part, 2)) return true;
  return false;
}

/** Returns whether contents, a content block or a prompt message contain a large string. `depth` is the number of nested levels that are searched. */
function isLarge(part: unknown, depth: number): boolean {
  if (!isObject(part)) return false;
  const { text, blob, data, resource, content } = part;
  if (isLargeText(text) || isLargeText(blob) || isLargeText(data)) return true;
  return depth > 0 && (isLarge(resource, depth - 1) || isLarge(content, depth - 1));
}

function isLargeText(value: unknown): boolean {
  return typeof value === "string" && value.length >= LARGE_CHARS;
}

/** Returns the end of a slice of `length` characters or one less, so that it does not divide a surrogate pair. */
export function endOfSlice(text: string, length: number): number {
  const last = text.charCodeAt(length - 1);
  return last >= 0xd800 && last < 0xdc00 ? length - 1 : length;
}
