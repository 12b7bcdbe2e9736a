import { LocalError } from "../rpc/errors.ts";
import type { Store } from "./store.ts";

/**
 * A store whose every failure is a `LocalError` `store_unavailable`, whatever the one behind it rejects with, so that who
 * depends on it can tell its failures from all others; `onFailure` is called for each. It does not close the one behind it.
 */
export function reaching(store: Store, onFailure: () => void = () => {}): Store {
  const reached = async <T>(operation: () => Promise<T>): Promise<T> => {
    try {
      return await operation();
    } catch (cause) {
      onFailure();
      throw isUnavailable(cause) ? cause : unavailable(cause);
    }
  };
  return {
    get: (key) => reached(() => store.get(key)),
    set: (key, value, options) => reached(() => store.set(key, value, options)),
    compareAndSet: (key, expected, value, options) => reached(() => store.compareAndSet(key, expected, value, options)),
    delete: (key) => reached(() => store.delete(key)),
    append: (log, value, options) => reached(() => store.append(log, value, options)),
    readFrom: (log, after, limit) => reached(() => store.readFrom(log, after, limit)),
    publish: (channel, message) => reached(() => store.publish(channel, message)),
    subscribe: (channel, listener, missed) => reached(() => store.subscribe(channel, listener, missed)),
    close: async () => {},
  };
}

function unavailable(cause: unknown): LocalError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new LocalError("store_unavailable", `The store is out of reach: ${why}`, { cause });
}

/** Whether something failed because a store is out of reach. */
export function isUnavailable(error: unknown): error is LocalError {
  return error instanceof LocalError && error.code === "store_unavailable";
}
