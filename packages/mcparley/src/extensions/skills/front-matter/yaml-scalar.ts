import { FrontMatterError } from "./front-matter-error.ts";
import { trimSpaces } from "./yaml-lines.ts";

const words = new Map<string, boolean | null>([
  ...["null", "Null", "NULL", "~", ""].map((word) => [word, null] as const),
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
]);

const decimal = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;
const prefixed = /^0(?:x[\da-fA-F]+|o[0-7]+)$/;
const special = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** The value of a plain scalar, by the core schema of YAML 1.2 (section 10.3.2). */
export function plainValue(text: string, no: number): string | number | boolean | null {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (!decimal.test(text) && !prefixed.test(text) && !special.test(text)) return text;
  const number = special.test(text) ? NaN : Number(text);
  if (Number.isFinite(number)) return number;
  throw new FrontMatterError(`${text} cannot be said in JSON`, no, "Put it into quotes.");
}

/** Takes a comment away from the end of a plain scalar, which " #" begins. */
export function withoutComment(text: string): string {
  const comment = text.indexOf(" #");
  return trimSpaces(comment === -1 ? text : text.slice(0, comment));
}

export interface Scanned<T> {
  readonly value: T;
  /** The position after it. */
  readonly end: number;
}

const escapes = new Map(
  Object.entries({
    "0": "\0",
    a: "\u0007",
    b: "\b",
    t: "\t",
    n: "\n",
    v: "\v",
    f: "\f",
    r: "\r",
    e: "\u001B",
    " ": " ",
    '"': '"',
    "/": "/",
    "\\": "\\",
    N: "\u0085",
    _: "\u00A0",
    L: "\u2028",
    P: "\u2029",
  }),
);
const hexDigits: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Reads a quoted scalar that begins at `start` and ends on the same line. */
export function scanQuoted(text: string, start: number, no: number): Scanned<string> {
  const quote = text[start];
  let value = "";
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at]!;
    if (char === quote && (quote === '"' || text[at + 1] !== "'")) return { value, end: at + 1 };
    if (char === quote) at++;
    if (quote === '"' && char === "\\") {
      const escape = scanEscape(text, at, no);
      value += escape.value;
      at = escape.end - 1;
    } else value += char;
  }
  throw new FrontMatterError(
    "the quotes are not closed on their line",
    no,
    "Close them, or write a long text as a block after >.",
  );
}

function scanEscape(text: string, at: number, no: number): Scanned<string> {
  const letter = text[at + 1] ?? "";
  const simple = escapes.get(letter);
  if (simple !== undefined) return { value: simple, end: at + 2 };
  const length = hexDigits[letter] ?? 0;
  const digits = text.slice(at + 2, at + 2 + length);
  const code = /^[\da-fA-F]+$/.test(digits) && digits.length === length ? Number.parseInt(digits, 16) : Infinity;
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  if (code <= 0x10ffff && !isSurrogate) return { value: String.fromCodePoint(code), end: at + 2 + length };
  throw new FrontMatterError(`YAML knows no escape \\${letter}${digits}`, no, "Write \\\\ for a backslash.");
}
