import stringWidth from "fast-string-width";

/**
 * Characters that control a terminal, or hide or reorder text on it: C0 and C1 controls, deletion, direction marks,
 * line and paragraph separators, and the invisible tag characters. Tab and line feed are allowed.
 */
const unsafe =
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** Makes untrusted text safe to show: escapes characters that control the terminal or reorder text. */
export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(unsafe, escape);
}

/** Does the same on one line: line breaks and tabs become spaces. */
export function visibleLine(text: string): string {
  return visible(text.replace(/\s+/g, " ").trim());
}

function escape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16).padStart(2, "0");
  return code <= 0xff ? `\\x${hex}` : `\\u{${hex}}`;
}

/** Returns the number of columns of a line on a terminal, in linear time. Colours take none. */
export function widthOf(line: string): number {
  return stringWidth(line);
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
