import { Buffer } from "node:buffer";

/** Returns the number of bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** Returns the longest start of a text that has at most `maxBytes` bytes in UTF-8. No character is cut in half. */
export function cutBytes(text: string, maxBytes: number): string {
  // A UTF-16 unit has at most three bytes.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/** Returns the first `maxLength` UTF-16 units of a text. No surrogate pair is cut in half. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const isPairCut = /[\uD800-\uDBFF]/.test(text.charAt(maxLength - 1));
  return text.slice(0, isPairCut ? maxLength - 1 : maxLength);
}
