import { pointerStep } from "@mcparley/internal/json-pointer";

/** Maximum depth of arguments. It is the limit of the library's servers. */
const MAX_DEPTH = 64;
/** Maximum number of values in arguments. It is the limit of the library's servers. */
const MAX_VALUES = 100_000;

/** A number whose digits JavaScript would change. */
export interface NumberIssue {
  /** The number as it was written. */
  readonly literal: string;
  /** The position of its first character. */
  readonly start: number;
  readonly path: readonly (string | number)[];
  readonly pointer: string;
  /** Whether the number is within the range of a double. */
  readonly isFinite: boolean;
}

type Scan = { readonly numbers: readonly NumberIssue[] } | { readonly problem: string };

/** An object or array that is not closed yet. */
interface Container {
  /** The names so far, of an object. */
  readonly names: Set<string> | undefined;
  /** The name of the current member, or the index of the current item. */
  key: string | number;
}

/**
 * Finds in JSON text what `JSON.parse` would change without an error: numbers that are rounded, and members that occur twice. It
 * also checks the limits of depth and size. Text that is not JSON can have any result. Each character is read once.
 */
export function scanJson(text: string): Scan {
  const open: Container[] = [];
  const numbers: NumberIssue[] = [];
  let values = 0;
  let index = 0;
  while (index < text.length) {
    const start = index;
    const char = text.charAt(index++);
    const container = open.at(-1);
    if (char === '"') {
      index = endOfString(text, start);
      if (!container?.names || !isName(text, index)) continue;
      const problem = enterMember(container, text.slice(start, index), open);
      if (problem !== undefined) return { problem };
    } else if (isNumberPart(char)) {
      while (isNumberPart(text.charAt(index))) index++;
      const literal = text.slice(start, index);
      if (isChanged(literal)) numbers.push(issueAt(literal, start, open));
    } else if (char === "{" || char === "[") {
      if (open.length >= MAX_DEPTH) return { problem: `The arguments are nested deeper than ${MAX_DEPTH} levels.` };
      open.push(char === "{" ? { names: new Set(), key: "" } : { names: undefined, key: 0 });
      values++;
    } else if (char === "}" || char === "]") {
      open.pop();
    } else if (char === ",") {
      if (typeof container?.key === "number") container.key++;
      values++;
    }
    if (values > MAX_VALUES) return { problem: `The arguments have more than ${MAX_VALUES} values.` };
  }
  return { numbers };
}

/** Returns the index after the quote that ends a string. A regular expression could exhaust the stack on a long string. */
function endOfString(text: string, start: number): number {
  for (let from = start + 1; ;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return text.length;
    let escapes = 0;
    while (text[quote - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return quote + 1;
    from = quote + 1;
  }
}

/** Returns whether a character can occur in a number. Letters of `true` and `false` among them form no number. */
function isNumberPart(char: string): boolean {
  return (char >= "0" && char <= "9") || char === "-" || char === "+" || char === "." || char === "e" || char === "E";
}

/** Returns whether a string that ends at an index is the name of a member. */
function isName(text: string, end: number): boolean {
  let index = end;
  while (" \t\r\n".includes(text.charAt(index)) && index < text.length) index++;
  return text.charAt(index) === ":";
}

/** Makes a member the current one. Returns a problem if its object already has it. */
function enterMember(container: Container, quoted: string, open: readonly Container[]): string | undefined {
  const name = unquote(quoted);
  container.key = name;
  if (!container.names?.has(name)) {
    container.names?.add(name);
    return undefined;
  }
  return `The property ${JSON.stringify(pointerOf(open))} occurs twice. Send it once.`;
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}

function issueAt(literal: string, start: number, open: readonly Container[]): NumberIssue {
  const path = open.map(({ key }) => key);
  return { literal, start, path, pointer: pointerOf(open), isFinite: Number.isFinite(Number(literal)) };
}

function pointerOf(open: readonly Container[]): string {
  return open.map(({ key }) => pointerStep(String(key))).join("");
}

const number = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Maximum characters of a number. */
const MAX_NUMBER_CHARS = 1000;

/** Returns whether a number is an integer whose JSON text would have other digits, or is beyond the range of a double. */
function isChanged(literal: string): boolean {
  if (literal.length > MAX_NUMBER_CHARS) return true;
  if (!number.test(literal)) return false;
  const value = Number(literal);
  if (!Number.isFinite(value)) return true;
  if (Number.isSafeInteger(value)) return false;
  const written = decimalOf(literal);
  if (written.exponent < 0) return false;
  const sent = decimalOf(JSON.stringify(value));
  return written.digits !== sent.digits || written.exponent !== sent.exponent;
}

/** Returns the digits of a number without zeros at its ends, and the power of ten with which they are multiplied. */
function decimalOf(literal: string): { digits: string; exponent: number } {
  const [, whole = "", fraction = "", power = "0"] = number.exec(literal) ?? [];
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  return { digits, exponent: Number(power) - fraction.length + (all.length - digits.length) };
}
