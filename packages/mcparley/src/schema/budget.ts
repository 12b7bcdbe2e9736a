/** Limits on the structure of a value. */
export interface Budget {
  /** Maximum number of levels: 1 is an object or array of primitive values. At most 1,000. */
  readonly depth: number;
  /** Maximum number of properties and items in the whole value, at all levels. */
  readonly elements: number;
}

/** The default budget: 64 levels, 100,000 elements. */
const DEFAULT_BUDGET: Budget = { depth: 64, elements: 100_000 };

/** A larger depth would let the recursion below exhaust the stack. */
const MAX_DEPTH = 1_000;
const TOO_DEEP = -1;
const TOO_MANY = -2;

/**
 * Returns a sentence that names the limit that a value exceeds, or undefined if it exceeds none.
 *
 * Call it for a value that was parsed from JSON, before any recursive function. It reads each element once, at most
 * `elements` of them, and needs less time than the JSON parser.
 */
export function checkBudget(value: unknown, { depth, elements }: Budget = DEFAULT_BUDGET): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const remaining = elementsLeft(value, Math.min(depth, MAX_DEPTH), elements);
  if (remaining === TOO_DEEP) return `The value is nested more than ${Math.min(depth, MAX_DEPTH)} levels deep.`;
  return remaining === TOO_MANY ? `The value holds more than ${elements} properties and items.` : undefined;
}

/** Returns how many elements are left of `allowed`, or TOO_DEEP or TOO_MANY. */
function elementsLeft(container: object, depth: number, maxElements: number): number {
  if (depth <= 0) return TOO_DEEP;
  let remaining = maxElements;
  if (Array.isArray(container)) {
    remaining -= container.length;
    if (remaining < 0) return TOO_MANY;
    for (const item of container) {
      if (typeof item !== "object" || item === null) continue;
      remaining = elementsLeft(item, depth - 1, remaining);
      if (remaining < 0) return remaining;
    }
    return remaining;
  }
  // Object.keys and Object.values would allocate a list, which takes longer than parsing the object.
  for (const key in container) {
    if (--remaining < 0) return TOO_MANY;
    const child = (container as Record<string, unknown>)[key];
    if (typeof child !== "object" || child === null) continue;
    remaining = elementsLeft(child, depth - 1, remaining);
    if (remaining < 0) return remaining;
  }
  return remaining;
}
