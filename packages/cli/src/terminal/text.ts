import truncatedWidth from "fast-string-truncated-width";
import { printable } from "mcparley";

/** Maximum UTF-16 units of a text that one line shows. It is more than a person reads. */
const shownUnits = 65_536;

/**
 * Makes untrusted text safe to show on one line: white space becomes single spaces, and unsafe characters are escaped. The end of a text of
 * more than 65,536 UTF-16 units is replaced by its length.
 */
export function visibleLine(text: string): string {
  const hiddenUnits = text.length - shownUnits;
  // U+2800 is an empty braille cell, which looks like a space.
  const line = printable(
    text
      .slice(0, shownUnits)
      .replace(/[\s\u2800]+/g, " ")
      .trim(),
  );
  return hiddenUnits > 0 ? `${line}… (${hiddenUnits} more characters)` : line;
}

/** UTF-16 units that are measured at a time. The library throws for megabytes of combining marks. */
const measuredUnits = 65_536;

/** The vowels and final consonants of decomposed Korean. A terminal draws them within the two columns of the consonant before. */
const joinedLetters = /[\u1160-\u11ff\ud7b0-\ud7ff]/g;

/** Returns the number of columns of a line on a terminal, in linear time. Colours take none. */
export function widthOf(line: string): number {
  let width = 0;
  const text = line.replace(joinedLetters, "");
  for (let start = 0; start < text.length; start += measuredUnits) {
    width += truncatedWidth(text.slice(start, start + measuredUnits)).width;
  }
  return width;
}

/** Cuts a line to at most `width` columns, in linear time. The last column of a cut line is "…". */
export function cut(line: string, width: number): string {
  const end = endOfRow(line, width, "…");
  return end < line.length ? `${line.slice(0, end)}…` : line;
}

/** Maximum UTF-16 units for each column: a character with many combining marks, or colours. */
const unitsPerColumn = 8;

/**
 * Returns the number of UTF-16 units at the start of a line that fit into a row of `width` columns, with the `ellipsis` if the line is
 * longer. Combining marks beyond 8 for each column do not fit.
 *
 * Only the start of the line is measured: for some scripts the library reads the whole rest of a line, so that breaking a long line into
 * rows would take quadratic time.
 */
export function endOfRow(line: string, width: number, ellipsis = ""): number {
  if (width === Infinity) return line.length;
  const most = width * unitsPerColumn;
  const isPairCut = most > 0 && (line.codePointAt(most - 1) ?? 0) > 0xffff;
  const start = line.slice(0, isPairCut ? most + 1 : most);
  const text = start.replace(joinedLetters, "");
  const { index, truncated } = truncatedWidth(text, { limit: width, ellipsis, ellipsisWidth: ellipsis.length });
  return truncated ? endWithJoined(start, index) : start.length;
}

/** Returns the end in a line of its first `units` UTF-16 units that are no joined letters, with the joined letters behind them. */
function endWithJoined(line: string, units: number): number {
  let end = units;
  for (const { index } of line.matchAll(joinedLetters)) {
    if (index > end) return end;
    end++;
  }
  return end;
}

/**
 * Breaks a line into rows of at most `width` columns, also within words, in linear time. Nothing is removed. The first row has at most
 * `first` columns.
 */
export function breakLine(line: string, width: number, first: number = width): string[] {
  const rows: string[] = [];
  let remainder = line;
  for (;;) {
    const end = endOfRow(remainder, rows.length === 0 ? first : width);
    if (end === remainder.length || end === 0) return [...rows, remainder];
    rows.push(remainder.slice(0, end));
    remainder = remainder.slice(end);
  }
}

/**
 * Breaks text at spaces into lines of at most `width` columns. Keeps existing line breaks. A longer word is not broken,
 * so that it can be copied.
 */
export function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, Math.max(width, 10)));
}

function wrapLine(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line];
  const indent = /^\s*(?:[-*] |\d+\. )?/.exec(line)?.[0] ?? "";
  const lines: string[] = [];
  let words: string[] = [];
  let columns = widthOf(indent);
  let prefix = indent;
  for (const word of line.slice(indent.length).split(" ")) {
    const wordWidth = widthOf(word);
    if (words.length > 0 && columns + 1 + wordWidth > width) {
      lines.push(prefix + words.join(" "));
      prefix = " ".repeat(indent.length);
      words = [];
      columns = indent.length;
    }
    columns += words.length === 0 ? wordWidth : wordWidth + 1;
    words.push(word);
  }
  return [...lines, prefix + words.join(" ")];
}

/** Breaks text at spaces into lines of at most `width` columns, and words that are longer within them. */
export function brokenLines(text: string, width: number): string[] {
  return wrap(text, width).flatMap((line) => breakLine(line, width));
}

/** Returns a number with its noun, such as "1 tool" or "1,200 lines". */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

type Mark = (text: string) => string;

/** Colours text for a terminal. Every function returns the text unchanged if colours are off. */
export interface Style {
  readonly bold: Mark;
  readonly dim: Mark;
  readonly red: Mark;
  readonly yellow: Mark;
  /** Stands out as much as the terminal can. */
  readonly inverse: Mark;
}

/** Colours for a stream: on a terminal, unless NO_COLOR (https://no-color.org) is set or the terminal is dumb. */
export function styleFor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): Style {
  const hasColours = isTerminal && !env.NO_COLOR && env.TERM !== "dumb";
  const mark =
    (open: number, close: number) =>
    (text: string): string =>
      hasColours && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: mark(1, 22),
    dim: mark(2, 22),
    red: mark(31, 39),
    yellow: mark(33, 39),
    inverse: mark(7, 27),
  };
}
