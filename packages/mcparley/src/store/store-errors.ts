import { LocalError } from "../rpc/errors.ts";
import type { Store } from "./store.ts";

/**
 * Returns a store whose operations fail only with `LocalError` `store_unavailable`, so that callers can distinguish failures
 * of the store from other errors. `onFailure` is called for each failure. Closing the returned store does nothing.
 */
export function withStoreErrors(store: Store, onFailure: () => void = () => {}): Store {
  const attempt = async <T>(operation: () => Promise<T>): Promise<T> => {
    try {
      return await operation();
    } catch (cause) {
      onFailure();
      throw isUnavailable(cause) ? cause : unavailable(cause);
    }
  };
  return {
    get: (key) => attempt(() => store.get(key)),
    set: (key, value, options) => attempt(() => store.set(key, value, options)),
    compareAndSet: (key, expected, value, options) => attempt(() => store.compareAndSet(key, expected, value, options)),
    delete: (key) => attempt(() => store.delete(key)),
    append: (log, value, options) => attempt(() => store.append(log, value, options)),
    readFrom: (log, after, limit) => attempt(() => store.readFrom(log, after, limit)),
    publish: (channel, message) => attempt(() => store.publish(channel, message)),
    subscribe: (channel, listener, missed) => attempt(() => store.subscribe(channel, listener, missed)),
    close: async () => {},
  };
}

function unavailable(cause: unknown): LocalError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new LocalError("store_unavailable", `The store is unavailable: ${why}`, { cause });
}

/** Returns whether an error means that a store is unavailable. */
export function isUnavailable(error: unknown): error is LocalError {
  return error instanceof LocalError && error.code === "store_unavailable";
}
