import {
  type CST,
  type Document,
  LineCounter,
  type Node,
  Parser,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
} from "yaml";
import { pointerKeys } from "@mcparley/internal/json-pointer";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { FolderProblem, type Problem, problemAt } from "./problem.ts";

export interface YamlSource {
  file: string;
  text: string;
  /** The line of the file on which `text` starts. Default: 1. */
  firstLine?: number;
}

interface Origin {
  file: string;
  document: Document;
  place: (offset: number) => { line: number; column: number };
}

/** A value in a YAML file, with its position for error messages. */
export interface Field {
  /** Its keys from the root, joined by dots. Empty for the root. */
  readonly path: string;
  readonly node: Node | null;
  readonly offset: number;
  readonly origin: Origin;
}

/** Maximum nesting. No schema or setting is as deep. */
const maxDepth = 100;

/** Parses YAML and returns its root. Throws `FolderProblem` with the position of the first syntax error. */
export function readYaml({ file, text, firstLine = 1 }: YamlSource): Field {
  const lines = new LineCounter();
  const place = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line) + firstLine - 1, column: Math.max(1, col) };
  };
  const tooDeep = placeTooDeep(text, maxDepth);
  if (tooDeep !== undefined) {
    const line = firstLine + (text.slice(0, tooDeep).match(/\n/g)?.length ?? 0);
    const message = `the YAML is nested more than ${maxDepth} levels deep`;
    throw problemAt({ file, line }, message, "Write it with fewer levels.");
  }
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, strict: true });
  const [error] = document.errors;
  if (error) {
    const cure = "Correct the YAML: check the indentation, and quote text that contains a colon or a bracket.";
    throw new FolderProblem({ file, ...place(error.pos[0]), message: error.message, cure }, { cause: error });
  }
  const node = document.contents as Node | null;
  return { path: "", node, offset: node?.range?.[0] ?? 0, origin: { file, document, place } };
}

/** Returns a problem at the position of a field. */
export function wrong(field: Field, message: string, cure: string): FolderProblem {
  return problemAt(placeOf(field), message, cure);
}

/** Returns the position of a field, for problems. */
export function placeOf({ origin: { file, place }, offset }: Field): Pick<Problem, "file" | "line" | "column"> {
  return { file, ...place(offset) };
}

/** Returns the member that a JSON pointer names, or the nearest one around it. */
export function fieldAt(field: Field, pointer: string): Field {
  let current = field;
  for (const key of pointerKeys(pointer)) {
    const next = isList(current)
      ? items(current)[Number(key)]
      : isMapping(current)
        ? members(current).get(key)
        : undefined;
    if (!next) return current;
    current = next;
  }
  return current;
}

/** Returns the members of a mapping by key. With `keys`, any other key is a problem. An absent mapping is empty. */
export function members(field: Field, keys?: readonly string[]): Map<string, Field> {
  const node = resolveNode(field);
  const fields = new Map<string, Field>();
  if (isEmpty(node)) return fields;
  if (!isMap(node)) {
    throw wrong(field, `${subjectOf(field)} must be a mapping of keys to values`, "Write it as `key: value` lines.");
  }
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : "";
    const offset = (key as Node).range?.[0] ?? field.offset;
    const path = field.path === "" ? name : `${field.path}.${name}`;
    const member = { path, node: value as Node | null, offset, origin: field.origin };
    if (keys && !keys.includes(name)) {
      throw wrong(member, `unknown key "${path}"`, didYouMean(name, keys));
    }
    fields.set(name, member);
  }
  return fields;
}

/** Functions that read the members of a mapping, by key. */
type Readers = Readonly<Record<string, (field: Field) => unknown>>;

/** The members of a mapping that are present, as their functions read them. */
export type Members<R extends Readers> = { -readonly [K in keyof R]?: ReturnType<R[K]> };

/** Reads the members of a mapping that are present. A key without a function, and not one of `otherKeys`, is a problem. */
export function readMembers<R extends Readers>(
  field: Field,
  readers: R,
  otherKeys: readonly string[] = [],
): Members<R> {
  const fields = members(field, [...otherKeys, ...Object.keys(readers)]);
  const values = Object.entries(readers).flatMap(([key, read]) => {
    const member = fields.get(key);
    return member ? [[key, read(member)]] : [];
  });
  return Object.fromEntries(values) as Members<R>;
}

/** Returns the field itself, for a member that is read later. */
export function unread(field: Field): Field {
  return field;
}

/** Returns the items of a list. */
export function items(field: Field): Field[] {
  const node = resolveNode(field);
  if (!isSeq(node)) throw wrong(field, `${subjectOf(field)} must be a list`, "Write it as `[a, b]` or as `- a` lines.");
  return node.items.map((item, index) => ({
    path: `${field.path}[${index}]`,
    node: item as Node | null,
    offset: (item as Node | null)?.range?.[0] ?? field.offset,
    origin: field.origin,
  }));
}

export function isList(field: Field): boolean {
  return isSeq(resolveNode(field));
}

export function isMapping(field: Field): boolean {
  return isMap(resolveNode(field));
}

/** Returns whether the key has no value. */
export function isAbsent(field: Field): boolean {
  return isEmpty(resolveNode(field));
}

/** Returns a text. A number or a boolean is returned in its source form. */
export function text(field: Field): string {
  const node = resolveNode(field);
  if (isScalar(node) && typeof node.value === "string") return node.value;
  if (isScalar(node) && node.value !== null && node.source !== undefined) return node.source;
  throw wrong(
    field,
    `${subjectOf(field)} must be a text`,
    'Write one line, quoted if it contains ": ", or a block after |.',
  );
}

export function texts(field: Field): string[] {
  return items(field).map(text);
}

export function boolean(field: Field): boolean {
  const node = resolveNode(field);
  if (isScalar(node) && typeof node.value === "boolean") return node.value;
  throw wrong(field, `${subjectOf(field)} must be true or false`, "Write `true` or `false` without quotes.");
}

/** Returns a number of at least `least`. */
export function number(field: Field, least: number = 0): number {
  const node = resolveNode(field);
  if (isScalar(node) && typeof node.value === "number" && node.value >= least) return node.value;
  throw wrong(field, `${subjectOf(field)} must be a number of at least ${least}`, "Write a number without quotes.");
}

/** Returns one of the allowed words. */
export function oneOf<const W extends string>(field: Field, words: readonly W[]): W {
  const value = text(field);
  const allowedWord = words.find((word) => word === value);
  if (allowedWord !== undefined) return allowedWord;
  throw wrong(field, `${subjectOf(field)} cannot be "${value}"`, didYouMean(value, words));
}

/** Returns the value as plain data with aliases resolved. The parser limits their expansion to about a hundred. */
export function plain(field: Field): unknown {
  try {
    return field.node === null ? null : field.node.toJS(field.origin.document);
  } catch (error) {
    throw wrong(field, (error as Error).message, "Define each anchor before its alias, and use fewer aliases.");
  }
}

function resolveNode({ node, origin }: Field): Node | null {
  return isAlias(node) ? (node.resolve(origin.document) ?? null) : node;
}

function isEmpty(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.value === null);
}

function subjectOf(field: Field): string {
  return field.path === "" ? "the file" : `"${field.path}"`;
}

/**
 * Returns the offset at which YAML is nested deeper than `limit`, or undefined.
 *
 * Takes linear time and does not recurse. The parser's conversion of tokens to values recurses, and a stack overflow
 * there may end the process.
 */
function placeTooDeep(text: string, limit: number): number | undefined {
  let level: (CST.Token | null | undefined)[] = [...new Parser().parse(text)];
  for (let depth = 0; level.length > 0; depth++) {
    const next: typeof level = [];
    for (const token of level) {
      if (!token) continue;
      if (depth > limit) return token.offset;
      if (token.type === "document") next.push(token.value);
      if ("items" in token) for (const { key, value } of token.items) next.push(key, value);
    }
    level = next;
  }
  return undefined;
}
