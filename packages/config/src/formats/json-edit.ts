import { type Node, createScanner } from "jsonc-parser";
import { type Change, UnsafeEdit } from "./format.ts";
import { indentAt, indentUnit, lineEnding, lineStart, nextLine, splice } from "./positions.ts";

// `modify` of jsonc-parser is not used: it deletes comments between the removed member and the next one, and moves the comment of
// the last member to the inserted one.

/** A text of JSON to edit, and the tree of the text. */
interface Source {
  readonly text: string;
  /** The line ending and one level of indentation. */
  readonly eol: string;
  readonly unit: string;
}

/** Applies one change to a text of JSON with comments. `root` is undefined for a text without content. */
export function editJson(text: string, root: Node | undefined, { path, value }: Change): string {
  const source = { text, eol: lineEnding(text), unit: indentUnit(text) };
  if (!root) return value === undefined ? text : render(nest(path, value), "", source) + source.eol;
  let node = root;
  for (const [depth, key] of path.entries()) {
    const isLast = depth === path.length - 1;
    const child = childOf(node, key);
    if (isLast && value === undefined) return child ? removeItem(source, node, itemOf(node, key)!) : text;
    if (!child) return insertItem(source, node, { key, value: nest(path.slice(depth + 1), value) });
    if (isLast)
      return splice(
        text,
        [child.offset, child.offset + child.length],
        render(value, indentAt(text, child.offset), source),
      );
    node = child;
  }
  return text;
}

/** The properties of the objects of a tree by name. Without it, the positions of many servers take quadratic time. */
const indexes = new WeakMap<Node, ReadonlyMap<string, Node>>();

/** Returns the last property of a name: it is the one that readers of JSON use. */
export function propertyOf(node: Node, key: string | number): Node | undefined {
  if (node.type !== "object") return undefined;
  let index = indexes.get(node);
  if (!index) {
    index = new Map((node.children ?? []).map((property) => [String(property.children?.[0]?.value), property]));
    indexes.set(node, index);
  }
  return index.get(String(key));
}

export function childOf(node: Node, key: string | number): Node | undefined {
  if (node.type === "array") return node.children?.[Number(key)];
  return propertyOf(node, key)?.children?.[1];
}

/** Returns the node of a member with its key, or of an element. */
function itemOf(node: Node, key: string | number): Node | undefined {
  return node.type === "array" ? node.children?.[Number(key)] : propertyOf(node, key);
}

/** Wraps a value into the objects of the missing part of a path. */
function nest(path: Change["path"], value: unknown): unknown {
  return path
    .toReversed()
    .reduce((inner, key) => (typeof key === "number" ? [inner] : Object.fromEntries([[key, inner]])), value);
}

function render(value: unknown, indent: string, { eol, unit }: Source): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", eol + indent);
}

function insertItem(source: Source, container: Node, item: { key: string | number; value: unknown }): string {
  if (container.type !== "object" && container.type !== "array") throw new UnsafeEdit("a value is not an object");
  const { text, eol, unit } = source;
  const prefix = container.type === "array" ? "" : `${JSON.stringify(item.key)}: `;
  const [open, close] = [container.offset, container.offset + container.length - 1];
  const last = container.children?.at(-1);
  const outer = indentAt(text, open);
  if (!last) {
    // Only white space and comments.
    const inner = text.slice(open + 1, close).trimEnd();
    const insertion = `${inner}${eol}${outer}${unit}${prefix}${render(item.value, outer + unit, source)}${eol}${outer}`;
    return splice(text, [open + 1, close], insertion);
  }
  const { comma, end } = afterItem(text, last, close);
  const isOneLine = !`${text.slice(open, last.offset)}${text.slice(end, close)}`.includes("\n");
  const indent = indentAt(text, last.offset) || outer + unit;
  const itemText = isOneLine
    ? ` ${prefix}${JSON.stringify(item.value)}`
    : `${eol}${indent}${prefix}${render(item.value, indent, source)}`;
  const insertion = comma === undefined ? itemText : `${itemText},`;
  const withItem = splice(text, [end, end], insertion);
  return comma === undefined ? splice(withItem, [last.offset + last.length, last.offset + last.length], ",") : withItem;
}

/**
 * Removes a member or an element, its comma and the comment that ends its line. Comments on other lines stay.
 */
function removeItem({ text }: Source, container: Node, item: Node): string {
  const children = container.children ?? [];
  const [open, close] = [container.offset, container.offset + container.length - 1];
  const index = children.indexOf(item);
  const [previous, next] = [children[index - 1], children[index + 1]];
  const { comma, end } = afterItem(text, item, next?.offset ?? close);
  if (children.length === 1 && isBlank(text.slice(open + 1, item.offset)) && isBlank(text.slice(end, close))) {
    return splice(text, [open + 1, close], "");
  }
  let range: [number, number] = [item.offset, Math.max(comma === undefined ? 0 : comma + 1, item.offset + item.length)];
  const start = lineStart(text, item.offset);
  const isAlone = isBlank(text.slice(start, item.offset)) && isBlank(text.slice(end, nextLine(text, end)));
  // The whole line is removed, except if the closing bracket stands on it.
  if (isAlone && start > open && nextLine(text, end) <= close) range = [start, nextLine(text, end)];
  else if (next) range[1] += /^[ \t]*/.exec(text.slice(range[1], next.offset))?.[0].length ?? 0;
  let editedText = splice(text, range, "");
  if (!next && comma === undefined && previous) {
    // The item before is the last one now.
    const commaBefore = afterItem(text, previous, item.offset).comma;
    if (commaBefore !== undefined) editedText = splice(editedText, [commaBefore, commaBefore + 1], "");
    if (commaBefore !== undefined && isBlank(text.slice(commaBefore + 1, item.offset)) && range[0] === item.offset) {
      editedText = splice(editedText, [commaBefore, range[0] - 1], "");
    }
  }
  return editedText;
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** Finds the comma after an item, and the end of its comma and comments on the same line. */
function afterItem(text: string, item: Node, limit: number): { comma: number | undefined; end: number } {
  const start = item.offset + item.length;
  const tail = text.slice(start, limit);
  const scanner = createScanner(tail, false);
  let comma: number | undefined;
  let end = start;
  let isSameLine = true;
  while (scanner.getPosition() < tail.length) {
    scanner.scan();
    const token = tail.slice(scanner.getTokenOffset(), scanner.getPosition());
    const tokenEnd = start + scanner.getPosition();
    if (token === ",") {
      comma = start + scanner.getTokenOffset();
      // A comma on a later line belongs to the item as well.
      end = tokenEnd;
      isSameLine = true;
    } else if (isBlank(token)) isSameLine &&= !token.includes("\n");
    else if (isSameLine) end = tokenEnd;
    if (token.startsWith("/*") && token.includes("\n")) isSameLine = false;
  }
  return { comma, end };
}
