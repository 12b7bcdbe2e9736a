import { type Node, type ParseError, createScanner, parseTree, printParseErrorCode } from "jsonc-parser";

/** A syntax error in a JSON file. Both numbers count from 1. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
  readonly line: number;
  readonly column: number;

  constructor(message: string, text: string, offset: number) {
    super(message);
    this.line = lineAt(text, offset);
    this.column = offset - text.lastIndexOf("\n", offset - 1);
  }
}

export interface ParsedJson {
  value: unknown;
  /** Returns the line, from 1, on which the value at a path of keys begins, or undefined if there is none. */
  lineOf(...path: (string | number)[]): number | undefined;
}

/** Maximum number of nested objects and arrays. It bounds the recursion here and in the library. */
const maxDepth = 64;

/**
 * Parses JSON with comments and trailing commas, as in the settings files of editors.
 *
 * Throws `JsonSyntaxError` for all other deviations from JSON.
 */
export function parseJsonWithComments(source: string): ParsedJson {
  const text = source.replace(/^\uFEFF/, " ");
  openBrackets(text, text.length);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error, next] = errors;
  if (error) throw syntaxError(text, [error, next], root);
  if (!root) throw new JsonSyntaxError("the file ends too early", text, 0);
  return {
    value: toValue(root),
    lineOf(...path) {
      const node = path.reduce<Node | undefined>((node, key) => node && childOf(node, key), root);
      return node && lineAt(text, node.offset);
    },
  };
}

function childOf({ type, children = [] }: Node, key: string | number): Node | undefined {
  if (type === "array") return children[Number(key)];
  return children.findLast(({ children }) => children?.[0]?.value === String(key))?.children?.[1];
}

function toValue({ type, value, children = [] }: Node): unknown {
  if (type === "array") return children.map(toValue);
  if (type !== "object") return value as unknown;
  const members = children.map(
    ({ children: [key, value] = [] }) => [String(key?.value), value && toValue(value)] as const,
  );
  // Unlike an assignment, this makes a key such as "__proto__" an ordinary member.
  return Object.fromEntries(members);
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** Returns the brackets that are open before a position. Throws `JsonSyntaxError` if they are nested too deeply. */
function openBrackets(text: string, end: number): string[] {
  const scanner = createScanner(text, true);
  const open: string[] = [];
  while (scanner.getPosition() < end) {
    scanner.scan();
    if (scanner.getTokenOffset() >= end) break;
    // A string token starts with its quote, so brackets inside strings do not match.
    const token = text.charAt(scanner.getTokenOffset());
    if (token === "{" || token === "[") open.push(token);
    if (token === "}" || token === "]") open.pop();
    if (open.length > maxDepth)
      throw new JsonSyntaxError(`more than ${maxDepth} levels`, text, scanner.getTokenOffset());
  }
  return open;
}

/** Describes the first error of the library. The next error shows the token that was expected there. */
function syntaxError(
  text: string,
  [{ error, offset, length }, next]: [ParseError, ParseError | undefined],
  root: Node | undefined,
): JsonSyntaxError {
  const found = text.slice(offset, offset + Math.min(length, 100)) || "the end of the file";
  const at = (message: string, start = offset): JsonSyntaxError => new JsonSyntaxError(message, text, start);
  const code = printParseErrorCode(error);
  const isAfterRoot =
    root !== undefined && openBrackets(text, offset).length === 0 && offset >= root.offset + root.length;
  if (code === "EndOfFileExpected" || (code === "InvalidSymbol" && isAfterRoot)) {
    return at(`expected the end of the file but found ${found}`);
  }
  switch (code) {
    case "UnexpectedEndOfComment":
      return at("this comment has no end");
    case "UnexpectedEndOfString":
      return at("this string has no end on its line");
    case "InvalidUnicode":
    case "InvalidEscapeCharacter":
    case "InvalidCharacter":
      return at(`${found} is not a JSON string`);
    case "PropertyNameExpected":
      return at(`expected a key in double quotes but found ${found}`);
    case "ColonExpected":
      return at(`expected ":" after the key but found ${found}`);
    case "CommaExpected":
    case "CloseBraceExpected":
    case "CloseBracketExpected": {
      // The library reads "01" as two numbers.
      const number = /[-+.\w]+$/.exec(text.slice(Math.max(0, offset - 40), offset))?.[0] ?? "";
      if (number !== "" && length > 0)
        return at(`expected a value but found ${number}${found}`, offset - number.length);
      const close = openBrackets(text, offset).at(-1) === "[" ? "]" : "}";
      return at(`expected "," or "${close}" but found ${found}`);
    }
    default: {
      const isKey = next && printParseErrorCode(next.error) === "PropertyNameExpected";
      if (isKey) return at(`expected a key in double quotes but found ${found}`);
      return at(length === 0 ? "the file ends too early" : `expected a value but found ${found}`);
    }
  }
}
