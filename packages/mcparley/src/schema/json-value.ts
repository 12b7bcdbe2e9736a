/**
 * Gives a value as JSON would carry it: the very same value when nothing would change, as is usual, and a copy
 * otherwise. Throws a TypeError for what JSON cannot carry at all (a bigint, a value that contains itself).
 */
export function toJsonValue(value: unknown): unknown {
  if (isJson(value)) return value;
  const text = JSON.stringify(value) as string | undefined;
  // A function, a symbol and undefined have no JSON text at all.
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

function isJson(root: unknown): boolean {
  const stack = [root];
  // Shared parts are looked at more than once, so the count keeps a value that contains itself from going on forever.
  for (let count = 0; stack.length > 0; count++) {
    if (count > 1_000_000) return false;
    const value = stack.pop();
    if (typeof value !== "object" || value === null) {
      if (!isJsonScalar(value)) return false;
    } else if (Array.isArray(value)) {
      for (const item of value) stack.push(item);
    } else {
      if (!isPlain(value)) return false;
      for (const key of Object.keys(value)) stack.push((value as Record<string, unknown>)[key]);
    }
  }
  return true;
}

function isJsonScalar(value: unknown): boolean {
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
