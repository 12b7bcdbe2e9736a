import type { Clock } from "../rpc/clock.ts";

/** A clock that moves when a test says so. */
export interface FakeClock extends Clock {
  /**
   * Moves the time on by `ms`, calling what falls due on the way in order. After each call, and at the end, everything
   * that waits for no timer is given the time to run.
   */
  advance(ms: number): Promise<void>;
  /** How many timers are set. */
  readonly pending: number;
}

interface Timer {
  at: number;
  fn: () => void;
}

/** Makes a clock that stands at `start` until it is moved. */
export function fakeClock(start = 0): FakeClock {
  const timers = new Set<Timer>();
  let now = start;

  function nextBefore(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of timers) if (timer.at <= end && (!next || timer.at < next.at)) next = timer;
    return next;
  }

  return {
    now: () => now,
    setTimeout(fn, ms) {
      const timer = { at: now + Math.max(0, ms), fn };
      timers.add(timer);
      return timer;
    },
    clearTimeout: (handle) => void timers.delete(handle as Timer),
    get pending() {
      return timers.size;
    },
    async advance(ms) {
      const end = now + ms;
      await settled();
      for (let timer = nextBefore(end); timer; timer = nextBefore(end)) {
        timers.delete(timer);
        now = timer.at;
        timer.fn();
        await settled();
      }
      now = end;
    },
  };
}

/** Gives all that is ready to run, and all that follows from it without a timer or input, the time to do so. */
export function settled(): Promise<void> {
  // A timer's turn comes after every microtask; several, since a turn may queue another (a message channel, a promise).
  return new Promise((resolve) => {
    let turns = 3;
    const next = (): void => void (turns-- === 0 ? resolve() : setTimeout(next, 0));
    next();
  });
}
