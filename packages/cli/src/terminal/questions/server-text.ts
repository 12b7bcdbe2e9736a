import { printable } from "mcparley";
import type { View } from "../screen.ts";
import { breakLine, brokenLines, cut, visibleLine, widthOf } from "../text.ts";

/** Stands before each line of a text that somebody else wrote, so that it cannot look like a line of this command. */
export const gutter = "  │ ";

/** Maximum columns of a text. */
const widest = 120;

/** Minimum columns of a text beside its prefix. */
const leastColumns = 10;

/** Maximum columns of a name or a title. The end of a longer one is replaced by "…". */
const longest = 240;

/** Maximum lines of a text. The others are shown if the user asks for them. */
export const maxLines = 40;

/**
 * Returns the lines of an untrusted text, made safe, each with `prefix`.
 *
 * Words that are wider than the terminal are broken. Otherwise the terminal would continue them in the first column, where
 * only this command writes.
 */
export function serverLines(text: string, view: View, prefix: string = gutter): string[] {
  const lines = brokenLines(printable(text).trim(), Math.max(columnsOf(view) - widthOf(prefix), leastColumns));
  return lines.map((line) => (prefix + line).trimEnd());
}

/**
 * Returns the lines of an untrusted text that must be read exactly, such as JSON. They are broken at the width, and nothing is
 * removed: not even spaces at a break.
 */
export function exactLines(text: string, view: View, prefix: string): string[] {
  const columns = Math.max(columnsOf(view) - widthOf(prefix), leastColumns);
  const lines = printable(text).split("\n");
  return lines.flatMap((line) => breakLine(line, columns)).map((line) => prefix + line);
}

/** Returns a line of this command, broken at the width. `safe` can have colours; texts of servers in it are made safe. */
export function ownLines(safe: string, view: View, indents: readonly [string, string] = ["", "  "]): string[] {
  const [first, next] = indents;
  const lines = brokenLines(safe, Math.max(columnsOf(view) - Math.max(widthOf(first), widthOf(next)), leastColumns));
  return lines.map((line, index) => (index === 0 ? first : next) + line);
}

/** Returns a fact with its label. Further lines of the fact begin below its first one. */
export function row(label: string, safe: string, view: View): string[] {
  const start = `  ${label.padEnd(13)} `;
  return ownLines(safe, view, [start, " ".repeat(start.length)]);
}

/** Returns a name for a sentence, on one line. Quotes in it are escaped, so that the name ends at the last one. */
export function quoteName(name: string): string {
  return cut(visibleLine(JSON.stringify(name)), longest);
}

/**
 * Returns a remark about the characters of a name outside of printable ASCII, which can look like others or be invisible. Undefined if it has
 * none. In a name, the host states each of them as well.
 */
export function remarkOnName(name: string): string | undefined {
  const characters = [...new Set(name)].filter((character) => !/[ -~]/.test(character));
  if (characters.length === 0) return undefined;
  const shownCharacters = characters.slice(0, 5).map((character) => {
    const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    return `"${visibleLine(character)}" (U+${code})`;
  });
  const note = characters.length > 5 ? ` and ${characters.length - 5} more` : "";
  return `The name contains characters that can look like other ones: ${shownCharacters.join(", ")}${note}.`;
}

/** Returns a title or another short text of a server, on one line. */
export function shortLine(text: string): string {
  return cut(visibleLine(text), longest);
}

/** A text, or a part of it. */
export interface Excerpt {
  readonly lines: readonly string[];
  /** Whether a part is left out. A line of the excerpt states it. */
  readonly isCut: boolean;
}

/** Returns the first and the last lines of a text, and how many are left out between them. */
export function excerpt(lines: readonly string[], { style }: View, most: number = maxLines): Excerpt {
  if (lines.length <= most) return { lines, isCut: false };
  const tailLength = Math.floor(most / 4);
  const headLength = most - tailLength;
  const hiddenCount = lines.length - headLength - tailLength;
  const note = style.yellow(`  … ${hiddenCount} ${hiddenCount === 1 ? "line is" : "lines are"} not shown`);
  return {
    lines: [...lines.slice(0, headLength), note, ...(tailLength > 0 ? lines.slice(-tailLength) : [])],
    isCut: true,
  };
}

function columnsOf({ width }: View): number {
  return Math.min(width, widest);
}
