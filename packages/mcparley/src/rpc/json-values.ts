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
    const wrong = findNotJson(value, path);
    if (wrong === undefined) throw error;
    throw new TypeError(`${wrong}, which JSON cannot represent.`, { cause: error });
  }
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
  return describe(value, path, new Set());
}

function describe(original: unknown, path: string, ancestors: Set<unknown>): string | undefined {
  if (typeof original === "bigint" || typeof original === "function" || typeof original === "symbol") {
    return `${quote(path)} is a ${typeof original}`;
  }
  if (typeof original !== "object" || original === null) return undefined;
  if (ancestors.has(original)) return `${quote(path)} contains itself`;
  if (ancestors.size > MAX_LEVELS) return `${quote(path)} is nested more than ${MAX_LEVELS} levels deep`;
  let value: unknown = original;
  try {
    if ("toJSON" in original && typeof original.toJSON === "function") value = original.toJSON();
  } catch (error) {
    return `${quote(path)} has a toJSON method that throws (${String((error as Error | undefined)?.message)})`;
  }
  if (value !== original) return describe(value, path, new Set(ancestors).add(original));
  ancestors.add(original);
  const members = Array.isArray(original)
    ? original.map((item, index) => [index, item] as const)
    : Object.entries(original);
  for (const [name, member] of members) {
    const wrong = describe(member, typeof name === "number" ? `${path}[${name}]` : `${path}.${name}`, ancestors);
    if (wrong !== undefined) return wrong;
  }
  ancestors.delete(original);
  return undefined;
}

function quote(path: string): string {
  return JSON.stringify(path.replace(/^\./, "").slice(0, 200));
}
