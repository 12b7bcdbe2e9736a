type ErrorClass = abstract new (...args: never[]) => Error;

/** Runs a function that may only fail with the given errors. Returns the error, if any. */
export async function onlyOwnErrors<T>(
  run: () => T | Promise<T>,
  ...classes: ErrorClass[]
): Promise<{ value: T } | { error: Error }> {
  try {
    return { value: await run() };
  } catch (error) {
    if (classes.some((one) => error instanceof one)) return { error: error as Error };
    throw error;
  }
}
