import { maxLevels } from "./json-depth.ts";

/**
 * Returns a copy of a JSON value in which each text and each name is changed. Returns the same object if nothing changes. Objects of a
 * class stay as they are. Objects and arrays below `maxLevels` become a text.
 */
export function mapTexts<T>(value: T, change: (text: string) => string, levels: number = maxLevels): T {
  if (typeof value === "string") return change(value) as T;
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return `[more than ${maxLevels} levels]` as T;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => mapTexts(item, change, levels - 1));
    return items.some((item, index) => item !== value[index]) ? (items as T) : value;
  }
  if (!isPlain(value)) return value;
  let isChanged = false;
  const entries = Object.entries(value).map(([name, member]: [string, unknown]) => {
    const entry = [change(name), mapTexts(member, change, levels - 1)] as const;
    isChanged ||= entry[0] !== name || entry[1] !== member;
    return entry;
  });
  return isChanged ? (Object.fromEntries(entries) as T) : value;
}

/** Whether a value is an object of JSON, and not one of a class. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns a JSON value in which each lone surrogate is U+FFFD. Model providers refuse a request that contains one, and each later one. */
export function wellFormed<T>(value: T): T {
  return mapTexts(value, (text) => text.toWellFormed());
}

/** Returns a JSON value without its objects and arrays below `maxLevels`, which `JSON.stringify` could not write. */
export function withoutDeepLevels<T>(value: T): T {
  return mapTexts(value, (text) => text);
}
