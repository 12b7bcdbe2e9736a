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

  /** `maxKeys` limits the number of values and of logs. Beyond it, the least recently written one is removed. */
  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  get(key: string, now: number): string | undefined {
    return live(this.values, key, now)?.value;
  }

  /** Writes a value; undefined deletes it. */
  set(key: string, value: string | undefined, { ttl, now }: { ttl: number; now: number }): void {
    this.values.delete(key);
    if (value === undefined) return;
    this.values.set(key, { value, expires: now + ttl });
    this.#limit(this.values, now);
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
    const stored = live(this.logs, log, now) ?? { entries: [], next: 0, expires: 0 };
    const position = String(stored.next++).padStart(positionDigits, "0");
    stored.entries.push({ position, value });
    if (stored.entries.length > maxLength) stored.entries.splice(0, stored.entries.length - maxLength);
    stored.expires = now + ttl;
    this.logs.delete(log);
    this.logs.set(log, stored);
    this.#limit(this.logs, now);
    return position;
  }

  readFrom(log: string, after: string | undefined, { limit, now }: { limit: number; now: number }): LogEntry[] {
    const entries = live(this.logs, log, now)?.entries ?? [];
    const start = after === undefined ? 0 : entries.findIndex(({ position }) => position > after);
    return start === -1 ? [] : entries.slice(start, start + limit);
  }

  /** Removes the oldest entries of a map that has too many. Each write deletes first, so that its entry is the newest. */
  #limit(map: Map<string, Expiring>, now: number): void {
    if (map.size <= this.#maxKeys) return;
    for (const [old, { expires }] of map) {
      if (expires > now && map.size <= this.#maxKeys) break;
      map.delete(old);
    }
  }
}

/** Returns an entry if it has not expired. */
function live<T extends Expiring>(map: Map<string, T>, key: string, now: number): T | undefined {
  const found = map.get(key);
  return found && found.expires > now ? found : undefined;
}
