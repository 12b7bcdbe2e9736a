import { FrontMatterError } from "./front-matter-error.ts";
import type { Cursor, Line } from "./yaml-lines.ts";

/** Reads the text after `|` or `>`: the lines that are indented more than `parent`. */
export function readBlockText(cursor: Cursor, header: string, { no, parent }: { no: number; parent: number }): string {
  const match = /^([|>])([-+]?)(?: +#.*)?$/.exec(header);
  if (!match) {
    const cure = "Write | or >, with - or + after it where the end of the text matters.";
    throw new FrontMatterError("the sign that begins the text cannot be read", no, cure);
  }
  const lines = takeLines(cursor, parent);
  const last = lines.findLastIndex((line) => line !== "");
  const blank = lines.length - last - 1;
  const body = lines.slice(0, last + 1);
  const text = match[1] === "|" ? body.join("\n") : fold(body);
  if (match[2] === "-") return text;
  if (match[2] === "+") return text + "\n".repeat(last === -1 ? blank : blank + 1);
  return last === -1 ? "" : `${text}\n`;
}

function takeLines(cursor: Cursor, parent: number): string[] {
  const taken: Line[] = [];
  for (; cursor.at < cursor.lines.length; cursor.at++) {
    const line = cursor.lines[cursor.at]!;
    if (line.text !== "" && line.indent <= parent) break;
    taken.push(line);
  }
  const first = taken.find(({ text }) => text !== "");
  const indent = first ? first.indent : Infinity;
  return taken.map((line) => {
    if (line.text === "" ? line.raw.length > indent || line.raw.includes("\t") : line.indent < indent) {
      throw new FrontMatterError("the line is not indented like the text that it belongs to", line.no);
    }
    return line.text === "" ? "" : line.raw.slice(indent);
  });
}

/** Joins lines by spaces, except around empty lines and lines that are indented further (YAML 1.2, section 8.1.3). */
function fold(lines: readonly string[]): string {
  let text = "";
  let empty = 0;
  let previous: string | undefined;
  for (const line of lines) {
    if (line === "") {
      empty++;
      continue;
    }
    const isApart = isFurther(line) || isFurther(previous ?? "");
    if (previous === undefined) text += "\n".repeat(empty);
    else if (isApart) text += "\n".repeat(empty + 1);
    else text += empty === 0 ? " " : "\n".repeat(empty);
    text += line;
    previous = line;
    empty = 0;
  }
  return text;
}

function isFurther(line: string): boolean {
  return line.startsWith(" ") || line.startsWith("\t");
}
