import { wellFormedJson } from "./well-formed.ts";

let unsafe: RegExp | undefined;

/**
 * Matches characters that control a terminal, are invisible, or reorder the text around them: C0 and C1 controls, deletion, line
 * and paragraph separators, direction marks, fillers, variation selectors, tags, and other format characters.
 *
 * Excluded are tab and line feed, variation selectors and joiners inside emoji, and joiners between letters of scripts
 * that are written with them.
 *
 * A literal would be compiled at the start of each server, and its Unicode properties take long.
 */
function unsafePattern(): RegExp {
  unsafe ??= new RegExp(
    String.raw`[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u{13430}-\u{1343f}](?<![\t\n]|\p{Extended_Pictographic}[\ufe0e\ufe0f])(?<![\d#*]\ufe0f(?=\u20e3)|\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?\u200d(?=\p{Extended_Pictographic})|[\u0620-\u074a\u0900-\u0dff\u1000-\u109f\u1780-\u17d3][\u200c\u200d](?=[\u0620-\u074a\u0900-\u0dff\u1000-\u109f\u1780-\u17d3]))`,
    "gu",
  );
  return unsafe;
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
  const lines = text.toWellFormed().replaceAll("\r\n", "\n");
  return lines.replace(unsafePattern(), (character) => {
    const code = character.codePointAt(0)!;
    return code > 0xff ? `\\u{${code.toString(16)}}` : `\\x${code.toString(16).padStart(2, "0")}`;
  });
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
  return wellFormedJson(value, indent).replace(unsafePattern(), (found) => {
    // Unicode escapes of JSON need two units for a character above U+FFFF.
    const units = found.split("");
    return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  });
}
