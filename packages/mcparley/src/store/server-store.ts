import { LocalError } from "../rpc/errors.ts";
import type { Store } from "./store.ts";

/**
 * Returns the part of a store that belongs to one server: the names of all keys, logs and channels start with the name of
 * the server. The library stores everything of a server in it, so servers with different names can share a store.
 *
 * Closing it does nothing, because the store belongs to the caller of `createServer`.
 */
export function serverStore(store: Store, serverName: string): Store {
  // The encoded name has no `:`, and different names stay different.
  const encodedName = serverName.replaceAll(/[^\w.-]/g, (unit) => `%${unit.charCodeAt(0).toString(16)};`);
  const prefix = `mcparley:${encodedName}:`;
  return {
    get: (key) => store.get(prefix + key),
    set: (key, ...args) => store.set(prefix + key, ...args),
    compareAndSet: (key, ...args) => store.compareAndSet(prefix + key, ...args),
    delete: (key) => store.delete(prefix + key),
    append: (log, ...args) => store.append(prefix + log, ...args),
    readFrom: (log, ...args) => store.readFrom(prefix + log, ...args),
    publish: (channel, message) => store.publish(prefix + channel, message),
    subscribe: (channel, ...args) => store.subscribe(prefix + channel, ...args),
    close: async () => {},
  };
}

/** Throws `invalid_definition` if `options` has a store, which only `createServer` accepts. */
export function refuseStore(options: object & { store?: unknown }, functionName: string): void {
  if (options.store === undefined) return;
  throw new LocalError("invalid_definition", `${functionName} has no option "store". Use createServer({ store }).`);
}
