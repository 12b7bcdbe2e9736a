import { type Node, type ParseError, createScanner, parseTree, printParseErrorCode } from "jsonc-parser";

/** Maximum number of nested objects and arrays. It bounds the recursion here and in the library. */
const maxDepth = 64;

/** The tree of a text, or the description of its first syntax error, which starts with a lower-case letter and has no full stop. */
type JsonTree = { readonly root: Node } | { readonly problem: string; readonly offset: number };

/**
 * Parses JSON with comments and trailing commas, as in the settings files of editors. `describeToken` returns a wrong token as the
 * description of an error may show it, or undefined for one that it may not.
 */
export function parseJsonTree(text: string, describeToken: (token: string) => string | undefined): JsonTree {
  const { tooDeepAt } = openBrackets(text);
  if (tooDeepAt !== undefined) return { problem: `more than ${maxDepth} levels of nesting`, offset: tooDeepAt };
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error, next] = errors;
  if (error) return describeError({ error, next, root, text, describeToken });
  return root ? { root } : { problem: "the file ends too early", offset: text.length };
}

interface TreeError {
  readonly error: ParseError;
  /** The next error, which shows the token that was expected at the place of the first one. */
  readonly next: ParseError | undefined;
  readonly root: Node | undefined;
  readonly text: string;
  readonly describeToken: (token: string) => string | undefined;
}

function describeError({ error, next, root, text, describeToken }: TreeError): { problem: string; offset: number } {
  const { offset, length } = error;
  const token = text.slice(offset, offset + Math.min(length, 100));
  const shownToken = token === "" ? "the end of the file" : describeToken(token);
  const foundToken = shownToken ?? "another token";
  const problemAt = (problem: string, start = offset): { problem: string; offset: number } => ({
    problem,
    offset: start,
  });
  const code = printParseErrorCode(error.error);
  const isAfterRoot =
    root !== undefined && openBrackets(text, offset).open.length === 0 && offset >= root.offset + root.length;
  if (code === "EndOfFileExpected" || (code === "InvalidSymbol" && isAfterRoot)) {
    return problemAt(`expected the end of the file but found ${foundToken}`);
  }
  switch (code) {
    case "UnexpectedEndOfComment":
      return problemAt("this comment has no end");
    case "UnexpectedEndOfString":
      return problemAt("this string has no end on its line");
    case "InvalidUnicode":
    case "InvalidEscapeCharacter":
    case "InvalidCharacter":
      return problemAt(`${shownToken ?? "this"} is not a JSON string`);
    case "PropertyNameExpected":
      return problemAt(`expected a key in double quotes but found ${foundToken}`);
    case "ColonExpected":
      return problemAt(`expected ":" after the key but found ${foundToken}`);
    case "CommaExpected":
    case "CloseBraceExpected":
    case "CloseBracketExpected": {
      // The library reads "01" as two numbers.
      const number = /[-+.\w]+$/.exec(text.slice(Math.max(0, offset - 40), offset))?.[0] ?? "";
      if (number !== "" && /^[-+.\w]/.test(token)) {
        return problemAt(
          `expected a value but found ${describeToken(number + token) ?? foundToken}`,
          offset - number.length,
        );
      }
      const close = openBrackets(text, offset).open.at(-1) === "[" ? "]" : "}";
      return problemAt(`expected "," or "${close}" but found ${foundToken}`);
    }
    default: {
      const isKey = next && printParseErrorCode(next.error) === "PropertyNameExpected";
      if (isKey) return problemAt(`expected a key in double quotes but found ${foundToken}`);
      return problemAt(length === 0 ? "the file ends too early" : `expected a value but found ${foundToken}`);
    }
  }
}

/** Returns the brackets that are open before `end`, and the offset of the first one that is nested too deeply. */
function openBrackets(text: string, end: number = text.length): { open: string[]; tooDeepAt?: number } {
  const scanner = createScanner(text, true);
  const open: string[] = [];
  while (scanner.getPosition() < end) {
    scanner.scan();
    const offset = scanner.getTokenOffset();
    if (offset >= end) break;
    // A string token starts with its quote, so brackets inside strings do not match.
    const token = text.charAt(offset);
    if (token === "{" || token === "[") open.push(token);
    if (token === "}" || token === "]") open.pop();
    if (open.length > maxDepth) return { open, tooDeepAt: offset };
  }
  return { open };
}

/** Returns the value of a tree. */
export function toValue({ type, value, children = [] }: Node): unknown {
  if (type === "array") return children.map(toValue);
  if (type !== "object") return value as unknown;
  const members = children.map(({ children: [key, member] = [] }) => [String(key?.value), member && toValue(member)]);
  // Unlike an assignment, this makes a key such as "__proto__" an ordinary member.
  return Object.fromEntries(members) as unknown;
}
