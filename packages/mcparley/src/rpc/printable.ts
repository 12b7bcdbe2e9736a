import { wellFormedJson } from "./well-formed.ts";

/** Properties of a character, as bits. */
const UNSAFE = 1;
const PICTOGRAPHIC = 2;
const MODIFIER = 4;
/** A letter of a script that is written with joiners. */
const JOINABLE = 8;
const KEYCAP_BASE = 16;
const LOOKED_UP = 32;

/** The properties of characters by their code points. A text of megabytes is read character by character, and has few different ones. */
let properties: Uint8Array | undefined;
let patterns: readonly (readonly [property: number, pattern: RegExp])[] | undefined;

/**
 * Unsafe are characters that control a terminal, are invisible, or reorder the text around them: C0 and C1 controls, deletion, line and
 * paragraph separators, direction marks, fillers, variation selectors, tags, and other format characters. Tab and line feed are safe.
 *
 * Literals would be compiled at the start of each server, and Unicode properties take long.
 */
function lookUp(code: number): number {
  patterns ??= [
    [
      UNSAFE,
      String.raw`[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u{13430}-\u{1343f}](?<![\t\n])`,
    ],
    [PICTOGRAPHIC, String.raw`\p{Extended_Pictographic}`],
    [MODIFIER, String.raw`\p{Emoji_Modifier}`],
    [JOINABLE, "[\u0620-\u074a\u0900-\u0dff\u1000-\u109f\u1780-\u17d3]"],
    [KEYCAP_BASE, "[0-9#*]"],
  ].map(([property, source]) => [Number(property), new RegExp(String(source), "u")] as const);
  const character = String.fromCodePoint(code);
  return patterns.reduce((sum, [property, pattern]) => (pattern.test(character) ? sum | property : sum), LOOKED_UP);
}

function propertiesOf(code: number): number {
  properties ??= new Uint8Array(0x11_0000);
  return (properties[code] ||= lookUp(code));
}

/**
 * Returns whether the character at a position is unsafe. Excluded are variation selectors and joiners inside emoji, and joiners between
 * letters of scripts that are written with them.
 */
function isUnsafe(text: string, position: number, code: number): boolean {
  if ((propertiesOf(code) & UNSAFE) === 0) return false;
  const isSelector = code === 0xfe0e || code === 0xfe0f;
  if (!isSelector && code !== 0x200c && code !== 0x200d) return true;
  const previousCode = codeBefore(text, position);
  const propertiesBefore = propertiesOf(previousCode);
  if (isSelector) {
    const isKeycap =
      code === 0xfe0f && text.charCodeAt(position + 1) === 0x20e3 && (propertiesBefore & KEYCAP_BASE) !== 0;
    return !isKeycap && (propertiesBefore & PICTOGRAPHIC) === 0;
  }
  const propertiesAfter = propertiesOf(text.codePointAt(position + 1) ?? 0);
  if ((propertiesBefore & propertiesAfter & JOINABLE) !== 0) return false;
  if (code === 0x200c || (propertiesAfter & PICTOGRAPHIC) === 0) return true;
  if ((propertiesBefore & PICTOGRAPHIC) !== 0) return false;
  const isVariant = previousCode === 0xfe0f || (propertiesBefore & MODIFIER) !== 0;
  return (
    !isVariant || (propertiesOf(codeBefore(text, position - (previousCode > 0xffff ? 2 : 1))) & PICTOGRAPHIC) === 0
  );
}

/** Returns the code point before a position, and 0 at the start. */
function codeBefore(text: string, position: number): number {
  const unit = position === 0 ? 0 : text.charCodeAt(position - 1);
  return unit >= 0xdc00 && unit < 0xe000 ? text.codePointAt(position - 2)! : unit;
}

/** Bytes of UTF-8 that are decoded at a time. */
const CHUNK = 16_384;
/** Maximum bytes of a character or an escape. */
const LONGEST = 12;

/**
 * Replaces the unsafe characters of a well-formed text by their escapes, which are ASCII, and CR LF by LF.
 *
 * Almost no text has an unsafe character, so one is searched first. A text of megabytes of them is written as bytes: a pattern with a
 * function would take ten times as long, and a string for each character several times the memory.
 */
function escapeUnsafe(text: string, escape: (code: number) => string): string {
  const start = findUnsafe(text);
  if (start === -1) return text;
  const decoder = new TextDecoder();
  const parts = [text.slice(0, start)];
  const bytes = new Uint8Array(CHUNK + LONGEST);
  const escapes = new Map<number, Uint8Array>();
  let escapeBytes: Uint8Array = new Uint8Array();
  let escapedCode = -1;
  let length = 0;
  for (let position = start; position < text.length; position++) {
    const code = text.codePointAt(position)!;
    if (code === 13 && text.charCodeAt(position + 1) === 10) continue;
    if (isSafeAscii(code)) bytes[length++] = code;
    else if (isUnsafe(text, position, code)) {
      if (code !== escapedCode) {
        escapeBytes = escapes.get(code) ?? new TextEncoder().encode(escape(code));
        escapes.set(code, escapeBytes);
        escapedCode = code;
      }
      for (const byte of escapeBytes) bytes[length++] = byte;
    } else length = writeCharacter(bytes, length, code);
    if (code > 0xffff) position++;
    if (length < CHUNK) continue;
    parts.push(decoder.decode(bytes.subarray(0, length)));
    length = 0;
  }
  parts.push(decoder.decode(bytes.subarray(0, length)));
  return parts.join("");
}

/** Returns the position of the first unsafe character, or -1. */
function findUnsafe(text: string): number {
  for (let position = 0; position < text.length; position++) {
    const unit = text.charCodeAt(position);
    if (isSafeAscii(unit)) continue;
    const code = text.codePointAt(position)!;
    if (isUnsafe(text, position, code)) return position;
    if (code > 0xffff) position++;
  }
  return -1;
}

function isSafeAscii(code: number): boolean {
  return code < 0x7f && code > 0x1f;
}

/** Writes a character in UTF-8. Returns the position after it. */
function writeCharacter(bytes: Uint8Array, start: number, code: number): number {
  let position = start;
  if (code < 0x80) bytes[position++] = code;
  else if (code < 0x800) bytes[position++] = 0xc0 | (code >> 6);
  else if (code < 0x1_0000) bytes[position++] = 0xe0 | (code >> 12);
  else {
    bytes[position++] = 0xf0 | (code >> 18);
    bytes[position++] = 0x80 | ((code >> 12) & 0x3f);
  }
  if (code >= 0x800) bytes[position++] = 0x80 | ((code >> 6) & 0x3f);
  if (code >= 0x80) bytes[position++] = 0x80 | (code & 0x3f);
  return position;
}

/**
 * Escapes the characters of a text that control a terminal, are invisible, or reorder the text around them.
 *
 * Use it for text of a peer that a terminal or a log shows, such as the error message of a server or the name of a client.
 * Escape sequences become visible: `\x1b[2J`. Tabs, line breaks and emoji are kept. CR LF becomes LF, and a lone surrogate U+FFFD.
 *
 * @example
 * ```ts
 * import { printable } from "mcparley";
 * import { connect } from "mcparley/client";
 *
 * const client = await connect("https://notes.example.com/mcp");
 * console.log(printable(client.server.instructions ?? "no instructions"));
 * ```
 */
export function printable(text: string): string {
  return escapeUnsafe(text.toWellFormed(), (code) =>
    code > 0xff ? `\\u{${code.toString(16)}}` : `\\x${code.toString(16).padStart(2, "0")}`,
  );
}

/**
 * Returns a value as JSON that is safe to show on a terminal or in a log. With `indent`, the number of spaces for each
 * level, it has several lines. Default: one line.
 *
 * `JSON.stringify` leaves DEL, C1 controls, direction marks and invisible characters unescaped. The output of both parses
 * to the same value.
 *
 * @example
 * ```ts
 * import { printableJson } from "mcparley";
 * import { auditTo, createServer } from "mcparley/server";
 *
 * const observers = [auditTo((record) => console.error(printableJson(record)))];
 * const server = createServer({ name: "bank", version: "1.0.0", observers });
 * ```
 */
export function printableJson(value: unknown, indent?: number): string {
  return escapeUnsafe(wellFormedJson(value, indent), (code) => {
    // Unicode escapes of JSON need two units for a character above U+FFFF.
    const units = String.fromCodePoint(code).split("");
    return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  });
}
