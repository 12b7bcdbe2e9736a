import { wellFormedJson } from "./well-formed.ts";

/** Maximum depth of a value in the fast check. Deeper values, and values with a `toJSON` method, need the slower check. */
const maxDepth = 100;

/**
 * Returns whether JSON can represent a value. Runs for the arguments of every call, so it allocates nothing. Returns false
 * for some values that JSON can represent, such as a `Date`. `findNotJson` then decides.
 */
export function isJson(value: unknown, depth = 0): boolean {
  if (typeof value !== "object")
    return !(typeof value === "bigint" || typeof value === "function" || typeof value === "symbol");
  if (value === null) return true;
  if (depth > maxDepth || "toJSON" in value) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isJson(item, depth + 1)) return false;
    return true;
  }
  for (const name in value) if (!isJson((value as Record<string, unknown>)[name], depth + 1)) return false;
  return true;
}

/** Maximum number of levels of a value that is sent. More levels exhaust the stack of many readers. */
const MAX_LEVELS = 1_000;

/**
 * Returns a copy of a value as its reader would parse it from JSON: members without a value are omitted, and the copy shares no object
 * with the value. Throws a `TypeError` that names the first value that JSON cannot represent. `path` is the name of the whole value.
 */
export function copyAsJson(value: unknown, path: string): unknown {
  try {
    return copyOf(value, "", 0);
  } catch (error) {
    throw notJson(value, path, error) ?? error;
  }
}

/** Returns the error that names the first member of a value that JSON cannot represent. Undefined if there is none. */
export function notJson(value: unknown, path: string, cause?: unknown): TypeError | undefined {
  const wrong = describe(value, path, { ancestors: new Set(), isResult: true });
  const cure = "Use a plain value in its place.";
  return wrong === undefined ? undefined : new TypeError(`${wrong}, which JSON cannot represent. ${cure}`, { cause });
}

/**
 * Returns the JSON text of a result. Throws a `TypeError` that names the first value that JSON cannot represent, such as a `Map`,
 * which would be `{}`.
 */
export function resultText(result: unknown): string {
  let json: string;
  try {
    json = wellFormedJson(result);
  } catch (error) {
    throw notJson(result, "result", error) ?? error;
  }
  const error = json.includes("{}") ? notJson(result, "result") : undefined;
  if (error) throw error;
  return json;
}

function copyOf(value: unknown, name: string | number, depth: number): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : null;
  if (typeof value === "bigint" || depth > MAX_LEVELS) throw new RangeError("The value cannot be sent.");
  if (typeof value !== "object" || value === null)
    return typeof value === "function" || typeof value === "symbol" ? undefined : value;
  const json: unknown = "toJSON" in value && typeof value.toJSON === "function" ? value.toJSON(String(name)) : value;
  if (typeof json !== "object" || json === null) return copyOf(json, name, depth);
  if (Array.isArray(json)) {
    const items: unknown[] = [];
    for (let index = 0; index < json.length; index++) items.push(copyOf(json[index], index, depth + 1) ?? null);
    return items;
  }
  const copy: Record<string, unknown> = {};
  // Object.keys would allocate a list.
  for (const key in json) {
    if (!Object.hasOwn(json, key)) continue;
    const value = copyOf((json as Readonly<Record<string, unknown>>)[key], key, depth + 1);
    // An assignment would set the prototype.
    if (key === "__proto__")
      Object.defineProperty(copy, key, { value, writable: true, enumerable: true, configurable: true });
    else if (value !== undefined) copy[key.toWellFormed()] = value;
  }
  return copy;
}

/** Describes the first value that JSON cannot represent, such as `"a.b" is a function`. Undefined if there is none. */
export function findNotJson(value: unknown, path: string): string | undefined {
  return describe(value, path, { ancestors: new Set(), isResult: false });
}

interface Search {
  readonly ancestors: Set<unknown>;
  /** Whether members are allowed that JSON omits, such as functions, and an object is not allowed that JSON empties, such as a `Map`. */
  readonly isResult: boolean;
}

function describe(original: unknown, path: string, search: Search): string | undefined {
  const { ancestors, isResult } = search;
  const isOmitted = typeof original === "function" || typeof original === "symbol";
  if (typeof original === "bigint" || (isOmitted && !isResult)) return `${quote(path)} is a ${typeof original}`;
  if (typeof original !== "object" || original === null) return undefined;
  if (ancestors.has(original)) return `${quote(path)} contains itself`;
  if (ancestors.size > MAX_LEVELS) return `${quote(path)} is nested more than ${MAX_LEVELS} levels deep`;
  let value: unknown = original;
  try {
    if ("toJSON" in original && typeof original.toJSON === "function") value = original.toJSON();
  } catch (error) {
    return `${quote(path)} has a toJSON method that throws (${String((error as Error | undefined)?.message)})`;
  }
  if (value !== original) return describe(value, path, { ancestors: new Set(ancestors).add(original), isResult });
  const members = Object.entries(original);
  if (isResult && members.length === 0 && !isPlain(original)) return `${quote(path)} is a ${original.constructor.name}`;
  ancestors.add(original);
  for (const [name, member] of members) {
    const memberPath = Array.isArray(original) ? `${path}[${name}]` : `${path}.${name}`;
    const wrong = describe(member, memberPath, search);
    if (wrong !== undefined) return wrong;
  }
  ancestors.delete(original);
  return undefined;
}

/** Returns whether a value is a list, or an object without a class. JSON makes an instance of `Map` or of a class without members `{}`. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  // An object of another realm has another prototype, which also has none itself.
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

function quote(path: string): string {
  return JSON.stringify(path.replace(/^\./, "").slice(0, 200));
}
