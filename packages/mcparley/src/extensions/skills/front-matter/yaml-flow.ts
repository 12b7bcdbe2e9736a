import type { JsonObject } from "../../../rpc/messages.ts";
import { FrontMatterError } from "./front-matter-error.ts";
import { keyOf, maxDepth, setMember, tooDeep } from "./yaml-key.ts";
import { skipSpaces, trimSpaces } from "./yaml-lines.ts";
import { type Scanned, plainValue, scanQuoted } from "./yaml-scalar.ts";

interface Flow {
  readonly text: string;
  readonly no: number;
  readonly depth: number;
}

/** Reads `[a, b]` or `{a: b}`, which begins at `start` and ends on the same line. */
export function scanFlow(flow: Flow, start: number): Scanned<unknown> {
  const { text, no, depth } = flow;
  if (depth > maxDepth) throw tooDeep(no);
  const isList = text[start] === "[";
  const close = isList ? "]" : "}";
  const list: unknown[] = [];
  const map: JsonObject = {};
  let at = skipSpaces(text, start + 1);
  if (text[at] === close) return { value: isList ? list : map, end: at + 1 };
  for (;;) {
    at = isList ? scanItem(flow, at, list) : scanMember(flow, at, map);
    at = skipSpaces(text, at);
    if (text[at] === close) return { value: isList ? list : map, end: at + 1 };
    if (text[at] !== ",") throw unclear(flow);
    at = skipSpaces(text, at + 1);
  }
}

function scanItem(flow: Flow, at: number, list: unknown[]): number {
  const { value, end } = scanValue(flow, at);
  list.push(value);
  return end;
}

function scanMember(flow: Flow, at: number, map: JsonObject): number {
  const { text, no } = flow;
  const isQuoted = text[at] === '"' || text[at] === "'";
  const key = isQuoted ? scanQuoted(text, at, no) : scanPlainText(flow, at);
  const colon = skipSpaces(text, key.end);
  const isSeparated = isQuoted || text[colon + 1] === " ";
  if (text[colon] !== ":" || !isSeparated) throw unclear(flow);
  const { value, end } = scanValue(flow, skipSpaces(text, colon + 1));
  setMember(map, { key: isQuoted ? key.value : keyOf(key.value, no), value, no });
  return end;
}

function scanValue(flow: Flow, at: number): Scanned<unknown> {
  const { text, no, depth } = flow;
  const first = text[at];
  if (first === '"' || first === "'") return scanQuoted(text, at, no);
  if (first === "[" || first === "{") return scanFlow({ text, no, depth: depth + 1 }, at);
  const { value, end } = scanPlainText(flow, at);
  return { value: plainValue(value, no), end };
}

/** Reads plain text up to what ends it inside brackets. What readers are not at one about is refused. */
function scanPlainText(flow: Flow, start: number): Scanned<string> {
  const { text } = flow;
  if (!/^(?:[^\s,[\]{}#&*!|>'"%@`:?-]|-[\d.])/.test(text.slice(start, start + 2))) throw unclear(flow);
  let end = start;
  while (end < text.length && !/[,[\]{}]/.test(text[end]!)) {
    if (text[end] === "#" || text[end] === '"') throw unclear(flow);
    if (text[end] === ":" && /[\s,[\]{}]/.test(text[end + 1] ?? " ")) break;
    end++;
  }
  return { value: trimSpaces(text.slice(start, end)), end };
}

function unclear({ no }: Flow): FrontMatterError {
  const cure = "Close it on its line and put its texts into quotes, or write one entry on each line.";
  return new FrontMatterError("what stands in brackets cannot be read", no, cure);
}
