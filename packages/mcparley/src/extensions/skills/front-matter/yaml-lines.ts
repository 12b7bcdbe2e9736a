import { FrontMatterError } from "./front-matter-error.ts";

/** One line of YAML. */
export interface Line {
  /** Its number in the whole file, from 1. */
  readonly no: number;
  /** How many spaces it begins with. */
  readonly indent: number;
  /** What follows them, without spaces at the end. */
  readonly text: string;
  readonly raw: string;
}

/** How far the lines have been read. */
export interface Cursor {
  readonly lines: Line[];
  at: number;
}

/** Splits YAML into lines; `first` is the number that the first has in its file. */
export function toLines(yaml: string, first: number): Line[] {
  const raws = yaml.split("\n");
  if (raws.at(-1) === "") raws.pop();
  return raws.map((raw, index) => {
    const no = first + index;
    const odd = /[^\t\x20-\x7e\x80-\ud7ff\ud800-\ufefe\uff00-\ufffd]/.exec(raw);
    if (odd) throw new FrontMatterError(`the character ${showCode(odd[0])} is not allowed in YAML`, no);
    const indent = skipSpaces(raw, 0);
    return { no, indent, text: trimSpaces(raw), raw };
  });
}

/** The position after the spaces at `at`. */
export function skipSpaces(text: string, at: number): number {
  let end = at;
  while (text[end] === " ") end++;
  return end;
}

/** Takes spaces away from both ends, and no other white space: YAML knows no other. */
export function trimSpaces(text: string): string {
  let end = text.length;
  while (text[end - 1] === " ") end--;
  return text.slice(Math.min(end, skipSpaces(text, 0)), end);
}

function showCode(character: string): string {
  return `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The next line that holds more than a comment; undefined at the end. Moves the cursor to it. */
export function peek(cursor: Cursor): Line | undefined {
  for (; cursor.at < cursor.lines.length; cursor.at++) {
    const line = cursor.lines[cursor.at]!;
    if (line.text === "" || (line.text.startsWith("#") && !line.raw.includes("\t"))) continue;
    refuseTabs(line);
    return line;
  }
  return undefined;
}

/** A tab may stand for any number of columns, so readers differ on what it means. */
export function refuseTabs({ raw, no }: Line): void {
  if (raw.includes("\t")) throw new FrontMatterError("there is a tab", no, "Write spaces.");
}

export function isItem(text: string): boolean {
  return text === "-" || text.startsWith("- ");
}
