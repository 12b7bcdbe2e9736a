import { fromBase64, isBase64, toBase64 } from "../../rpc/base64.ts";
import { isObject } from "../../rpc/messages.ts";
import type { McpHeaderType } from "./mirrored-headers.ts";

const prefix = "=?base64?";
const suffix = "?=";

/**
 * Encodes a value for an HTTP header: unchanged if that is safe, otherwise as `=?base64?<UTF-8 in Base64>?=` (2026-07-28,
 * Streamable HTTP, "Value Encoding"). The empty string stays empty.
 */
export function encodeHeaderValue(value: string | number | boolean): string {
  const text = String(value);
  const isSafe = /^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(text);
  const looksEncoded = text.startsWith(prefix) && text.endsWith(suffix);
  return isSafe && !looksEncoded ? text : prefix + toBase64(new TextEncoder().encode(text)) + suffix;
}

/** Decodes a header value. Returns undefined if its characters, Base64 or UTF-8 are invalid. */
export function decodeHeaderValue(header: string): string | undefined {
  // The prefix and the suffix must not share a question mark.
  const isEncoded =
    header.length >= prefix.length + suffix.length && header.startsWith(prefix) && header.endsWith(suffix);
  if (!isEncoded) return /^[\t -~]*$/.test(header) ? header : undefined;
  const base64 = header.slice(prefix.length, -suffix.length);
  // atob accepts spaces and missing padding; the specification does not.
  if (!isBase64(base64)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(fromBase64(base64));
  } catch {
    return undefined;
  }
}

/** Returns the argument of a tool that a header mirrors, by its path. Undefined if the arguments lack it. */
export function mirroredValue(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/**
 * Returns whether an `Mcp-Param-*` header has the same value as the body. Integers are compared as numbers, so 42.0 equals
 * 42. An integer beyond the safe range (2^53 - 1) never matches, because different ones would look equal.
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
