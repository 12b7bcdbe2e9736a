import { LocalError } from "../rpc/errors.ts";
import type { LogEntry } from "./store.ts";

interface Expiring {
  expires: number;
}

interface StoredValue extends Expiring {
  value: string;
}

interface StoredLog extends Expiring {
  entries: LogEntry[];
  /** The position of the next entry. */
  next: number;
}

/** Number of digits of a position, so that positions can be compared as strings. */
const positionDigits = 16;
/** Minimum milliseconds between two searches for expired entries, if there is no room. */
const purgeInterval = 1_000;

/**
 * The values and logs of a store, in memory.
 *
 * It has no clock. Each operation receives the time, so that the same operations always result in the same state. Reading
 * changes nothing.
 */
export class Tables {
  readonly values: Map<string, StoredValue> = new Map();
  readonly logs: Map<string, StoredLog> = new Map();
  readonly #maxKeys: number;
  readonly #maxSize: number;
  /** Number of characters of all keys, values and entries. Not exact without `maxSize`. */
  #size = 0;
  #purgedAt = -Infinity;

  /**
   * `maxKeys` limits the number of values and of logs. Beyond it, the least recently written one is removed. `maxSize` limits
   * the number of characters. Beyond it, writes throw `too_large`.
   */
  constructor(maxKeys: number, maxSize: number = Infinity) {
    this.#maxKeys = maxKeys;
    this.#maxSize = maxSize;
  }

  get(key: string, now: number): string | undefined {
    return live(this.values, key, now)?.value;
  }

  /** Writes a value; undefined deletes it. */
  set(key: string, value: string | undefined, { ttl, now }: { ttl: number; now: number }): void {
    if (value === undefined) return this.delete(key);
    const old = this.values.get(key);
    this.#grow(key.length + value.length - (old ? key.length + old.value.length : 0), now);
    this.values.delete(key);
    this.values.set(key, { value, expires: now + ttl });
    this.#limit(this.values, now);
  }

  delete(key: string): void {
    this.#remove(this.values, key);
  }

  /** Writes a value if the current one is the expected one. Returns whether it was written. */
  compareAndSet(
    key: string,
    change: { expected: string | undefined; value: string | undefined },
    { ttl, keepTtl, now }: { ttl: number; keepTtl?: boolean; now: number },
  ): boolean {
    const old = live(this.values, key, now);
    if (old?.value !== change.expected) return false;
    this.set(key, change.value, { ttl: keepTtl && old ? old.expires - now : ttl, now });
    return true;
  }

  append(log: string, value: string, { ttl, maxLength, now }: { ttl: number; maxLength: number; now: number }): string {
    const old = live(this.logs, log, now);
    if (!old) this.#remove(this.logs, log);
    this.#grow(value.length + positionDigits + (old ? 0 : log.length), now);
    const storedLog = old ?? { entries: [], next: 0, expires: 0 };
    const position = String(storedLog.next++).padStart(positionDigits, "0");
    storedLog.entries.push({ position, value });
    if (storedLog.entries.length > maxLength) {
      this.#size -= lengthOf(storedLog.entries.splice(0, storedLog.entries.length - maxLength));
    }
    storedLog.expires = now + ttl;
    this.logs.delete(log);
    this.logs.set(log, storedLog);
    this.#limit(this.logs, now);
    return position;
  }

  readFrom(log: string, afterPosition: string | undefined, { limit, now }: { limit: number; now: number }): LogEntry[] {
    const entries = live(this.logs, log, now)?.entries ?? [];
    const start = afterPosition === undefined ? 0 : entries.findIndex(({ position }) => position > afterPosition);
    return start === -1 ? [] : entries.slice(start, start + limit);
  }

  /** Removes the oldest entries of a map that has too many. Each write deletes first, so that its entry is the newest. */
  #limit(map: Map<string, StoredValue> | Map<string, StoredLog>, now: number): void {
    if (map.size <= this.#maxKeys) return;
    for (const [old, { expires }] of map) {
      if (expires > now && map.size <= this.#maxKeys) break;
      this.#remove(map, old);
    }
  }

  /** Adds a number of characters, which may be negative. Throws if there is no room for them. */
  #grow(count: number, now: number): void {
    if (count > 0 && this.#size + count > this.#maxSize) this.#purge(now);
    if (count > 0 && this.#size + count > this.#maxSize) {
      const cure = "Set a higher maxSize, or shorter lifetimes of values.";
      throw new LocalError("too_large", `The store has more than ${this.#maxSize} characters. ${cure}`);
    }
    this.#size += count;
  }

  #purge(now: number): void {
    if (now - this.#purgedAt < purgeInterval) return;
    this.#purgedAt = now;
    for (const map of [this.values, this.logs]) {
      for (const [key, { expires }] of map) if (expires <= now) this.#remove(map, key);
    }
  }

  #remove(map: Map<string, StoredValue> | Map<string, StoredLog>, key: string): void {
    const entry = map.get(key);
    if (!entry) return;
    map.delete(key);
    this.#size -= key.length + ("entries" in entry ? lengthOf(entry.entries) : entry.value.length);
  }
}

/** Returns an entry if it has not expired. */
function live<T extends Expiring>(map: Map<string, T>, key: string, now: number): T | undefined {
  const entry = map.get(key);
  return entry && entry.expires > now ? entry : undefined;
}

/** Returns the number of characters of entries. */
function lengthOf(entries: readonly LogEntry[]): number {
  return entries.reduce((sum, { value }) => sum + value.length + positionDigits, 0);
}
