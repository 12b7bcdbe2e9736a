/** How much structure a value may have. */
export interface Budget {
  /** Containers within containers: 1 is an object or array of plain values. At most 1,000. */
  readonly depth: number;
  /** Properties and items in the whole value, at every level. */
  readonly elements: number;
}

/** The budget of a peer's arguments by default: 64 levels, 100,000 elements. */
const DEFAULT_BUDGET: Budget = { depth: 64, elements: 100_000 };

/** A larger depth would let the recursion below exhaust the stack. */
const MAX_DEPTH = 1_000;
const TOO_DEEP = -1;
const TOO_MANY = -2;

/**
 * Returns a sentence that names the limit which a value exceeds, or undefined if it keeps both.
 *
 * Meant for values that were parsed from JSON, before anything recursive uses them. It looks at each element once, and at
 * no more than `elements` of them, in less time than the parser needed.
 */
export function checkBudget(value: unknown, { depth, elements }: Budget = DEFAULT_BUDGET): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const left = elementsLeft(value, Math.min(depth, MAX_DEPTH), elements);
  if (left === TOO_DEEP) return `The value is nested more than ${Math.min(depth, MAX_DEPTH)} levels deep.`;
  return left === TOO_MANY ? `The value holds more than ${elements} properties and items.` : undefined;
}

/** Returns how many elements are left of `allowed`, or TOO_DEEP or TOO_MANY. */
function elementsLeft(container: object, depth: number, allowed: number): number {
  if (depth <= 0) return TOO_DEEP;
  let left = allowed;
  if (Array.isArray(container)) {
    left -= container.length;
    if (left < 0) return TOO_MANY;
    for (const item of container) {
      if (typeof item !== "object" || item === null) continue;
      left = elementsLeft(item as object, depth - 1, left);
      if (left < 0) return left;
    }
    return left;
  }
  // Object.keys and Object.values would allocate a list, and cost more than parsing the object did.
  for (const key in container) {
    if (--left < 0) return TOO_MANY;
    const child = (container as Record<string, unknown>)[key];
    if (typeof child !== "object" || child === null) continue;
    left = elementsLeft(child, depth - 1, left);
    if (left < 0) return left;
  }
  return left;
}
