import type { Run } from "./run.ts";

type Primitive = string | number | boolean | null;

/** A set of JSON values. The time of a search depends on the size of the value, and not on the size of the set. */
export class ValueSet {
  readonly #primitives = new Set<Primitive>();
  readonly #structures = new Set<string>();
  /** The number of characters of the longest structure. */
  #longest = 0;

  /** Adds a value. Returns false if it was there already. */
  add(value: unknown, run: Run): boolean {
    const set: Set<unknown> = isPrimitive(value) ? this.#primitives : this.#structures;
    const key = isPrimitive(value) ? value : canonical(value, run, Infinity)!;
    if (set.has(key)) return false;
    set.add(key);
    if (!isPrimitive(value)) this.#longest = Math.max(this.#longest, (key as string).length);
    return true;
  }

  has(value: unknown, run: Run): boolean {
    if (isPrimitive(value)) return this.#primitives.has(value);
    if (this.#structures.size === 0) return false;
    const key = canonical(value, run, this.#longest);
    return key !== undefined && this.#structures.has(key);
  }
}

function isPrimitive(value: unknown): value is Primitive {
  return typeof value !== "object" || value === null;
}

/**
 * Writes a value as JSON with sorted names, so that equal values have equal text. Returns undefined if the text would be
 * longer than `limit`. Takes two steps for each value and name, and one for each 16 characters of a string.
 */
function canonical(value: unknown, run: Run, limit: number): string | undefined {
  run.take(2);
  if (typeof value === "string") {
    run.take(value.length >> 4);
    return value.length > limit ? undefined : JSON.stringify(value);
  }
  // String writes -0 as 0, to which it is equal.
  if (isPrimitive(value)) return String(value);
  run.enter();
  const text = Array.isArray(value)
    ? canonicalItems(value, run, limit)
    : canonicalProperties(value as Record<string, unknown>, run, limit);
  run.leave();
  return text;
}

function canonicalItems(items: readonly unknown[], run: Run, limit: number): string | undefined {
  let text = "[";
  for (const item of items) {
    const part = canonical(item, run, limit - text.length);
    if (part === undefined) return undefined;
    text += `${part},`;
  }
  return text.length > limit ? undefined : `${text}]`;
}

function canonicalProperties(object: Record<string, unknown>, run: Run, limit: number): string | undefined {
  let text = "{";
  for (const name of Object.keys(object).toSorted()) {
    const key = canonical(name, run, limit - text.length);
    const part = key && canonical(object[name], run, limit - text.length);
    if (part === undefined) return undefined;
    text += `${key}:${part},`;
  }
  return text.length > limit ? undefined : `${text}}`;
}
