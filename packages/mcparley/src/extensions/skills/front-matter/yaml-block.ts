import type { JsonObject } from "../../../rpc/messages.ts";
import { FrontMatterError } from "./front-matter-error.ts";
import { readBlockText } from "./yaml-block-text.ts";
import { scanFlow } from "./yaml-flow.ts";
import { keyOf, maxDepth, setMember, tooDeep } from "./yaml-key.ts";
import { type Cursor, type Line, isItem, peek, refuseTabs, trimSpaces } from "./yaml-lines.ts";
import { plainValue, scanQuoted, withoutComment } from "./yaml-scalar.ts";

/** Where a value stands: indented more than `parent`, on line `no`. */
interface Place {
  readonly parent: number;
  readonly no: number;
  readonly depth: number;
  /** Whether a list may begin in the column of its key. */
  readonly afterKey: boolean;
}

/** Reads a mapping whose keys stand in one column. `onKey` is told of each key and its line. */
export function readMapping(
  cursor: Cursor,
  { indent, depth, onKey }: { indent: number; depth: number; onKey?: (key: string, no: number) => void },
): JsonObject {
  const map: JsonObject = {};
  for (let line = peek(cursor); line && line.indent >= indent && !isItem(line.text); line = peek(cursor)) {
    const entry = line.indent === indent ? splitKey(line) : undefined;
    if (!entry) throw unclear(line);
    cursor.at++;
    onKey?.(entry.key, line.no);
    const value = readValue(cursor, entry.rest, { parent: indent, no: line.no, depth: depth + 1, afterKey: true });
    setMember(map, { key: entry.key, value, no: line.no });
  }
  return map;
}

function readList(cursor: Cursor, indent: number, depth: number): unknown[] {
  const list: unknown[] = [];
  for (let line = peek(cursor); line && line.indent >= indent; line = peek(cursor)) {
    if (line.indent > indent) throw unclear(line);
    if (!isItem(line.text)) break;
    const rest = trimSpaces(line.text.slice(1));
    const column = indent + line.text.length - rest.length;
    if (isItem(rest)) throw new FrontMatterError("a list in a list begins on its line", line.no, "Begin a new line.");
    if (rest !== "" && splitKey({ ...line, text: rest })) {
      // The mapping goes on below, in the column of its first key.
      cursor.lines[cursor.at] = { ...line, indent: column, text: rest };
      if (depth >= maxDepth) throw tooDeep(line.no);
      list.push(readMapping(cursor, { indent: column, depth: depth + 1 }));
    } else {
      cursor.at++;
      list.push(readValue(cursor, rest, { parent: indent, no: line.no, depth: depth + 1, afterKey: false }));
    }
  }
  return list;
}

/** Reads what stands after `key:` or `-`, on that line and on those below that belong to it. */
function readValue(cursor: Cursor, rest: string, place: Place): unknown {
  if (place.depth > maxDepth) throw tooDeep(place.no);
  if (rest !== "" && !rest.startsWith("#")) return readScalar(cursor, rest, place);
  const from = cursor.at;
  const next = peek(cursor);
  if (!next || next.indent < place.parent) return null;
  const isBelow = next.indent > place.parent;
  if (isItem(next.text) && (isBelow || place.afterKey)) return readList(cursor, next.indent, place.depth);
  if (!isBelow) return null;
  if (splitKey(next)) return readMapping(cursor, { indent: next.indent, depth: place.depth });
  // Readers differ on a comment between a key and the text below it.
  if (cursor.lines.slice(from, cursor.at).some(({ text }) => text !== "")) throw unclear(next);
  cursor.at++;
  return readScalar(cursor, next.text, { ...place, no: next.no });
}

function readScalar(cursor: Cursor, text: string, place: Place): unknown {
  const { no, depth, parent } = place;
  const first = text[0]!;
  if (first === "|" || first === ">") return readBlockText(cursor, text, place);
  if (first === '"' || first === "'" || first === "[" || first === "{") {
    const scanned = first === "[" || first === "{" ? scanFlow({ text, no, depth }, 0) : scanQuoted(text, 0, no);
    const after = text.slice(scanned.end);
    if (trimSpaces(after) !== "" && !/^ +#/.test(after)) {
      throw new FrontMatterError("text follows the closing sign", no, "Put the whole value into quotes.");
    }
    const next = peek(cursor);
    if (next && next.indent > parent) throw unclear(next);
    return scanned.value;
  }
  return plainValue(readPlain(cursor, text, place), no);
}

/** Reads a plain scalar with the lines that continue it: a line end is a space, an empty line a line end. */
function readPlain(cursor: Cursor, text: string, { no, parent }: Place): string {
  let value = plainPart(text, no);
  let isOver = hasComment(text);
  let empty = 0;
  for (; cursor.at < cursor.lines.length; cursor.at++) {
    const line = cursor.lines[cursor.at]!;
    if (line.text === "") {
      empty++;
      continue;
    }
    if (line.indent <= parent || line.text.startsWith("#")) break;
    refuseTabs(line);
    if (isOver || isItem(line.text)) throw unclear(line);
    value += (empty === 0 ? " " : "\n".repeat(empty)) + plainPart(line.text, line.no);
    isOver = hasComment(line.text);
    empty = 0;
  }
  return value;
}

function hasComment(text: string): boolean {
  return text.includes(" #");
}

function plainPart(text: string, no: number): string {
  const part = withoutComment(text);
  if (/^(?:[#&*!|>%@`,\]}"'[{]|[?:-](?: |$))/.test(part)) {
    throw new FrontMatterError(`a text cannot begin with ${part[0]}`, no, "Put it into quotes.");
  }
  if (/:(?: |$)/.test(part)) throw new FrontMatterError("the text holds a colon", no, "Put it into quotes.");
  return part;
}

/** The key of `key: value`, and the rest; undefined where the text is something else. */
function splitKey({ text, no }: Line): { key: string; rest: string } | undefined {
  const isQuoted = text.startsWith('"') || text.startsWith("'");
  if (isQuoted) {
    const { value, end } = scanQuoted(text, 0, no);
    return /^:(?: |$)/.test(text.slice(end, end + 2))
      ? { key: value, rest: trimSpaces(text.slice(end + 1)) }
      : undefined;
  }
  if (/^[[\]{}&*!|>%@`#,?:-]/.test(text)) return undefined;
  const colon = `${text} `.indexOf(": ");
  const key = text.slice(0, Math.max(0, colon));
  if (colon === -1 || hasComment(key)) return undefined;
  return { key: keyOf(trimSpaces(key), no), rest: trimSpaces(text.slice(colon + 1)) };
}

function unclear({ no }: Line): FrontMatterError {
  const cure = "Check the indentation, and put a text that holds a colon or a sign into quotes.";
  return new FrontMatterError("the line is no part of what stands above it", no, cure);
}
