/** A source of time. Tests pass `fakeClock` of `mcparley/testing`. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `fn` once after `ms` milliseconds, unless cleared. */
  setTimeout(fn: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
}

/** The default clock. Its timers do not keep a process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (fn, ms) => {
    const handle: unknown = setTimeout(fn, ms);
    // Node returns an object with `unref`; browsers and Workers return a number.
    if (typeof handle === "object" && handle !== null) (handle as { unref?: () => void }).unref?.();
    return handle;
  },
  clearTimeout: (handle) => clearTimeout(handle as Parameters<typeof clearTimeout>[0]),
};

/** A clock whose timers keep the process alive, for waits that a call depends on, such as a pause before a retry. */
export const wakefulClock: Clock = { ...systemClock, setTimeout: (fn, ms) => setTimeout(fn, ms) };
