import { parse } from "smol-toml";
import { nextLine } from "./positions.ts";

/** A table header or a pair of a TOML text. */
export interface Statement {
  readonly kind: "table" | "array" | "pair";
  /** The keys from the root to the table or to the value. */
  readonly path: readonly string[];
  /** The keys of the header under which the statement stands. */
  readonly header: readonly string[];
  /** The offsets of the first character of the line and of the line after the statement. */
  readonly start: number;
  readonly end: number;
  /** The offsets of the value of a pair. */
  readonly value: readonly [number, number];
}

/** Returns the statements of a valid TOML text. Takes linear time. */
export function statementsIn(text: string): Statement[] {
  const statements: Statement[] = [];
  let header: readonly string[] = [];
  for (let start = 0; start < text.length;) {
    const at = skipBlanks(text, start);
    const first = text[at];
    if (first === undefined || first === "#" || first === "\n" || first === "\r") {
      start = nextLine(text, at);
      continue;
    }
    if (first === "[") {
      const isArray = text[at + 1] === "[";
      const { keys, next } = readKeys(text, at + (isArray ? 2 : 1));
      const end = nextLine(text, next);
      header = keys;
      statements.push({ kind: isArray ? "array" : "table", path: keys, header, start, end, value: [next, next] });
      start = end;
      continue;
    }
    const { keys, next } = readKeys(text, at);
    // The character at `next` is the equals sign.
    const from = skipBlanks(text, next + 1);
    const to = skipValue(text, from);
    const end = nextLine(text, to);
    statements.push({ kind: "pair", path: [...header, ...keys], header, start, end, value: [from, to] });
    start = end;
  }
  return statements;
}

function skipBlanks(text: string, at: number): number {
  while (text[at] === " " || text[at] === "\t") at += 1;
  return at;
}

/** Reads a dotted key. Returns its parts and the offset of the character after it: `=` or `]`. */
function readKeys(text: string, at: number): { keys: string[]; next: number } {
  const keys: string[] = [];
  for (;;) {
    const from = skipBlanks(text, at);
    const quote = text[from];
    let to = from;
    if (quote === '"' || quote === "'") to = skipString(text, from);
    else while (/[\w-]/.test(text[to] ?? "")) to += 1;
    keys.push(quote === '"' || quote === "'" ? unquote(text.slice(from, to)) : text.slice(from, to));
    const next = skipBlanks(text, to);
    if (text[next] !== ".") return { keys, next };
    at = next + 1;
  }
}

function unquote(key: string): string {
  if (!key.includes("\\") || key.startsWith("'")) return key.slice(1, -1);
  const [unquoted = ""] = Object.keys(parse(`${key} = 1`));
  return unquoted;
}

/** Returns the offset after a string that starts at `from`. */
function skipString(text: string, from: number): number {
  const quote = text.charAt(from);
  const isMultiline = text.startsWith(quote.repeat(3), from);
  const close = isMultiline ? quote.repeat(3) : quote;
  let at = from + close.length;
  while (at < text.length && !text.startsWith(close, at)) at += quote === '"' && text[at] === "\\" ? 2 : 1;
  at += close.length;
  if (!isMultiline) return at;
  // A multi-line string may end with one or two quotes of its content.
  while (text[at] === quote) at += 1;
  return at;
}

/** Returns the offset after the value that starts at `from`. */
function skipValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const character = text[at];
    if (character === '"' || character === "'") {
      at = skipString(text, at);
      if (depth === 0) return at;
      continue;
    }
    if (character === "#") {
      if (depth === 0) break;
      at = nextLine(text, at);
      continue;
    }
    if (character === "\n" && depth === 0) break;
    if (character === "[" || character === "{") depth += 1;
    if (character === "]" || character === "}") depth -= 1;
    at += 1;
    if (depth === 0 && (character === "]" || character === "}")) return at;
  }
  while (/[ \t\r]/.test(text[at - 1] ?? "")) at -= 1;
  return at;
}
