import { parseJsonTree, toValue } from "@mcparley/internal/json-tree";
import { positionsIn } from "@mcparley/internal/positions";
import type { Node } from "jsonc-parser";
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
  // The text of the file can be secret. A bracket or comma is no secret.
  const tree = parseJsonTree(text, (token) => (/^[{}[\],:]$/.test(token) ? `"${token}"` : undefined));
  if ("root" in tree) return tree.root;
  const message = `${tree.problem.charAt(0).toUpperCase()}${tree.problem.slice(1)}.`;
  throw new SyntaxProblem(message, positionsIn(text)(tree.offset));
}

function positionOf(root: Node | undefined, path: Path, position: (offset: number) => Position): Position | undefined {
  const key = path.at(-1);
  const parent = path.slice(0, -1).reduce<Node | undefined>((node, step) => node && childOf(node, step), root);
  if (key === undefined || !parent) return root && position(root.offset);
  if (parent.type !== "object") return parent.children?.[Number(key)] && position(parent.children[Number(key)]!.offset);
  const property = propertyOf(parent, key);
  return property && position(property.offset);
}
