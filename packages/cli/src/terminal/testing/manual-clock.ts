/** Returns a clock that a test moves. */
export function manualClock() {
  let now = 0;
  const timers = new Set<{ readonly time: number; readonly run: () => void }>();
  return {
    schedule(this: void, ms: number, run: () => void): () => void {
      const timer = { time: now + ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    /** The number of calls that are still to come. */
    pending: () => timers.size,
    /** Moves the clock, and makes the calls that are due. */
    advance(ms: number): void {
      now += ms;
      for (const timer of [...timers].filter(({ time }) => time <= now)) {
        timers.delete(timer);
        timer.run();
      }
    },
  };
}
