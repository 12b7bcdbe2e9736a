import { type Clock, startLimit } from "./clock.ts";
import { LocalError } from "./errors.ts";

/**
 * The reason of a signal that ends work whose result nobody waits for. It is made once: the default reason is an exception with a stack,
 * which takes more time than most of the work.
 */
export const routineEnd: Error = /* @__PURE__ */ new Error("The work is no longer needed.");

/** The callbacks that wait for a signal. The object itself is the listener of the signal, so that a call creates no function for it. */
class Waiting {
  readonly callbacks: Set<() => void> = new Set();

  handleEvent(): void {
    for (const callback of this.callbacks) callback();
  }
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls `callback` when a signal is aborted. The returned function removes the callback.
 *
 * A signal has one listener for all its callbacks, because Node warns of a leak at the eleventh listener, and a program may
 * pass one signal to any number of calls.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const listener = waiting.get(signal) ?? startWaiting(signal);
  listener.callbacks.add(callback);
  return () => {
    if (!listener.callbacks.delete(callback) || listener.callbacks.size > 0) return;
    waiting.delete(signal);
    signal.removeEventListener("abort", listener);
  };
}

function startWaiting(signal: AbortSignal): Waiting {
  const listener = new Waiting();
  signal.addEventListener("abort", listener, { once: true });
  waiting.set(signal, listener);
  return listener;
}

/** A signal that is aborted together with other signals. */
export interface Linked {
  readonly signal: AbortSignal;
  /** Aborts `signal` only. */
  abort(reason: unknown): void;
  /** Removes the listeners from the other signals, so that a long-lived signal keeps no references. */
  unlink(this: void): void;
}

/** Returns a signal that is aborted as soon as one of the given signals is. */
export function link(...signals: (AbortSignal | undefined)[]): Linked {
  const controller = new AbortController();
  const undo: (() => void)[] = [];
  for (const signal of signals) {
    if (!signal) continue;
    const follow = (): void => controller.abort(signal.reason);
    if (signal.aborted) follow();
    else undo.push(onAbort(signal, follow));
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => {
      for (const stop of undo) stop();
    },
  };
}

/**
 * Returns a signal that is aborted as soon as one of the given signals is, and with `LocalError` `timeout` after `ms`
 * milliseconds. `unlink` also stops the timer.
 */
export function linkWithin(
  { clock, ms, message }: { clock: Clock; ms: number; message: string },
  ...signals: (AbortSignal | undefined)[]
): Linked {
  const scope = link(...signals);
  const timer = startLimit(clock, () => scope.abort(new LocalError("timeout", message)), ms);
  return {
    ...scope,
    unlink() {
      clock.clearTimeout(timer);
      scope.unlink();
    },
  };
}

/** Settles like `running`, or rejects as soon as the signal is aborted. `running` is then ignored. */
export async function unlessAborted<T>(running: Promise<T>, signal: AbortSignal | undefined, what: string): Promise<T> {
  if (!signal) return running;
  running.catch(() => {});
  let stop: (() => void) | undefined;
  const aborting = new Promise<never>((_, reject) => {
    const end = (): void => reject(abortedError(what, signal));
    if (signal.aborted) end();
    else stop = onAbort(signal, end);
  });
  try {
    return await Promise.race([aborting, running]);
  } finally {
    stop?.();
  }
}

/** Returns the error for an aborted operation: the reason of the signal if it is a `LocalError`, otherwise a new one. */
export function abortedError(what: string, signal: AbortSignal): LocalError {
  const { reason }: { reason: unknown } = signal;
  if (reason instanceof LocalError) return reason;
  return new LocalError("aborted", `${what} was cancelled by the caller.`, { cause: reason });
}

/** Waits for `ms` milliseconds, or forever if they are more than 24.8 days. Rejects as soon as the signal is aborted. */
export async function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  let timer: unknown;
  const waiting = new Promise<void>((resolve) => {
    timer = startLimit(clock, resolve, ms);
  });
  try {
    await unlessAborted(waiting, signal, "Waiting");
  } finally {
    clock.clearTimeout(timer);
  }
}

/** Waits for a promise for at most `ms` milliseconds. Returns whether it was resolved or rejected in that time. */
export function settlesWithin(promise: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = startLimit(clock, () => resolve(false), ms);
    const onSettled = (): void => {
      clock.clearTimeout(timer);
      resolve(true);
    };
    promise.then(onSettled, onSettled);
  });
}
