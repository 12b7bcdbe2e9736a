import type { Clock } from "./clock.ts";
import { LocalError } from "./errors.ts";

/** A signal that is aborted together with other signals. */
export interface Linked {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Removes the listeners from the other signals, so that a long-lived signal keeps no references. */
  unlink(): void;
}

/** Returns a signal that is aborted as soon as one of the given signals is. */
export function link(...signals: (AbortSignal | undefined)[]): Linked {
  const controller = new AbortController();
  const undo: (() => void)[] = [];
  for (const signal of signals) {
    if (!signal) continue;
    const follow = (): void => controller.abort(signal.reason);
    if (signal.aborted) follow();
    else {
      signal.addEventListener("abort", follow, { once: true });
      undo.push(() => signal.removeEventListener("abort", follow));
    }
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => {
      for (const stop of undo) stop();
    },
  };
}

/** Settles like `running`, or rejects as soon as the signal is aborted. `running` is then ignored. */
export async function unlessAborted<T>(running: Promise<T>, signal: AbortSignal | undefined, what: string): Promise<T> {
  if (!signal) return running;
  running.catch(() => {});
  let stop: (() => void) | undefined;
  const aborting = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(abortedError(what, signal));
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    stop = () => signal.removeEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([aborting, running]);
  } finally {
    stop?.();
  }
}

/** Returns the error for an aborted operation: the reason of the signal if it is a `LocalError`, otherwise a new one. */
export function abortedError(what: string, signal: AbortSignal): LocalError {
  const { reason } = signal as { reason: unknown };
  if (reason instanceof LocalError) return reason;
  return new LocalError("aborted", `${what} was cancelled by the caller.`, { cause: reason });
}

/** Waits for `ms` milliseconds. Rejects as soon as the signal is aborted. */
export async function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  let timer: unknown;
  const waiting = new Promise<void>((resolve) => {
    timer = clock.setTimeout(resolve, ms);
  });
  try {
    await unlessAborted(waiting, signal, "Waiting");
  } finally {
    clock.clearTimeout(timer);
  }
}

/** Waits for a promise for at most `ms` milliseconds. Returns whether it was resolved or rejected in that time. */
export function within(promise: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => resolve(false), ms);
    const settled = (): void => {
      clock.clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
