/**
 * A value, or a promise of one.
 *
 * A function on the path of a request returns its value directly if it can. An `await` in each of them would need a dozen
 * turns of the microtask queue for a tool that returns a plain value (ADR 19).
 */
export type Awaitable<T> = T | Promise<T>;

/** Returns whether `await` would wait for a value: whether it is an object with a `then` method. */
export function isPromise<T>(value: Awaitable<T> | PromiseLike<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Calls `next` with a value: immediately, or when the promise of it resolves. */
export function after<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Calls `run`. If it throws or rejects, returns the result of `handle` instead. */
export function recover<T>(run: () => Awaitable<T>, handle: (error: unknown) => Awaitable<T>): Awaitable<T> {
  try {
    const value = run();
    return isPromise(value) ? value.then(undefined, handle) : value;
  } catch (error) {
    return handle(error);
  }
}

/** Returns several values, as a promise if one of them is a promise. */
export function all<T>(values: readonly Awaitable<T>[]): Awaitable<T[]> {
  return values.some(isPromise) ? Promise.all(values.map(async (value) => value)) : (values as T[]);
}
