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
      if (isUnavailable(cause)) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new LocalError("store_unavailable", `The store is unavailable: ${why}`, { cause });
    }
  };
  return {
    get: (key) => attempt(() => store.get(key)),
    set: (...entry) => attempt(() => store.set(...entry)),
    compareAndSet: (...change) => attempt(() => store.compareAndSet(...change)),
    delete: (key) => attempt(() => store.delete(key)),
    append: (...entry) => attempt(() => store.append(...entry)),
    readFrom: (...range) => attempt(() => store.readFrom(...range)),
    publish: (...message) => attempt(() => store.publish(...message)),
    subscribe: (...subscription) => attempt(() => store.subscribe(...subscription)),
    close: async () => {},
  };
}

/** Returns whether an error means that a store is unavailable. */
export function isUnavailable(error: unknown): error is LocalError {
  return error instanceof LocalError && error.code === "store_unavailable";
}
