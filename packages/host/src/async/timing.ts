import { onAbort } from "@mcparley/internal/abort";
import { LocalError, type Clock, systemClock } from "mcparley";

/** A signal that is aborted after a time, or when another signal is. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Clears the timer, and removes the listener. */
  clear(this: void): void;
}

/** Returns a signal that is aborted with `timeout` after `ms` milliseconds, or when `parent` is aborted. */
export function deadline(
  clock: Clock,
  parent: AbortSignal,
  { ms, message }: { ms: number; message: string },
): Deadline {
  const controller = new AbortController();
  const removeListener = onAbort(parent, (reason) => controller.abort(reason));
  const timer = clock.setTimeout(() => controller.abort(new LocalError("timeout", message)), ms);
  return {
    signal: controller.signal,
    clear() {
      clock.clearTimeout(timer);
      removeListener();
    },
  };
}

/** Settles like the promise. If the signal is aborted first, it rejects with the reason of the signal. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise<T>((resolve, reject) => {
    const removeListener = onAbort(signal, reject);
    void promise.then(resolve, reject).finally(removeListener);
  });
}

const wakefulClock: Clock = {
  ...systemClock,
  setTimeout: (fn, ms) => setTimeout(fn, Math.min(ms, 2 ** 31 - 1)),
};

/** Returns a clock whose timers, unlike those of `systemClock`, keep the process running, so that a program does not end during a wait. */
export function keepingProcess(clock: Clock): Clock {
  return clock === systemClock ? wakefulClock : clock;
}
