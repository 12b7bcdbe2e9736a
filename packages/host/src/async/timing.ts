import { setMaxListeners } from "node:events";
import { LocalError, type Clock } from "mcparley";

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
  const follow = (): void => controller.abort(parent.reason);
  if (parent.aborted) follow();
  parent.addEventListener("abort", follow, { once: true });
  const timer = clock.setTimeout(() => controller.abort(new LocalError("timeout", message)), ms);
  return {
    signal: controller.signal,
    clear() {
      clock.clearTimeout(timer);
      parent.removeEventListener("abort", follow);
    },
  };
}

/** Settles like the promise. If the signal is aborted first, it rejects with the reason of the signal. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise<T>((resolve, reject) => {
    // All calls of a run have one signal, and any number of them can wait.
    setMaxListeners(0, signal);
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
