import type { LogEntry } from "./store.ts";

interface Expiring {
  expires: number;
}

export interface KeptValue extends Expiring {
  value: string;
}

export interface KeptLog extends Expiring {
  entries: LogEntry[];
  /** Of the entry that comes next, whatever has been dropped before it. */
  next: number;
}

/** Digits of a position, so that positions compare as strings. */
const positionDigits = 16;

/**
 * The values and logs of a store, in memory.
 *
 * It has no clock: each operation is told the time, so that the same operations at the same times always lead to the
 * same state. Reading changes nothing.
 */
export class Tables {
  readonly values: Map<string, KeptValue> = new Map();
  readonly logs: Map<string, KeptLog> = new Map();
  readonly #maxKeys: number;

  /** `maxKeys` bounds the values and the logs, each; beyond it the one that was written the longest ago goes. */
  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  get(key: string, now: number): string | undefined {
    return live(this.values, key, now)?.value;
  }

  /** Writes a value; undefined deletes it. */
  set(key: string, value: string | undefined, { ttl, now }: { ttl: number; now: number }): void {
    if (value === undefined) this.values.delete(key);
    else this.#put(this.values, key, { value, expires: now + ttl }, now);
  }

  /** Writes a value where the present one is the expected one, and says whether it did. */
  compareAndSet(
    key: string,
    change: { expected: string | undefined; value: string | undefined },
    when: { ttl: number; now: number },
  ): boolean {
    if (this.get(key, when.now) !== change.expected) return false;
    this.set(key, change.value, when);
    return true;
  }

  append(log: string, value: string, { ttl, maxLength, now }: { ttl: number; maxLength: number; now: number }): string {
    const kept = live(this.logs, log, now) ?? { entries: [], next: 0, expires: 0 };
    const position = String(kept.next++).padStart(positionDigits, "0");
    kept.entries.push({ position, value });
    if (kept.entries.length > maxLength) kept.entries.splice(0, kept.entries.length - maxLength);
    kept.expires = now + ttl;
    this.#put(this.logs, log, kept, now);
    return position;
  }

  readFrom(log: string, after: string | undefined, { limit, now }: { limit: number; now: number }): LogEntry[] {
    const entries = live(this.logs, log, now)?.entries ?? [];
    const start = after === undefined ? 0 : entries.findIndex(({ position }) => position > after);
    return start === -1 ? [] : entries.slice(start, start + limit);
  }

  /** Writes an entry as the newest, so that the oldest are first in the map's order. */
  #put<T extends Expiring>(map: Map<string, T>, key: string, entry: T, now: number): void {
    map.delete(key);
    map.set(key, entry);
    if (map.size <= this.#maxKeys) return;
    for (const [old, { expires }] of map) {
      if (expires > now && map.size <= this.#maxKeys) break;
      map.delete(old);
    }
  }
}

/** What is there, unless its time is over. */
function live<T extends Expiring>(map: Map<string, T>, key: string, now: number): T | undefined {
  const found = map.get(key);
  return found && found.expires > now ? found : undefined;
}
