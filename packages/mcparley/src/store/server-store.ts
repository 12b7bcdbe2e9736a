import { LocalError } from "../rpc/errors.ts";
import type { Store } from "./store.ts";

/**
 * Returns the part of a store that belongs to one server: the names of all keys, logs and channels start with the name of
 * the server. The library stores everything of a server in it, so servers with different names can share a store.
 *
 * Closing it does nothing, because the store belongs to the caller of `createServer`.
 */
export function serverStore(store: Store, serverName: string): Store {
  const prefix = `mcparley:${encodeName(serverName)}:`;
  return {
    get: (key) => store.get(prefix + key),
    set: (key, value, options) => store.set(prefix + key, value, options),
    compareAndSet: (key, expected, value, options) => store.compareAndSet(prefix + key, expected, value, options),
    delete: (key) => store.delete(prefix + key),
    append: (log, value, options) => store.append(prefix + log, value, options),
    readFrom: (log, after, limit) => store.readFrom(prefix + log, after, limit),
    publish: (channel, message) => store.publish(prefix + channel, message),
    subscribe: (channel, listener, missed) => store.subscribe(prefix + channel, listener, missed),
    close: async () => {},
  };
}

/** Encodes all UTF-16 units except letters, digits, `_`, `.` and `-`. The result has no `:`, and different names stay different. */
function encodeName(name: string): string {
  return name.replaceAll(/[^\w.-]/g, (unit) => `%${unit.charCodeAt(0).toString(16)};`);
}

/** Throws `invalid_definition` if `options` has a store, which only `createServer` accepts. */
export function refuseStore(options: object, of: string): void {
  if ((options as { store?: unknown }).store === undefined) return;
  throw new LocalError("invalid_definition", `${of} has no option "store". Use createServer({ store }).`);
}
