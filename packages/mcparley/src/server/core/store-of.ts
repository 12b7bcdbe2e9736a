import { serverStore } from "../../store/server-store.ts";
import type { Store } from "../../store/store.ts";
import type { ServerCore } from "./server-core.ts";

const stores = new WeakMap<ServerCore, Store>();

/**
 * Returns the server's part of its store, in which every name starts with the name of the server. Undefined if the server has
 * no store. All code of the library gets the store from this function. Other code reads `definition.store` only to find out
 * whether the server has a store.
 */
export function storeOf(core: ServerCore): Store | undefined {
  const { definition, info } = core;
  if (!definition.store) return undefined;
  const store = stores.get(core) ?? serverStore(definition.store, info.name);
  stores.set(core, store);
  return store;
}
