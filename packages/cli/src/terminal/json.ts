import { parseJsonTree, toValue } from "@mcparley/internal/json-tree";
import { positionsIn } from "@mcparley/internal/positions";
import type { Node } from "jsonc-parser";

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
  const tree = parseJsonTree(text, String);
  if ("problem" in tree) throw new JsonSyntaxError(tree.problem, text, tree.offset);
  const { root } = tree;
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
