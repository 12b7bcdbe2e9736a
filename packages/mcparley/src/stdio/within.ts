import type { Clock } from "../rpc/clock.ts";

/** Waits for a promise, at most `ms` milliseconds. Says whether it settled in that time; it may reject or resolve. */
export function within(promise: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => resolve(false), ms);
    const settled = (): void => {
      clock.clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
