import { type Clock, systemClock } from "../../rpc/clock.ts";

const wakeful: Clock = { ...systemClock, setTimeout: (fn, ms) => setTimeout(fn, ms) };

/**
 * The clock for pauses after which work goes on. The system's own timers let a process end, as befits time limits; a
 * process that only waits to reconnect must not.
 */
export function wakefulClock(given: Clock | undefined): Clock {
  return given ?? wakeful;
}
