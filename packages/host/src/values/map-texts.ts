import { maxLevels } from "./json-depth.ts";

/** Changes the texts of a value. */
export interface TextChange {
  readonly text: (text: string) => string;
  /** Changes an object of a class, which is no JSON. Default: it stays as it is. */
  readonly instance?: (value: object) => unknown;
}

/**
 * Returns a copy of a JSON value in which each text and each name is changed. Returns the same object if nothing changes. Objects and
 * arrays below `maxLevels` become a text.
 */
export function mapTexts<T>(value: T, change: TextChange, levels: number = maxLevels): T {
  if (typeof value === "string") return change.text(value) as T;
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return `[more than ${maxLevels} levels]` as T;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => mapTexts(item, change, levels - 1));
    return items.some((item, index) => item !== value[index]) ? (items as T) : value;
  }
  if (!isPlain(value)) return change.instance ? (change.instance(value) as T) : value;
  const members = value as Record<string, unknown>;
  const names = Object.keys(members);
  // Made with the first change. Most values have none, and can be large.
  let entries: [string, unknown][] | undefined;
  for (const name of names) {
    const changedName = change.text(name);
    const member = mapTexts(members[name], change, levels - 1);
    if (!entries && changedName === name && member === members[name]) continue;
    entries ??= names.slice(0, names.indexOf(name)).map((before) => [before, members[before]]);
    entries.push([changedName, member]);
  }
  return entries ? (Object.fromEntries(entries) as T) : value;
}

/** Whether a value is an object of JSON, and not one of a class. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns a JSON value in which each lone surrogate is U+FFFD. Model providers refuse a request that contains one, and each later one. */
export function wellFormed<T>(value: T): T {
  return mapTexts(value, { text: (text) => text.toWellFormed() });
}

/** Returns a JSON value without its objects and arrays below `maxLevels`, which `JSON.stringify` could not write. */
export function withoutDeepLevels<T>(value: T): T {
  return mapTexts(value, { text: (text) => text });
}
