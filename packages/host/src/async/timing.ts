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

/**
 * Runs work with a signal that is aborted when one of several is, with its reason. The promise settles like that of the work.
 *
 * The signals keep nothing of it when the work has ended. Node 20 keeps an entry in each signal that was given to `AbortSignal.any` for
 * as long as that signal exists, which for some is the lifetime of the host.
 */
export async function withAnySignal<T>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const ended = new AbortController();
  for (const signal of signals) {
    if (!signal) continue;
    const follow = (): void => controller.abort(signal.reason);
    if (signal.aborted) follow();
    // Any number of calls can follow one signal.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", follow, { once: true, signal: ended.signal });
  }
  try {
    return await work(controller.signal);
  } finally {
    ended.abort();
  }
}
