import { leaseTime } from "./store-messages.ts";

/** A key that was read, with its value if there is a lease for it. */
export interface CachedRead {
  value: string | undefined;
  /** The end of the lease. */
  leaseEnd: number;
}

/** Maximum length of the values that are added within one lease time, in characters. */
const maxLength = 8_388_608;

/**
 * The keys that a worker has read within the last two lease times.
 *
 * A worker asks for a lease when it reads a key again that it has not written since. So a session in use is read once per
 * lease time, and a counter that every process writes is never leased.
 */
export class ReadCache {
  #recent = new Map<string, CachedRead>();
  #older = new Map<string, CachedRead>();
  #rotateAt = -Infinity;
  #length = 0;

  /** Returns the entry of a key. Undefined if the key was not read recently. Notes the read. */
  find(key: string, now: number): CachedRead | undefined {
    if (now >= this.#rotateAt || this.#length > maxLength) this.#rotate(now);
    const recent = this.#recent.get(key);
    if (recent) return recent;
    const older = this.#older.get(key);
    this.#recent.set(key, older ?? { value: undefined, leaseEnd: -Infinity });
    this.#length += key.length + (older?.value?.length ?? 0);
    return older;
  }

  /** Stores a value with a lease that starts at `now`. If the key was dropped since, this has no effect. */
  fill(read: CachedRead, value: string, now: number): void {
    this.#length += value.length - (read.value?.length ?? 0);
    read.value = value;
    read.leaseEnd = now + leaseTime;
  }

  drop(key: string): void {
    this.#recent.delete(key);
    this.#older.delete(key);
  }

  #rotate(now: number): void {
    // Both are obsolete if nothing was read for a lease time.
    this.#older = now >= this.#rotateAt + leaseTime ? new Map() : this.#recent;
    this.#recent = new Map();
    this.#length = 0;
    this.#rotateAt = now + leaseTime;
  }
}
