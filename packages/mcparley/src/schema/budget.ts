/** How much structure a value may have. */
export interface Budget {
  /** Containers within containers: 1 is an object or array of plain values. */
  readonly depth: number;
  /** Properties and items in the whole value, at every level. */
  readonly elements: number;
}

/** What a peer's arguments may have unless told otherwise: 64 levels, 100,000 elements. */
export const DEFAULT_BUDGET: Budget = { depth: 64, elements: 100_000 };

/**
 * Says which limit a value exceeds, in a sentence, or gives undefined when it keeps both. Meant for values parsed from
 * JSON, before any schema sees them: validators recurse, and take time and memory for each element.
 */
export function checkBudget(value: unknown, { depth, elements }: Budget = DEFAULT_BUDGET): string | undefined {
  if (isFlat(value, depth, elements)) return undefined;
  let level: readonly unknown[] = [value];
  let count = 0;
  // Level by level and without recursion, so that no nesting can exhaust the stack.
  for (let deep = 0; level.length > 0; deep++) {
    const next: unknown[] = [];
    for (const container of level) {
      if (typeof container !== "object" || container === null) continue;
      if (deep >= depth) return `The value is nested more than ${depth} levels deep.`;
      const children: readonly unknown[] = Array.isArray(container) ? container : Object.values(container);
      count += children.length;
      if (count > elements) return `The value holds more than ${elements} properties and items.`;
      for (const child of children) if (typeof child === "object") next.push(child);
    }
    level = next;
  }
  return undefined;
}

/** Whether a value is an object of plain values, within its limits: most arguments are, and nothing is gathered for them. */
function isFlat(value: unknown, depth: number, elements: number): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value) || depth < 1) return false;
  let count = 0;
  for (const key in value) {
    const child = (value as Record<string, unknown>)[key];
    if ((typeof child === "object" && child !== null) || ++count > elements) return false;
  }
  return true;
}
