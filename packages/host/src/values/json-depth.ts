/**
 * Whether the objects and arrays of a JSON value are nested at most `max` levels deep.
 *
 * `JSON.parse` accepts any depth, but `JSON.stringify` exhausts the stack at some thousand levels.
 */
export function isWithinDepth(value: unknown, max: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return max > 0 && Object.values(value).every((member) => isWithinDepth(member, max - 1));
}
