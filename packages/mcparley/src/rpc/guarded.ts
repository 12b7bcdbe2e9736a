import { isPromise } from "./awaitable.ts";

/** Calls a callback of the user. Reports the error if it throws or if the promise that it returns rejects. */
export function guarded<T>(notify: () => T, report: (error: unknown) => void): T | undefined {
  try {
    const returned = notify();
    if (isPromise(returned)) returned.then(undefined, report);
    return returned;
  } catch (error) {
    report(error);
    return undefined;
  }
}
