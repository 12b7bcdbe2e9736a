const encoder = new TextEncoder();

/** Returns the size of a value as JSON in UTF-8, in bytes. Infinity if it is nested so deep that it exhausts the stack. */
export function sizeOfJson(value: unknown): number {
  try {
    return encoder.encode(JSON.stringify(value)).length;
  } catch {
    return Infinity;
  }
}
