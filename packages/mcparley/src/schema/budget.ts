/** How much structure a value may have. */
export interface Budget {
  /** Containers within containers: 1 is an object or array of plain values. */
  readonly depth: number;
  /** Properties and items in the whole value, at every level. */
  readonly elements: number;
}

/** What a peer's arguments may have unless told otherwise: 64 levels, 100,000 elements. */
export const DEFAULT_BUDGET: Budget = { depth: 64, elements: 100_000 };

interface Scan {
  elements: number;
  /** The containers one level down; absent until there is one, so that a flat value costs no list. */
  next: object[] | undefined;
}

/**
 * Says which limit a value exceeds, in a sentence, or gives undefined when it keeps both. Meant for values parsed from
 * JSON, before any schema sees them: validators recurse, and take time and memory for each element.
 */
export function checkBudget(value: unknown, limits: Budget = DEFAULT_BUDGET): string | undefined {
  if (!isContainer(value)) return undefined;
  if (limits.depth < 1) return tooDeep(limits);
  const scan: Scan = { elements: 0, next: undefined };
  if (!scanContainer(value, scan, limits)) return tooMany(limits);
  // Level by level and without recursion, so that no nesting can exhaust the stack.
  for (let depth = 2; scan.next !== undefined; depth++) {
    if (depth > limits.depth) return tooDeep(limits);
    const level: readonly object[] = scan.next;
    scan.next = undefined;
    for (const container of level) if (!scanContainer(container, scan, limits)) return tooMany(limits);
  }
  return undefined;
}

/** Counts a container's elements and notes the containers among them; false once there are too many. */
function scanContainer(container: object, scan: Scan, limits: Budget): boolean {
  if (Array.isArray(container)) {
    scan.elements += container.length;
    if (scan.elements > limits.elements) return false;
    for (const item of container) if (isContainer(item)) (scan.next ??= []).push(item);
    return true;
  }
  for (const key in container) {
    if (++scan.elements > limits.elements) return false;
    const child: unknown = (container as Record<string, unknown>)[key];
    if (isContainer(child)) (scan.next ??= []).push(child);
  }
  return true;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function tooDeep({ depth }: Budget): string {
  return `The value is nested more than ${depth} levels deep.`;
}

function tooMany({ elements }: Budget): string {
  return `The value holds more than ${elements} properties and items.`;
}
