/** A source of time and timers. Pass `fakeClock` of `mcparley/testing` in tests. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `fn` once after `ms` milliseconds, unless cleared. */
  setTimeout(fn: () => void, ms: number): unknown;
  /** Cancels a timer. `handle` is the value that `setTimeout` returned. */
  clearTimeout(handle: unknown): void;
}

/** The longest delay of a timer in milliseconds, 24.8 days. Runtimes call a timer with a longer delay at once. */
const longestDelay = 2 ** 31 - 1;

/** Starts the timer of a time limit. A limit of more than 24.8 days, such as `Infinity`, means no limit and has no timer. */
export function startLimit(clock: Clock, fn: () => void, ms: number): unknown {
  return ms > longestDelay ? undefined : clock.setTimeout(fn, ms);
}

/** Calls `action` after each interval of `ms` milliseconds, until the returned function is called. */
export function repeat(clock: Clock, ms: number, action: () => void): () => void {
  let timer: unknown;
  const start = (): void => {
    timer = clock.setTimeout(() => {
      start();
      action();
    }, ms);
  };
  start();
  return () => clock.clearTimeout(timer);
}

/** Throws a `TypeError` for an option with a time that is negative or not a number. `Infinity` is allowed. */
export function checkTime(option: string, ms: number | undefined): void {
  if (ms === undefined || (typeof ms === "number" && ms >= 0)) return;
  throw new TypeError(`${option} must be a number of milliseconds, 0 or more; got ${String(ms)}.`);
}

/**
 * The default clock. Its timers do not keep a process alive. A delay of more than 24.8 days is shortened to that.
 *
 * @example
 * ```ts
 * import { type Clock, systemClock } from "mcparley";
 *
 * const offset = 60_000;
 * const clock: Clock = { ...systemClock, now: () => systemClock.now() + offset };
 * ```
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (fn, ms) => {
    const handle: unknown = setTimeout(fn, Math.min(ms, longestDelay));
    // Node returns an object with `unref`; browsers and Workers return a number.
    if (typeof handle === "object" && handle !== null) (handle as { unref?: () => void }).unref?.();
    return handle;
  },
  clearTimeout: (handle) => clearTimeout(handle as Parameters<typeof clearTimeout>[0]),
};

/** A clock whose timers keep the process alive, for waits that a call depends on, such as a pause before a retry. */
export const wakefulClock: Clock = /* @__PURE__ */ (() => ({
  ...systemClock,
  setTimeout: (fn: () => void, ms: number) => setTimeout(fn, Math.min(ms, longestDelay)),
}))();
