import type { Clock } from "../rpc/clock.ts";

/** A clock that a test advances. */
export interface FakeClock extends Clock {
  /**
   * Advances the time by `ms` and calls the timers that expire, in order. After each timer, and at the end, waits for the
   * pending promises and tasks.
   */
  advance(ms: number): Promise<void>;
  /** Number of timers that are set. */
  readonly pending: number;
}

interface Timer {
  dueAt: number;
  fn: () => void;
}

/**
 * Returns a clock that a test advances. Its time is `start`, in milliseconds since the epoch, until then. Default: 0.
 *
 * @example
 * ```ts
 * import { createServer, memoryStore } from "mcparley/server";
 * import { fakeClock } from "mcparley/testing";
 *
 * const clock = fakeClock();
 * const store = memoryStore({ clock });
 * await store.set("key", "value", { ttl: 1_000 });
 * await clock.advance(1_001);
 * console.log(await store.get("key")); // undefined
 * ```
 */
export function fakeClock(start = 0): FakeClock {
  const timers = new Set<Timer>();
  let now = start;

  function nextBefore(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of timers) if (timer.dueAt <= end && (!next || timer.dueAt < next.dueAt)) next = timer;
    return next;
  }

  return {
    now: () => now,
    setTimeout(fn, ms) {
      const timer = { dueAt: now + Math.max(0, ms), fn };
      timers.add(timer);
      return timer;
    },
    clearTimeout: (handle) => void timers.delete(handle as Timer),
    get pending() {
      return timers.size;
    },
    async advance(ms) {
      const end = now + ms;
      await flushPromises();
      for (let timer = nextBefore(end); timer; timer = nextBefore(end)) {
        timers.delete(timer);
        now = timer.dueAt;
        timer.fn();
        await flushPromises();
      }
      now = end;
    },
  };
}

/**
 * Waits until pending promises and tasks have run, and those that they queue. Does not wait for timers or input.
 *
 * @example
 * ```ts
 * import { flushPromises } from "mcparley/testing";
 *
 * let isDone = false;
 * void Promise.resolve().then(() => (isDone = true));
 * await flushPromises();
 * console.log(isDone); // true
 * ```
 */
export function flushPromises(): Promise<void> {
  // A timer runs after all microtasks. Several turns are needed, because a turn may queue another, as a message channel
  // does.
  return new Promise((resolve) => {
    let turns = 3;
    const next = (): void => void (turns-- === 0 ? resolve() : setTimeout(next, 0));
    next();
  });
}
