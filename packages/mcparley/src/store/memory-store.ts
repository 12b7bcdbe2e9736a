import { type Clock, systemClock } from "../jsonrpc/clock.ts";
import type { AppendOptions, Lifetime, LogEntry, Store } from "./store.ts";

export interface MemoryStoreOptions {
  /** The most keys and logs that are held, each; beyond that the one that was written the longest ago goes. 100,000. */
  maxKeys?: number;
  clock?: Clock;
}

interface Expiring {
  expires: number;
}

interface Kept extends Expiring {
  value: string;
}

interface Log extends Expiring {
  entries: LogEntry[];
  next: number;
}

/** Digits of a position, so that positions compare as strings. */
const positionDigits = 16;

/** Makes a store in this process's memory: for one process, and lost with it. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const { maxKeys = 100_000, clock = systemClock } = options;
  const values = new Map<string, Kept>();
  const logs = new Map<string, Log>();
  const channels = new Map<string, Set<(message: string) => void>>();

  /** Reads what is there, dropping it where its time is over. */
  function live<T extends Expiring>(map: Map<string, T>, key: string): T | undefined {
    const found = map.get(key);
    if (!found || found.expires > clock.now()) return found;
    map.delete(key);
    return undefined;
  }

  /** Writes an entry as the newest, so that the oldest are first in the map's order. */
  function put<T extends Expiring>(map: Map<string, T>, key: string, entry: T): void {
    map.delete(key);
    map.set(key, entry);
    if (map.size <= maxKeys) return;
    const now = clock.now();
    for (const [old, { expires }] of map) {
      if (expires > now && map.size <= maxKeys) break;
      map.delete(old);
    }
  }

  function write(key: string, value: string | undefined, { ttl }: Lifetime): void {
    if (value === undefined) values.delete(key);
    else put(values, key, { value, expires: clock.now() + ttl });
  }

  return {
    get: async (key) => live(values, key)?.value,
    set: async (key, value, lifetime) => write(key, value, lifetime),
    async compareAndSet(key, expected, value, lifetime) {
      if (live(values, key)?.value !== expected) return false;
      write(key, value, lifetime);
      return true;
    },
    async delete(key) {
      const found = live(values, key);
      return found !== undefined && values.delete(key);
    },
    async append(log, value, { ttl, maxLength }: AppendOptions) {
      const kept = live(logs, log) ?? { entries: [], next: 0, expires: 0 };
      const position = String(kept.next++).padStart(positionDigits, "0");
      kept.entries.push({ position, value });
      if (kept.entries.length > maxLength) kept.entries.splice(0, kept.entries.length - maxLength);
      kept.expires = clock.now() + ttl;
      put(logs, log, kept);
      return position;
    },
    async readFrom(log, after, limit) {
      const entries = live(logs, log)?.entries ?? [];
      const start = after === undefined ? 0 : entries.findIndex(({ position }) => position > after);
      return start === -1 ? [] : entries.slice(start, start + limit);
    },
    async publish(channel, message) {
      for (const listener of channels.get(channel) ?? []) queueMicrotask(() => listener(message));
    },
    async subscribe(channel, listener) {
      const listeners = channels.get(channel) ?? new Set();
      // A listener of its own for each subscription, so that one function can subscribe twice.
      const own = (message: string): void => listener(message);
      channels.set(channel, listeners.add(own));
      return async () => {
        listeners.delete(own);
        if (listeners.size === 0) channels.delete(channel);
      };
    },
    async close() {
      values.clear();
      logs.clear();
      channels.clear();
    },
  };
}
