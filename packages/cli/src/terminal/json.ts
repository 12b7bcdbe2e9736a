import { maxDepth, openBrackets, toValue } from "@mcparley/internal/json-tree";
import { positionsIn } from "@mcparley/internal/positions";
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";

/** A syntax error in a JSON file. Both numbers count from 1. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
  readonly line: number;
  readonly column: number;

  constructor(message: string, text: string, offset: number) {
    super(message);
    ({ line: this.line, column: this.column } = positionsIn(text)(offset));
  }
}

export interface ParsedJson {
  value: unknown;
  /** Returns the line, from 1, on which the value at a path of keys begins, or undefined if there is none. */
  lineOf(this: void, ...path: (string | number)[]): number | undefined;
}

/**
 * Parses JSON with comments and trailing commas, as in the settings files of editors.
 *
 * Throws `JsonSyntaxError` for all other deviations from JSON.
 */
export function parseJsonWithComments(source: string): ParsedJson {
  const text = source.replace(/^\uFEFF/, " ");
  const { tooDeepAt } = openBrackets(text);
  if (tooDeepAt !== undefined) throw new JsonSyntaxError(`more than ${maxDepth} levels`, text, tooDeepAt);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error, next] = errors;
  if (error) throw syntaxError(text, [error, next], root);
  if (!root) throw new JsonSyntaxError("the file ends too early", text, 0);
  const position = positionsIn(text);
  return {
    value: toValue(root),
    lineOf(...path) {
      const node = path.reduce<Node | undefined>((node, key) => node && childOf(node, key), root);
      return node && position(node.offset).line;
    },
  };
}

function childOf({ type, children = [] }: Node, key: string | number): Node | undefined {
  if (type === "array") return children[Number(key)];
  return children.findLast(({ children }) => children?.[0]?.value === String(key))?.children?.[1];
}

/** Describes the first error of the library. The next error shows the token that was expected there. */
function syntaxError(
  text: string,
  [{ error, offset, length }, next]: [ParseError, ParseError | undefined],
  root: Node | undefined,
): JsonSyntaxError {
  const token = text.slice(offset, offset + Math.min(length, 100)) || "the end of the file";
  const errorAt = (message: string, start = offset): JsonSyntaxError => new JsonSyntaxError(message, text, start);
  const code = printParseErrorCode(error);
  const isAfterRoot =
    root !== undefined && openBrackets(text, offset).open.length === 0 && offset >= root.offset + root.length;
  if (code === "EndOfFileExpected" || (code === "InvalidSymbol" && isAfterRoot)) {
    return errorAt(`expected the end of the file but found ${token}`);
  }
  switch (code) {
    case "UnexpectedEndOfComment":
      return errorAt("this comment has no end");
    case "UnexpectedEndOfString":
      return errorAt("this string has no end on its line");
    case "InvalidUnicode":
    case "InvalidEscapeCharacter":
    case "InvalidCharacter":
      return errorAt(`${token} is not a JSON string`);
    case "PropertyNameExpected":
      return errorAt(`expected a key in double quotes but found ${token}`);
    case "ColonExpected":
      return errorAt(`expected ":" after the key but found ${token}`);
    case "CommaExpected":
    case "CloseBraceExpected":
    case "CloseBracketExpected": {
      // The library reads "01" as two numbers.
      const number = /[-+.\w]+$/.exec(text.slice(Math.max(0, offset - 40), offset))?.[0] ?? "";
      if (number !== "" && length > 0)
        return errorAt(`expected a value but found ${number}${token}`, offset - number.length);
      const close = openBrackets(text, offset).open.at(-1) === "[" ? "]" : "}";
      return errorAt(`expected "," or "${close}" but found ${token}`);
    }
    default: {
      const isKey = next && printParseErrorCode(next.error) === "PropertyNameExpected";
      if (isKey) return errorAt(`expected a key in double quotes but found ${token}`);
      return errorAt(length === 0 ? "the file ends too early" : `expected a value but found ${token}`);
    }
  }
}
