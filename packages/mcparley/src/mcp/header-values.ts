import type { McpHeaderType } from "./mirrored-headers.ts";

const prefix = "=?base64?";
const suffix = "?=";

/**
 * Writes a value so that it can travel in an HTTP header: as it is where that is safe, otherwise as
 * `=?base64?<UTF-8 in Base64>?=` (2026-07-28, Streamable HTTP, "Value Encoding"). The empty string stays empty.
 */
export function encodeHeaderValue(value: string | number | boolean): string {
  const text = String(value);
  const isSafe = /^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(text);
  const looksEncoded = text.startsWith(prefix) && text.endsWith(suffix);
  return isSafe && !looksEncoded ? text : prefix + toBase64(text) + suffix;
}

/** Reads what encodeHeaderValue wrote; undefined when there are characters, Base64 or UTF-8 that are not allowed. */
export function decodeHeaderValue(header: string): string | undefined {
  // The two marks may not share their question mark.
  const isEncoded =
    header.length >= prefix.length + suffix.length && header.startsWith(prefix) && header.endsWith(suffix);
  if (isEncoded) return fromBase64(header.slice(prefix.length, -suffix.length));
  return /^[\t -~]*$/.test(header) ? header : undefined;
}

/**
 * Tells whether a `Mcp-Param-*` header says the same as the body. Integers are compared as numbers, so 42.0 is 42;
 * one beyond the safe range (2^53 - 1) never matches, as two different ones would look equal.
 */
export function headerValueMatches(type: McpHeaderType, header: string, bodyValue: unknown): boolean {
  const text = decodeHeaderValue(header);
  if (text === undefined) return false;
  switch (typeof bodyValue) {
    case "string":
    case "boolean":
      return text === String(bodyValue);
    case "number":
      return type === "integer" ? isSameNumber(text, bodyValue) : text === String(bodyValue);
    default:
      return false;
  }
}

function isSameNumber(text: string, value: number): boolean {
  const isUnsafe = Number.isInteger(value) && !Number.isSafeInteger(value);
  return !isUnsafe && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) && Number(text) === value;
}

function toBase64(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function fromBase64(encoded: string): string | undefined {
  // atob forgives spaces and missing padding; the specification does not.
  if (encoded.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
