import { type Document, type Pair, type YAMLMap, isMap, isNode, isScalar, stringify } from "yaml";
import { type Change, UnsafeEdit, isTable } from "./format.ts";
import { indentAt, lineEnding, lineStart, nextLine } from "./positions.ts";

/** Applies one change to a valid YAML text. Only members of block maps are added and removed. */
export function editYaml(text: string, document: Document, { path, value }: Change): string {
  const [root, ...innerPath] = path;
  if (root === undefined) return text;
  if (document.contents === null)
    return value === undefined ? text : append(text, renderPair(root, nest(innerPath, value)));
  let map: unknown = document.contents;
  for (const [depth, key] of path.entries()) {
    const isLast = depth === path.length - 1;
    if (!isMap(map)) throw new UnsafeEdit("a value is not a map");
    if (map.flow) throw new UnsafeEdit("a map is written in braces");
    const pair = pairOf(map, key);
    if (!pair)
      return value === undefined ? text : insertPair(text, map, renderPair(key, nest(path.slice(depth + 1), value)));
    if (isLast)
      return value === undefined
        ? removePair(text, document, { path, map, pair })
        : replacePair(text, pair, { key, value });
    if (isEmpty(pair.value)) {
      if (value === undefined) return text;
      return fillPair(text, pair, renderPair(path[depth + 1]!, nest(path.slice(depth + 2), value)));
    }
    map = pair.value;
  }
  return text;
}

/** The pairs of the maps of a document by key. Without it, the positions of many entries take quadratic time. */
const indexes = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

/** Returns the pair of a key in a map. */
export function pairOf(map: unknown, key: string | number): Pair | undefined {
  if (!isMap(map)) return undefined;
  let index = indexes.get(map);
  if (!index) {
    index = new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])));
    indexes.set(map, index);
  }
  return index.get(String(key));
}

/** Whether a value is null or `{}`. */
function isEmpty(value: unknown): boolean {
  return value === null || (isScalar(value) && value.value === null) || (isMap(value) && value.items.length === 0);
}

function nest(path: Change["path"], value: unknown): unknown {
  return path.toReversed().reduce((inner, key) => Object.fromEntries([[key, inner]]), value);
}

/** How values are written: a text on one line, because the library loses lines at the start of a block that have only spaces. */
const style = { lineWidth: 0, aliasDuplicateObjects: false, blockQuote: false } as const;

function renderPair(key: string | number, value: unknown): string {
  return stringify(Object.fromEntries([[key, value]]), style);
}

/** Returns rendered lines with an indentation and the line ending of a text. Empty lines stay empty. */
function indentLines(lines: string, indent: string, text: string): string {
  // A pattern with `^` and the flag `m` would also match after U+2028 and U+2029, which are text in YAML.
  const indentedLines = lines.split("\n").map((line) => (line === "" ? line : indent + line));
  return indentedLines.join(lineEnding(text));
}

function append(text: string, lines: string): string {
  const eol = lineEnding(text);
  return text + (text === "" || text.endsWith("\n") ? "" : eol) + lines.replaceAll("\n", eol);
}

/** Returns the offsets of the lines of a pair, with the comment that ends its last line. */
function linesOf(text: string, { key, value }: Pair): [number, number] {
  const start = (isNode(key) && key.range?.[0]) || 0;
  const [, keyEnd = start] = (isNode(key) && key.range) || [];
  const end = isNode(value) && value.range ? Math.max(value.range[1], keyEnd) : keyEnd;
  // The value of a block ends at the beginning of a line, or after the indentation of the next key.
  const last = lineStart(text, end);
  const isAtStart = last > start && isBlank(text.slice(last, end));
  if (!isBlank(text.slice(lineStart(text, start), start))) throw new UnsafeEdit("a key does not start its line");
  // Comments with a deeper indentation belong to the pair. After a block text, they would become a part of it.
  const indent = indentAt(text, start);
  let endOffset = isAtStart ? last : nextLine(text, end);
  for (
    ;
    isDeeperComment(text.slice(endOffset, nextLine(text, endOffset)), indent);
    endOffset = nextLine(text, endOffset)
  );
  return [lineStart(text, start), endOffset];
}

/** Whether a part of a line has only white space of YAML. JavaScript counts more characters as white space. */
function isBlank(text: string): boolean {
  return /^[ \t]*$/.test(text);
}

function isDeeperComment(line: string, indent: string): boolean {
  return /^[ \t]*#/.test(line) && line.startsWith(`${indent} `);
}

function insertPair(text: string, map: YAMLMap, lines: string): string {
  const last = map.items.at(-1);
  if (!last) throw new UnsafeEdit("a map has no first line");
  const [start, end] = linesOf(text, last);
  const keyAt = (isNode(last.key) && last.key.range?.[0]) || start;
  const textBefore = text.slice(0, end);
  return (
    textBefore +
    (textBefore.endsWith("\n") ? "" : lineEnding(text)) +
    indentLines(lines, indentAt(text, keyAt), text) +
    text.slice(end)
  );
}

function replacePair(text: string, pair: Pair, { key, value }: { key: string | number; value: unknown }): string {
  const [start, end] = linesOf(text, pair);
  const old = pair.value;
  const inline = Array.isArray(value) || isTable(value) ? "\n" : stringify(value, style).replace(/\n$/, "");
  const isOnLine = isScalar(old) && old.range && !text.slice(start, old.range[1]).includes("\n");
  // The comment of the line stays.
  if (isOnLine && old.range && old.range[1] > old.range[0] && !inline.includes("\n")) {
    return text.slice(0, old.range[0]) + inline + text.slice(old.range[1]);
  }
  const keyAt = (isNode(pair.key) && pair.key.range?.[0]) || start;
  return text.slice(0, start) + indentLines(renderPair(key, value), indentAt(text, keyAt), text) + text.slice(end);
}

/** Inserts the first lines of a pair whose value is null or `{}`. */
function fillPair(text: string, pair: Pair, lines: string): string {
  const [start] = linesOf(text, pair);
  const [keyAt, keyEnd] = (isNode(pair.key) && pair.key.range) || [start, start];
  const [valueStart, valueEnd] = (isNode(pair.value) && pair.value.range) || [keyEnd + 1, keyEnd + 1];
  const line = text.slice(start, valueStart).replace(/[ \t]+$/, "") + text.slice(valueEnd, nextLine(text, valueEnd));
  const insertion = indentLines(lines, `${indentAt(text, keyAt)}  `, text);
  return (
    text.slice(0, start) +
    line +
    (line.endsWith("\n") ? "" : lineEnding(text)) +
    insertion +
    text.slice(nextLine(text, valueEnd))
  );
}

function removePair(
  text: string,
  document: Document,
  { path, map, pair }: { path: Change["path"]; map: YAMLMap; pair: Pair },
): string {
  const [start, end] = linesOf(text, pair);
  const remainingText = text.slice(0, start) + text.slice(end);
  const parentKey = path.at(-2);
  if (map.items.length > 1 || parentKey === undefined) return remainingText;
  // Without its last pair, a block map is null. Braces keep it a map.
  const grandparent: unknown = path.length > 2 ? document.getIn(path.slice(0, -2)) : document.contents;
  const key = pairOf(grandparent, parentKey)?.key;
  const colon = text.indexOf(":", (isNode(key) && key.range?.[1]) || 0);
  return `${remainingText.slice(0, colon + 1)} {}${remainingText.slice(colon + 1)}`;
}
