const maxLevels = 150;

/**
 * Returns the JSON of a value as `write` writes it. `JSON.stringify` exhausts the stack at some thousand levels, which a server can
 * send. Objects and arrays below 150 levels of such a value become a text.
 */
export function jsonText(value: unknown, write: (value: unknown) => string): string {
  try {
    return write(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return write(withoutDeepLevels(value, maxLevels));
  }
}

function withoutDeepLevels(value: unknown, levels: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return `[more than ${maxLevels} levels]`;
  if (Array.isArray(value)) return value.map((item) => withoutDeepLevels(item, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutDeepLevels(member, levels - 1)]),
  );
}
