import type { CommandIo } from "../io.ts";

/** A clock that a test moves. */
export interface ManualClock {
  readonly schedule: CommandIo["schedule"];
  /** The number of calls that are still to come. */
  pending(): number;
  /** Moves the clock, and makes the calls that are due. */
  advance(ms: number): void;
}

export function manualClock(): ManualClock {
  let now = 0;
  const timers = new Set<{ readonly time: number; readonly run: () => void }>();
  return {
    schedule(ms, run) {
      const timer = { time: now + ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    pending: () => timers.size,
    advance(ms) {
      now += ms;
      for (const timer of [...timers].filter(({ time }) => time <= now)) {
        timers.delete(timer);
        timer.run();
      }
    },
  };
}
