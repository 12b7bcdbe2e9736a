import { isDeepStrictEqual } from "node:util";
import type { Position } from "../config-error.ts";

/** The keys from the root of a file to a value. */
export type Path = readonly (string | number)[];

/** One change of a file. An undefined `value` removes the member at `path`. */
export interface Change {
  readonly path: Path;
  readonly value: unknown;
}

/** The content of a file and the positions of its values. */
export interface ParsedConfig {
  readonly value: unknown;
  /** Returns the position of the key at the end of a path. */
  readonly positionOf: (path: Path) => Position | undefined;
}

/** A syntax error. The message contains no text of the file, because it can be secret. */
export class SyntaxProblem extends Error {
  readonly position: Position | undefined;

  constructor(message: string, position: Position | undefined) {
    super(message);
    this.position = position;
  }
}

/** The text cannot be edited without a risk for the rest of the file. */
export class UnsafeEdit extends Error {}

/** A syntax of configuration files. */
export interface ConfigFormat {
  /** Parses a file. Throws `SyntaxProblem`. */
  readonly parse: (text: string) => ParsedConfig;
  /** Applies one change to a valid text. Keeps comments, order and white space elsewhere. Throws `UnsafeEdit`. */
  readonly edit: (text: string, change: Change) => string;
}

export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Returns an own member of a table, so that a name such as `constructor` finds nothing. */
export function memberOf(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return value[Number(key)] as unknown;
  return isTable(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce(memberOf, value);
}

/** Returns a copy of a value with one change. */
export function withChange(value: unknown, { path, value: newValue }: Change): unknown {
  const [key, ...innerPath] = path;
  if (key === undefined) return newValue;
  const member =
    innerPath.length === 0 ? newValue : withChange(memberOf(value, key), { path: innerPath, value: newValue });
  if (typeof key === "number") return Object.assign([...((value as unknown[] | undefined) ?? [])], { [key]: member });
  // Unlike an assignment, `fromEntries` makes a key such as "__proto__" an ordinary member.
  const otherMembers = Object.entries(isTable(value) ? value : {}).filter(([name]) => name !== key);
  return Object.fromEntries(member === undefined ? otherMembers : [...otherMembers, [key, member]]);
}

/**
 * Whether an edit has the intended result. TOML has no table without its last member, unless the table has a header.
 */
export function isIntended(previousValue: unknown, change: Change, editedValue: unknown): boolean {
  const intendedValue = withChange(previousValue, change);
  if (isSame(editedValue, intendedValue)) return true;
  const parent = change.path.slice(0, -1);
  const table = valueAt(intendedValue, parent);
  if (change.value !== undefined || parent.length === 0 || !isTable(table) || Object.keys(table).length > 0)
    return false;
  return isIntended(previousValue, { path: parent, value: undefined }, editedValue);
}

/** Returns the changes that turn one value into another, each as deep as possible, so that comments beside other members stay. */
export function changesBetween(path: Path, previousValue: unknown, newValue: unknown): Change[] {
  if (!isTable(previousValue) || !isTable(newValue))
    return isSame(previousValue, newValue) ? [] : [{ path, value: newValue }];
  const keys = new Set([...Object.keys(previousValue), ...Object.keys(newValue)]);
  return [...keys].flatMap((key) =>
    changesBetween([...path, key], memberOf(previousValue, key), memberOf(newValue, key)),
  );
}

/** Whether two parsed values are equal. The prototypes of tables differ between the libraries, and do not count. */
function isSame(first: unknown, second: unknown): boolean {
  if (Array.isArray(first) && Array.isArray(second)) {
    return first.length === second.length && first.every((item, index) => isSame(item, second[index]));
  }
  if (!isTable(first) || !isTable(second)) return isDeepStrictEqual(first, second);
  const keys = Object.keys(first);
  return (
    keys.length === Object.keys(second).length &&
    keys.every((key) => Object.hasOwn(second, key) && isSame(first[key], second[key]))
  );
}
