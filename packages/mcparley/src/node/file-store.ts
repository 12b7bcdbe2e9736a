import { type Clock, systemClock } from "../rpc/clock.ts";
import type { Store } from "../store/store.ts";
import { SharedLog } from "./shared-log.ts";
import type { Change } from "./store-entry.ts";
import { StoreLog } from "./store-log.ts";

/** Options of `fileStore`. */
export interface FileStoreOptions {
  /** Maximum size of the folder in bytes. Writes beyond it fail with `too_large`. Default: 256 MiB. */
  maxBytes?: number;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

/**
 * Returns a store in a local folder. Its content outlives the process: an operation settles when its change is on the disk.
 *
 * Several processes can use the folder at the same time. Each of them also has the whole content in memory. The folder must
 * be on a local disk, because appends of two machines over a network can overwrite each other. A missing folder is created
 * with access for its owner only. Close the store when no server uses it any more.
 *
 * @example
 * ```ts
 * import { fileStore } from "mcparley/node";
 * import { createServer } from "mcparley/server";
 *
 * const store = fileStore("/var/lib/notes/state");
 * const server = createServer({ name: "notes", version: "1.0.0", store });
 * ```
 */
export function fileStore(folder: string, options: FileStoreOptions = {}): Store {
  if (typeof folder !== "string" || folder === "") {
    throw new TypeError(`fileStore needs the path of a folder; got ${JSON.stringify(folder)}.`);
  }
  return openFileStore(folder, options);
}

/** Like `fileStore`. With `erase`, replaced and deleted values are removed from the files immediately. */
export function openFileStore(folder: string, options: FileStoreOptions & { erase?: boolean }): Store {
  const { clock = systemClock, maxBytes = 268_435_456, erase = false } = options;
  const sharedLog = new SharedLog(new StoreLog(folder), { clock, maxBytes, erase });
  const write = <T>(change: Change): Promise<T> => sharedLog.write(change) as Promise<T>;

  return {
    get: (key) => sharedLog.read((tables) => tables.get(key, clock.now())),
    set: (key, value, { ttl }) => write({ op: "set", now: clock.now(), key, value, ttl }),
    compareAndSet: (key, expected, value, { ttl, keepTtl }) =>
      write({ op: "compare", now: clock.now(), key, expected, value, ttl, ...(keepTtl && { keepTtl }) }),
    delete: (key) => write({ op: "delete", now: clock.now(), key }),
    append: (log, value, lifetime) => write({ op: "append", now: clock.now(), log, value, ...lifetime }),
    readFrom: (log, position, limit) =>
      sharedLog.read((tables) =>
        tables.readFrom(log, position, { limit, now: clock.now() }).map((entry) => ({ ...entry })),
      ),
    publish: (channel, message) => write({ op: "publish", channel, message }),
    subscribe: (channel, listener) => sharedLog.subscribe(channel, listener),
    close: () => sharedLog.close(),
  };
}
