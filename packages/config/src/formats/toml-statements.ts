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
    const offset = skipBlanks(text, start);
    const first = text[offset];
    if (first === undefined || first === "#" || first === "\n" || first === "\r") {
      start = nextLine(text, offset);
      continue;
    }
    if (first === "[") {
      const isArray = text[offset + 1] === "[";
      const { keys, next } = readKeys(text, offset + (isArray ? 2 : 1));
      const end = nextLine(text, next);
      header = keys;
      statements.push({ kind: isArray ? "array" : "table", path: keys, header, start, end, value: [next, next] });
      start = end;
      continue;
    }
    const { keys, next } = readKeys(text, offset);
    // The character at `next` is the equals sign.
    const valueStart = skipBlanks(text, next + 1);
    const valueEnd = skipValue(text, valueStart);
    const end = nextLine(text, valueEnd);
    statements.push({ kind: "pair", path: [...header, ...keys], header, start, end, value: [valueStart, valueEnd] });
    start = end;
  }
  return statements;
}

function skipBlanks(text: string, offset: number): number {
  while (text[offset] === " " || text[offset] === "\t") offset += 1;
  return offset;
}

/** Reads a dotted key. Returns its parts and the offset of the character after it: `=` or `]`. */
function readKeys(text: string, offset: number): { keys: string[]; next: number } {
  const keys: string[] = [];
  for (;;) {
    const keyStart = skipBlanks(text, offset);
    const quote = text[keyStart];
    let keyEnd = keyStart;
    if (quote === '"' || quote === "'") keyEnd = skipString(text, keyStart);
    else while (/[\w-]/.test(text[keyEnd] ?? "")) keyEnd += 1;
    keys.push(quote === '"' || quote === "'" ? unquote(text.slice(keyStart, keyEnd)) : text.slice(keyStart, keyEnd));
    const next = skipBlanks(text, keyEnd);
    if (text[next] !== ".") return { keys, next };
    offset = next + 1;
  }
}

function unquote(key: string): string {
  if (!key.includes("\\") || key.startsWith("'")) return key.slice(1, -1);
  const [unquotedKey = ""] = Object.keys(parse(`${key} = 1`));
  return unquotedKey;
}

/** Returns the offset after a string that starts at `from`. */
function skipString(text: string, start: number): number {
  const quote = text.charAt(start);
  const isMultiline = text.startsWith(quote.repeat(3), start);
  const close = isMultiline ? quote.repeat(3) : quote;
  let offset = start + close.length;
  while (offset < text.length && !text.startsWith(close, offset))
    offset += quote === '"' && text[offset] === "\\" ? 2 : 1;
  offset += close.length;
  if (!isMultiline) return offset;
  // A multi-line string may end with one or two quotes of its content.
  while (text[offset] === quote) offset += 1;
  return offset;
}

/** Returns the offset after the value that starts at `from`. */
function skipValue(text: string, start: number): number {
  let depth = 0;
  let offset = start;
  while (offset < text.length) {
    const character = text[offset];
    if (character === '"' || character === "'") {
      offset = skipString(text, offset);
      if (depth === 0) return offset;
      continue;
    }
    if (character === "#") {
      if (depth === 0) break;
      offset = nextLine(text, offset);
      continue;
    }
    if (character === "\n" && depth === 0) break;
    if (character === "[" || character === "{") depth += 1;
    if (character === "]" || character === "}") depth -= 1;
    offset += 1;
    if (depth === 0 && (character === "]" || character === "}")) return offset;
  }
  while (/[ \t\r]/.test(text[offset - 1] ?? "")) offset -= 1;
  return offset;
}
