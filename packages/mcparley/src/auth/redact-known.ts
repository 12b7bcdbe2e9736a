import { hidden } from "../rpc/redact.ts";

/** Maximum UTF-16 units of a secret that is also found in its encoded forms, and of a text in which secrets are searched. */
const ENCODED_CHARS = 4_096;
const SEARCHED_CHARS = 131_072;

/**
 * Replaces known secrets, for example in a text of a server that repeats the request. It also finds secrets that are percent-encoded,
 * form-encoded or escaped as in JSON or HTML, as a whole or in part. A text is cut to 131,072 characters.
 */
export function redactKnown(text: string, secrets: Iterable<string>): string {
  let redacted = text.slice(0, SEARCHED_CHARS);
  for (const secret of secrets) {
    // Shorter texts are not secrets, and occur inside other words.
    if (secret.length < 4) continue;
    redacted = redacted.replaceAll(secret, hidden);
    if (secret.length <= ENCODED_CHARS) redacted = redacted.replace(encodedForms(secret), hidden);
  }
  return redacted;
}

/** Returns the pattern of a secret in which each character but letters, digits and `_` can be encoded. */
function encodedForms(secret: string): RegExp {
  return new RegExp(secret.replace(/\\+|[^\w\\]/gu, encodedForm), "g");
}

/** Returns the pattern of a character, or of several backslashes: with backslashes before it, or in an encoded form. */
function encodedForm(text: string): string {
  const percent = Array.from(new TextEncoder().encode(text), (byte) => `%${hex(byte, 2)}`).join("");
  const units = Array.from({ length: text.length }, (_, i) => `\\\\u${hex(text.charCodeAt(i), 4)}`).join("");
  // After backslashes of the secret no others are optional, so that a text matches in one way only.
  const literal = text.startsWith("\\")
    ? `\\\\{${text.length},${4 * text.length}}`
    : `(?:(?<!\\\\)\\\\{1,3})?${text.replace(/[$()*+./?[\]^{|}]/, "\\$&")}`;
  const plus = text === " " ? "|\\+" : "";
  return `(?:${literal}|${percent}|${units}|&#?\\w{1,8};${plus})`;
}

/** Returns the pattern of a hexadecimal number, whose letters can be small or capital. */
function hex(value: number, digits: number): string {
  return value
    .toString(16)
    .padStart(digits, "0")
    .replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
