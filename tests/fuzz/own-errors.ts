type ErrorClass = abstract new (...args: never[]) => Error;

/** Runs something that may fail, though only with errors that it says it gives; returns which one, if any. */
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
