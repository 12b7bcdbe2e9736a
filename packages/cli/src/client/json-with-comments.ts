/** Where a file is not JSON: both numbers count from 1. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
  readonly line: number;
  readonly column: number;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

export interface ParsedJson {
  value: unknown;
  /** The line, from 1, on which the member with this path of keys begins; undefined where there is none. */
  lineOf(...path: (string | number)[]): number | undefined;
}

/** Deeper nesting than any configuration has; it keeps the recursion bounded. */
const maxDepth = 64;

/**
 * Parses JSON in which, as in the settings files of editors, comments and trailing commas are allowed.
 *
 * Throws `JsonSyntaxError` for anything else that is not JSON.
 */
export function parseJsonWithComments(text: string): ParsedJson {
  const reader = new Reader(text);
  const root: Place = { at: 0 };
  const value = reader.document(root);
  return {
    value,
    lineOf(...path) {
      let place: Place | undefined = root;
      for (const key of path) place = place?.members?.get(String(key));
      return place && reader.line(place.at);
    },
  };
}

/** Where a value begins, and what is in it; turned into lines only when one is asked for. */
interface Place {
  at: number;
  members?: Map<string, Place>;
}

// oxlint-disable-next-line no-control-regex -- JSON strings may hold none of these
const token = /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\.)*"|-?\d[\d.eE+-]*|[A-Za-z]+/y;
const blank = /(?:[\s\ufeff]+|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(root: Place): unknown {
    const value = this.#value(root, 0);
    const rest = this.#next();
    if (rest !== "") throw this.#error(`expected the end of the file but found ${rest}`, rest);
    return value;
  }

  /** The line, from 1, of a position. */
  line(at: number): number {
    let line = 1;
    for (let i = this.#text.indexOf("\n"); i !== -1 && i < at; i = this.#text.indexOf("\n", i + 1)) line += 1;
    return line;
  }

  #value(place: Place, depth: number): unknown {
    const found = this.#next();
    place.at = this.#at - found.length;
    if (depth > maxDepth) throw this.#error(`more than ${maxDepth} levels`, found);
    if (found === "{") return this.#object(place, depth);
    if (found === "[") return this.#array(place, depth);
    try {
      return JSON.parse(found);
    } catch {
      throw this.#error(found === "" ? "the file ends too early" : `expected a value but found ${found}`, found);
    }
  }

  #inside(place: Place, key: string, depth: number): unknown {
    const inner: Place = { at: 0 };
    place.members ??= new Map();
    place.members.set(key, inner);
    return this.#value(inner, depth + 1);
  }

  #object(place: Place, depth: number): unknown {
    const entries: [string, unknown][] = [];
    for (;;) {
      const key = this.#next();
      if (key === "}") break;
      if (!key.startsWith('"')) throw this.#error(`expected a key in double quotes but found ${key || "the end"}`, key);
      const name = this.#string(key);
      this.#expect(":", `after the key ${key}`);
      entries.push([name, this.#inside(place, name, depth)]);
      if (this.#separator("}") === "}") break;
    }
    // Unlike an assignment, this makes a key such as "__proto__" an ordinary member.
    return Object.fromEntries(entries);
  }

  #array(place: Place, depth: number): unknown[] {
    const items: unknown[] = [];
    for (;;) {
      const before = this.#at;
      if (this.#next() === "]") break;
      this.#at = before;
      items.push(this.#inside(place, String(items.length), depth));
      if (this.#separator("]") === "]") break;
    }
    return items;
  }

  #separator(end: string): string {
    const found = this.#next();
    if (found === "," || found === end) return found;
    throw this.#error(`expected "," or "${end}" but found ${found || "the end of the file"}`, found);
  }

  #expect(wanted: string, where: string): void {
    const found = this.#next();
    if (found !== wanted) throw this.#error(`expected "${wanted}" ${where}`, found);
  }

  #string(raw: string): string {
    try {
      return JSON.parse(raw) as string;
    } catch {
      throw this.#error(`${raw} is not a JSON string`, raw);
    }
  }

  /** The next token, or "" at the end. */
  #next(): string {
    blank.lastIndex = this.#at;
    blank.exec(this.#text);
    this.#at = blank.lastIndex;
    if (this.#at >= this.#text.length) return "";
    token.lastIndex = this.#at;
    const found = token.exec(this.#text)?.[0];
    if (found === undefined) throw this.#unreadable();
    this.#at += found.length;
    return found;
  }

  #unreadable(): JsonSyntaxError {
    const rest = this.#text.slice(this.#at, this.#at + 2);
    if (rest === "/*") return this.#error("this comment has no end", "");
    if (rest.startsWith('"')) return this.#error("this string has no end on its line", "");
    return this.#error(`unexpected character ${JSON.stringify(rest[0])}`, "");
  }

  #error(message: string, found: string): JsonSyntaxError {
    const at = this.#at - found.length;
    return new JsonSyntaxError(message, this.line(at), at - this.#text.lastIndexOf("\n", at - 1));
  }
}
