import truncatedWidth from "fast-string-truncated-width";
import { printable } from "mcparley";

/** Makes untrusted text safe to show on one line: white space becomes single spaces, and unsafe characters are escaped. */
export function visibleLine(text: string): string {
  // U+2800 is an empty braille cell, which looks like a space.
  return printable(text.replace(/[\s\u2800]+/g, " ").trim());
}

/** Returns the number of columns of a line on a terminal, in linear time. Colours take none. */
export function widthOf(line: string): number {
  return truncatedWidth(line).width;
}

/** Cuts a line to at most `width` columns, in linear time. The last column of a cut line is "…". */
export function cut(line: string, width: number): string {
  const { index, truncated } = truncatedWidth(line, { limit: width, ellipsis: "…", ellipsisWidth: 1 });
  return truncated ? `${line.slice(0, index)}…` : line;
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
  let taken = widthOf(indent);
  let before = indent;
  for (const word of line.slice(indent.length).split(" ")) {
    const needed = widthOf(word);
    if (words.length > 0 && taken + 1 + needed > width) {
      lines.push(before + words.join(" "));
      before = " ".repeat(indent.length);
      words = [];
      taken = indent.length;
    }
    taken += words.length === 0 ? needed : needed + 1;
    words.push(word);
  }
  return [...lines, before + words.join(" ")];
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
  const wanted = isTerminal && !env.NO_COLOR && env.TERM !== "dumb";
  const mark =
    (open: number, close: number) =>
    (text: string): string =>
      wanted && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: mark(1, 22),
    dim: mark(2, 22),
    red: mark(31, 39),
    yellow: mark(33, 39),
    inverse: mark(7, 27),
  };
}
