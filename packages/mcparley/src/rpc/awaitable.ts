/**
 * A value, or the promise of one.
 *
 * What can be answered at once is, without a turn of the microtask queue for each function on the way: a tool that
 * returns a plain value would otherwise cost a dozen of them.
 */
export type Awaitable<T> = T | Promise<T>;

/** Whether a value has to be waited for, as `await` would: any object with a `then` is. */
export function isPromise<T>(value: Awaitable<T> | PromiseLike<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Goes on with a value once it is there: now, unless it is promised. */
export function after<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Runs what may fail, now or later, and goes on from a failure with what `handle` makes of it. */
export function recover<T>(run: () => Awaitable<T>, handle: (error: unknown) => Awaitable<T>): Awaitable<T> {
  try {
    const value = run();
    return isPromise(value) ? value.then(undefined, handle) : value;
  } catch (error) {
    return handle(error);
  }
}

/** Several values, once the last of them is there. */
export function all<T>(values: readonly Awaitable<T>[]): Awaitable<T[]> {
  return values.some(isPromise) ? Promise.all(values.map(async (value) => value)) : (values as T[]);
}
