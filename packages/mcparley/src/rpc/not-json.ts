/** Describes the first value that JSON cannot represent, such as `"a.b" is a function`. Undefined if there is none. */
export function findNotJson(value: unknown, path: string): string | undefined {
  try {
    return describe(value, path, new Set());
  } catch (error) {
    if (error instanceof RangeError) return `${shown(path)} is nested too deeply`;
    throw error;
  }
}

function describe(given: unknown, path: string, above: Set<unknown>): string | undefined {
  if (typeof given === "bigint" || typeof given === "function" || typeof given === "symbol") {
    return `${shown(path)} is a ${typeof given}`;
  }
  if (typeof given !== "object" || given === null) return undefined;
  if (above.has(given)) return `${shown(path)} contains itself`;
  let value: unknown = given;
  try {
    if ("toJSON" in given && typeof given.toJSON === "function") value = given.toJSON();
  } catch (error) {
    return `${shown(path)} has a toJSON method that throws (${String((error as Error | undefined)?.message)})`;
  }
  if (value !== given) return describe(value, path, new Set(above).add(given));
  above.add(given);
  const members = Array.isArray(given) ? given.map((item, index) => [index, item] as const) : Object.entries(given);
  for (const [name, member] of members) {
    const wrong = describe(member, typeof name === "number" ? `${path}[${name}]` : `${path}.${name}`, above);
    if (wrong !== undefined) return wrong;
  }
  above.delete(given);
  return undefined;
}

function shown(path: string): string {
  return JSON.stringify(path.replace(/^\./, "").slice(0, 200));
}
