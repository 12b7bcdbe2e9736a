import { type Clock, systemClock } from "../rpc/clock.ts";
import type { Store } from "./store.ts";
import { Tables } from "./tables.ts";

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** Maximum number of keys, and of logs. When it is exceeded, the least recently written one is removed. Default: 100,000. */
  maxKeys?: number;
  /** Maximum number of characters of all keys, values and log entries. Writes beyond it fail with `too_large`. Default: no limit. */
  maxSize?: number;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

/**
 * Returns a store in the memory of this process. Its content is lost when the process ends.
 *
 * The store has no files and no connections. For several processes use `fileStore`, or `redisStore` of `@mcparley/redis`.
 *
 * @example
 * ```ts
 * import { createServer, memoryStore } from "mcparley/server";
 *
 * const server = createServer({ name: "notes", version: "1.0.0", store: memoryStore({ maxKeys: 10_000 }) });
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const { maxKeys = 100_000, maxSize = Infinity, clock = systemClock } = options;
  const tables = new Tables(maxKeys, maxSize);
  const channels = new Map<string, Set<(message: string) => void>>();
  const withTime = <T extends object>(settings: T): T & { now: number } => ({ ...settings, now: clock.now() });

  return {
    get: async (key) => tables.get(key, clock.now()),
    set: async (key, value, lifetime) => tables.set(key, value, withTime(lifetime)),
    compareAndSet: async (key, currentValue, value, lifetime) =>
      tables.compareAndSet(key, { expected: currentValue, value }, withTime(lifetime)),
    async delete(key) {
      const hasValue = tables.get(key, clock.now()) !== undefined;
      tables.delete(key);
      return hasValue;
    },
    append: async (log, value, options) => tables.append(log, value, withTime(options)),
    readFrom: async (log, position, limit) => tables.readFrom(log, position, withTime({ limit })),
    async publish(channel, message) {
      for (const listener of channels.get(channel) ?? []) queueMicrotask(() => listener(message));
    },
    async subscribe(channel, listener) {
      const listeners = channels.get(channel) ?? new Set();
      // A new function for each subscription, so that one listener can subscribe twice.
      const subscription = (message: string): void => listener(message);
      channels.set(channel, listeners.add(subscription));
      return async () => {
        listeners.delete(subscription);
        if (listeners.size === 0) channels.delete(channel);
      };
    },
    async close() {
      tables.values.clear();
      tables.logs.clear();
      channels.clear();
    },
  };
}
