/** Calls a listener. Its error must not change the work that it observes, and there is nobody to report it to. */
export function ignoreErrors(call: () => void): void {
  try {
    call();
  } catch {}
}

/** Returns a thrown value as an error. */
export function toError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}
