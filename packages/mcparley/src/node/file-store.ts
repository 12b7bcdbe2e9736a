import { type Clock, systemClock } from "../rpc/clock.ts";
import type { Store } from "../store/store.ts";
import { SharedLog } from "./shared-log.ts";
import type { Change } from "./store-entry.ts";
import { StoreLog } from "./store-log.ts";

/** Options of `fileStore`. */
export interface FileStoreOptions {
  /** The most bytes that the folder may hold; beyond that nothing more is written (`too_large`). 256 MiB. */
  maxBytes?: number;
  clock?: Clock;
}

/**
 * Makes a store in a folder of this machine, which outlives the process: what was acknowledged is on the disk.
 *
 * Several processes may use the folder at the same time. All that the store holds is in the memory of each as well. It
 * needs a local disk: over a network, appends of two machines may overwrite each other. The folder is made where it is
 * missing, readable by its owner alone.
 */
export function fileStore(folder: string, options: FileStoreOptions = {}): Store {
  if (typeof folder !== "string" || folder === "") {
    throw new TypeError(`fileStore needs the path of a folder; got ${JSON.stringify(folder)}.`);
  }
  return openFileStore(folder, options);
}

/** Like `fileStore`; with `erase`, nothing stays in the folder of values that were replaced or deleted. */
export function openFileStore(folder: string, options: FileStoreOptions & { erase?: boolean }): Store {
  const { clock = systemClock, maxBytes = 268_435_456, erase = false } = options;
  const shared = new SharedLog(new StoreLog(folder), { clock, maxBytes, erase });
  const write = <T>(change: Change): Promise<T> => shared.write(change) as Promise<T>;

  return {
    get: (key) => shared.read((tables) => tables.get(key, clock.now())),
    set: (key, value, { ttl }) => write({ op: "set", now: clock.now(), key, value, ttl }),
    compareAndSet: (key, expected, value, { ttl }) =>
      write({ op: "compare", now: clock.now(), key, expected, value, ttl }),
    delete: (key) => write({ op: "delete", now: clock.now(), key }),
    append: (log, value, lifetime) => write({ op: "append", now: clock.now(), log, value, ...lifetime }),
    readFrom: (log, after, limit) =>
      shared.read((tables) => tables.readFrom(log, after, { limit, now: clock.now() }).map((entry) => ({ ...entry }))),
    publish: (channel, message) => write({ op: "publish", channel, message }),
    subscribe: (channel, listener) => shared.subscribe(channel, listener),
    close: () => shared.close(),
  };
}
