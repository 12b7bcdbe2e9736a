import { type Clock, systemClock } from "mcparley";

/** Unlike the timers of `systemClock`, these keep the process running, so that a program does not end during a wait. */
export const wakefulClock: Clock = {
  ...systemClock,
  setTimeout: (fn, ms) => setTimeout(fn, Math.min(ms, 2 ** 31 - 1)),
};
