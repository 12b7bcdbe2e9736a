import { type Clock, startLimit } from "./clock.ts";
import { LocalError } from "./errors.ts";

/**
 * The reason of a signal that ends work whose result nobody waits for. It is made once: the default reason is an exception with a stack,
 * which takes more time than most of the work.
 */
export const routineEnd: Error = /* @__PURE__ */ new Error("The work is no longer needed.");

/** The listener of a signal, for all callbacks that wait for it. A signal with one callback, as most have, needs no set. */
class AbortListener {
  callback: (() => void) | undefined;
  otherCallbacks: Set<() => void> | undefined;
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal, callback: () => void) {
    this.#signal = signal;
    this.callback = callback;
  }

  handleEvent(): void {
    // The option `once` does the same, but Node would check the options of each call.
    this.#signal.removeEventListener("abort", this);
    this.callback?.();
    this.otherCallbacks?.forEach((callback) => callback());
  }
}

const listeners = new WeakMap<AbortSignal, AbortListener>();

/**
 * Calls `callback` when a signal is aborted. The returned function removes the callback.
 *
 * A signal has one listener for all its callbacks, because Node warns of a leak at the eleventh listener, and a program may
 * pass one signal to any number of calls.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const listener = listeners.get(signal) ?? addListener(signal, callback);
  if (listener.callback !== callback) (listener.otherCallbacks ??= new Set()).add(callback);
  return () => {
    if (listener.callback === callback) listener.callback = undefined;
    else if (!listener.otherCallbacks?.delete(callback)) return;
    if (listener.callback || listener.otherCallbacks?.size) return;
    listeners.delete(signal);
    signal.removeEventListener("abort", listener);
  };
}

function addListener(signal: AbortSignal, callback: () => void): AbortListener {
  const listener = new AbortListener(signal, callback);
  signal.addEventListener("abort", listener);
  listeners.set(signal, listener);
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
