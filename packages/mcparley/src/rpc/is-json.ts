/** Deeper values, and values with a `toJSON` method, take the slow check. */
const maxDepth = 100;

/**
 * Returns whether JSON can carry a value. Runs for the arguments of every call, so it allocates nothing. It returns false for
 * some values that JSON can carry, such as a `Date`; a slower check decides about them.
 */
export function isJson(value: unknown, depth = 0): boolean {
  if (typeof value !== "object")
    return !(typeof value === "bigint" || typeof value === "function" || typeof value === "symbol");
  if (value === null) return true;
  if (depth > maxDepth || "toJSON" in value) return false;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) if (!isJson(item, depth + 1)) return false;
    return true;
  }
  for (const name in value) if (!isJson((value as Record<string, unknown>)[name], depth + 1)) return false;
  return true;
}
