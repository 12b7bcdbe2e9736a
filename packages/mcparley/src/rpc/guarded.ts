import { isPromise } from "./awaitable.ts";

/** Calls a callback of the user. Reports the error if it throws or if the promise that it returns rejects. */
export function guarded<T>(notify: () => T, report: (error: unknown) => void): T | undefined {
  try {
    const result = notify();
    if (isPromise(result)) result.then(undefined, report);
    return result;
  } catch (error) {
    report(error);
    return undefined;
  }
}
