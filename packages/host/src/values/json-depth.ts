/** Maximum levels of objects and arrays in a value of a server. Deeper ones would exhaust the stack of each function that reads them. */
export const maxLevels = 150;

/**
 * Whether the objects and arrays of a JSON value are nested at most `max` levels deep.
 *
 * `JSON.parse` accepts any depth, but `JSON.stringify` exhausts the stack at some thousand levels.
 */
export function isWithinDepth(value: unknown, max: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (max === 0) return false;
  for (const name in value) if (!isWithinDepth((value as Record<string, unknown>)[name], max - 1)) return false;
  return true;
}
