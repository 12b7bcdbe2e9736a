import { LocalError } from "../rpc/errors.ts";
import type { Store } from "./store.ts";

/**
 * Returns the part of a store that belongs to one server: every key, log and channel starts with the server's name. All
 * that the library keeps for a server goes through it, so servers with different names can use one store.
 *
 * Closing it does nothing, because the caller who made the store closes it.
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

/** Encodes each UTF-16 unit but letters, digits, `_`, `.` and `-`, so that no name contains `:` and no two are alike. */
function encodeName(name: string): string {
  return name.replaceAll(/[^\w.-]/g, (unit) => `%${unit.charCodeAt(0).toString(16)};`);
}

/** Throws `invalid_definition` if `options` has a store, which only `createServer` accepts. */
export function refuseStore(options: object, of: string): void {
  if ((options as { store?: unknown }).store === undefined) return;
  throw new LocalError("invalid_definition", `${of} has no option "store". Use createServer({ store }).`);
}
