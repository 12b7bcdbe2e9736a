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
  const encoded = serverName.replaceAll(/[^\w.-]/g, (unit) => `%${unit.charCodeAt(0).toString(16)};`);
  const prefix = `mcparley:${encoded}:`;
  return {
    get: (key) => store.get(prefix + key),
    set: (key, ...rest) => store.set(prefix + key, ...rest),
    compareAndSet: (key, ...rest) => store.compareAndSet(prefix + key, ...rest),
    delete: (key) => store.delete(prefix + key),
    append: (log, ...rest) => store.append(prefix + log, ...rest),
    readFrom: (log, ...rest) => store.readFrom(prefix + log, ...rest),
    publish: (channel, message) => store.publish(prefix + channel, message),
    subscribe: (channel, ...rest) => store.subscribe(prefix + channel, ...rest),
    close: async () => {},
  };
}

/** Throws `invalid_definition` if `options` has a store, which only `createServer` accepts. */
export function refuseStore(options: object & { store?: unknown }, of: string): void {
  if (options.store === undefined) return;
  throw new LocalError("invalid_definition", `${of} has no option "store". Use createServer({ store }).`);
}
