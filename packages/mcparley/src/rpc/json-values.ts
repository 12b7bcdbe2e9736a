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

/** Describes the first value that JSON cannot represent, such as `"a.b" is a function`. Undefined if there is none. */
export function findNotJson(value: unknown, path: string): string | undefined {
  try {
    return describe(value, path, new Set());
  } catch (error) {
    if (error instanceof RangeError) return `${quote(path)} is nested too deeply`;
    throw error;
  }
}

function describe(original: unknown, path: string, ancestors: Set<unknown>): string | undefined {
  if (typeof original === "bigint" || typeof original === "function" || typeof original === "symbol") {
    return `${quote(path)} is a ${typeof original}`;
  }
  if (typeof original !== "object" || original === null) return undefined;
  if (ancestors.has(original)) return `${quote(path)} contains itself`;
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
