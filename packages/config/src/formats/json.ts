import { maxDepth, openBrackets, toValue } from "@mcparley/internal/json-tree";
import { positionsIn } from "@mcparley/internal/positions";
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Position } from "../config-error.ts";
import { type ConfigFormat, type Path, SyntaxProblem } from "./format.ts";
import { childOf, editJson, propertyOf } from "./json-edit.ts";
import { withoutMark } from "./positions.ts";

/** JSON with comments and trailing commas, as in the settings of editors. A file without content is an empty object. */
export const jsonFormat: ConfigFormat = {
  parse(source) {
    const text = withoutMark(source);
    const root = parseRoot(text);
    const position = positionsIn(text);
    return {
      value: root ? toValue(root) : {},
      positionOf: (path) => positionOf(root, path, position),
    };
  },
  edit(source, change) {
    const text = withoutMark(source);
    return source.slice(0, source.length - text.length) + editJson(text, parseRoot(text), change);
  },
};

/** Returns the tree of a text, or undefined if it has only white space. */
function parseRoot(text: string): Node | undefined {
  if (text.trim() === "") return undefined;
  const position = positionsIn(text);
  const { tooDeepAt } = openBrackets(text);
  if (tooDeepAt !== undefined) {
    throw new SyntaxProblem(`More than ${maxDepth} levels of nesting.`, position(tooDeepAt));
  }
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error, next] = errors;
  if (error) throw new SyntaxProblem(describe(error, next, text), position(error.offset));
  if (!root) throw new SyntaxProblem("The file has no JSON value.", position(text.length));
  return root;
}

/** Describes an error without the text of the file, which can be secret. A bracket or comma is no secret. */
function describe({ error, offset, length }: ParseError, next: ParseError | undefined, text: string): string {
  const token = text.slice(offset, offset + length);
  const found = token === "" ? "the end of the file" : /^[{}[\],:]$/.test(token) ? `"${token}"` : "another token";
  // The library reports a wrong token in the place of a key as a missing value first.
  const isKey = next && printParseErrorCode(next.error) === "PropertyNameExpected";
  switch (isKey ? "PropertyNameExpected" : printParseErrorCode(error)) {
    case "UnexpectedEndOfComment":
      return "This comment has no end.";
    case "UnexpectedEndOfString":
      return "This string has no end on its line.";
    case "UnexpectedEndOfNumber":
    case "InvalidNumberFormat":
      return "This number is not a JSON number.";
    case "InvalidUnicode":
    case "InvalidEscapeCharacter":
    case "InvalidCharacter":
      return "This string is not a JSON string.";
    case "PropertyNameExpected":
      return `Expected a key in double quotes but found ${found}.`;
    case "ColonExpected":
      return `Expected ":" after the key but found ${found}.`;
    case "CommaExpected":
    case "CloseBraceExpected":
    case "CloseBracketExpected":
      return `Expected "," or the closing bracket but found ${found}.`;
    case "EndOfFileExpected":
      return "Expected the end of the file.";
    default:
      return `Expected a JSON value but found ${found}.`;
  }
}

function positionOf(root: Node | undefined, path: Path, position: (offset: number) => Position): Position | undefined {
  const key = path.at(-1);
  const parent = path.slice(0, -1).reduce<Node | undefined>((node, step) => node && childOf(node, step), root);
  if (key === undefined || !parent) return root && position(root.offset);
  if (parent.type !== "object") return parent.children?.[Number(key)] && position(parent.children[Number(key)]!.offset);
  const property = propertyOf(parent, key);
  return property && position(property.offset);
}
