/** Maximum depth. Deeper values, and those with a `toJSON` method, need the slower check. */
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
