import type { Clock } from "../../rpc/clock.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { Pending } from "./cache.ts";

/** A cached result. */
interface Entry {
  readonly method: string;
  readonly uri: unknown;
  /** The result as JSON, so that each reader has a copy, and the size is known. */
  readonly text: string;
  readonly freshUntil: number;
  /** The credentials that a private result was requested with. Undefined for a public one, and if they cannot change. */
  readonly credentials: number | undefined;
}

/** Maximum number of entries. The least recently used one is removed first. */
const maxEntries = 256;
/** Maximum characters of all cached JSON. They take up to two bytes each, so 16 MiB in all. */
const maxTotal = 8 * 2 ** 20;
/** Maximum characters of one cached result. */
const maxLength = 2 ** 20;

/** The cached results of a client, within limits. */
export class CachedResults {
  readonly #clock: Clock;
  /** The least recently used entry is the first. */
  readonly #entries = new Map<string, Entry>();
  #length = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns an entry, also if it is no longer fresh. */
  peek(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** Returns a copy of a fresh result. Its `ttlMs` is the time that is left. */
  get(key: string): JsonObject | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.remove(key);
    const left = entry.freshUntil - this.#clock.now();
    if (left <= 0) return undefined;
    this.#insert(key, entry);
    const result: JsonObject = JSON.parse(entry.text);
    return { ...result, ttlMs: left };
  }

  /** Caches a result for `ttlMs`. Removes expired results, and the least recently used results over the limits. */
  put({ key, method, uri }: Pending, result: JsonObject, credentials: number | undefined): void {
    let text: string;
    try {
      text = JSON.stringify(result);
    } catch {
      return; // Nested so deep that it exhausts the stack.
    }
    if (text.length > maxLength) return;
    const now = this.#clock.now();
    for (const [other, { freshUntil }] of this.#entries) if (freshUntil <= now) this.remove(other);
    this.#insert(key, { method, uri, text, freshUntil: now + Number(result.ttlMs), credentials });
    for (const other of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries && this.#length <= maxTotal) break;
      this.remove(other);
    }
  }

  remove(key: string): void {
    this.#length -= this.#entries.get(key)?.text.length ?? 0;
    this.#entries.delete(key);
  }

  removeIf(isChanged: (entry: Entry) => boolean): void {
    for (const [key, entry] of this.#entries) if (isChanged(entry)) this.remove(key);
  }

  #insert(key: string, entry: Entry): void {
    this.remove(key);
    this.#entries.set(key, entry);
    this.#length += entry.text.length;
  }
}
