/** Where time comes from. Tests give one of their own; see `fakeClock` in `mcparley/testing`. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `fn` once after `ms` milliseconds, unless cleared. It must not keep a process alive by itself. */
  setTimeout(fn: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
}

/** The clock of the system. Its timers do not keep a process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (fn, ms) => {
    const handle: unknown = setTimeout(fn, ms);
    // Node gives an object that can let the process end; browsers and Workers give a number.
    if (typeof handle === "object" && handle !== null) (handle as { unref?: () => void }).unref?.();
    return handle;
  },
  clearTimeout: (handle) => clearTimeout(handle as Parameters<typeof clearTimeout>[0]),
};
