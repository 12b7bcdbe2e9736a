import type { Run } from "./run.ts";

type Primitive = string | number | boolean | null;

/** A set of JSON values, in which a value is found in time that grows with its own size alone. */
export class ValueSet {
  readonly #primitives = new Set<Primitive>();
  readonly #structures = new Set<string>();
  /** Characters of the longest structure. */
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
 * longer than `limit`. Takes a step for each value and for each 16 characters.
 */
function canonical(value: unknown, run: Run, limit: number): string | undefined {
  const parts: string[] = [];
  let length = 0;
  const write = (text: string): boolean => {
    run.take(1 + (text.length >> 4));
    parts.push(text);
    return (length += text.length) <= limit;
  };
  const visit = (item: unknown): boolean => {
    // -0 is written as 0, to which it is equal.
    if (isPrimitive(item)) return tooLong(item, limit) ? false : write(JSON.stringify(item) ?? "null");
    run.enter();
    const fits = Array.isArray(item) ? visitItems(item) : visitProperties(item as Record<string, unknown>);
    run.leave();
    return fits;
  };
  const visitItems = (items: readonly unknown[]): boolean =>
    write("[") && items.every((item) => visit(item) && write(",")) && write("]");
  const visitProperties = (object: Record<string, unknown>): boolean => {
    const names = Object.keys(object);
    run.take(names.length);
    return (
      write("{") &&
      names.toSorted().every((name) => visit(name) && write(":") && visit(object[name]) && write(",")) &&
      write("}")
    );
  };
  return visit(value) ? parts.join("") : undefined;
}

function tooLong(value: Primitive, limit: number): boolean {
  return typeof value === "string" && value.length > limit;
}
