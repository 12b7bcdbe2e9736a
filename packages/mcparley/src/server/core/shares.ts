/** Largest number of items for which an empty set of callers is kept for reuse. */
const keptSets = 64;

/**
 * Counts the items of a limited resource that each caller holds, such as open streams.
 *
 * Each caller's items are in the order in which they were added. The caller that holds the most is found
 * without a search, so requests over the limit are cheap to reject.
 */
export class Shares<T> {
  readonly #items = new Map<string, Set<T>>();
  /** The callers that hold each number of items. */
  readonly #bySize = new Map<number, Set<string>>();
  #most = 0;
  #size = 0;

  /** Number of items of all callers. */
  get size(): number {
    return this.#size;
  }

  /** Number of items that a caller holds. */
  count(caller: string): number {
    return this.#items.get(caller)?.size ?? 0;
  }

  /** A caller that holds the most items. Undefined if there are no items. */
  get largest(): string | undefined {
    return this.#bySize.get(this.#most)?.values().next().value;
  }

  /** Returns the items of a caller, the oldest first. */
  itemsOf(caller: string): Iterable<T> {
    return this.#items.get(caller) ?? [];
  }

  add(caller: string, item: T): void {
    let items = this.#items.get(caller);
    if (!items) this.#items.set(caller, (items = new Set()));
    if (items.has(item)) return;
    items.add(item);
    this.#size++;
    this.#move(caller, items.size - 1, items.size);
  }

  delete(caller: string, item: T): void {
    const items = this.#items.get(caller);
    if (!items?.delete(item)) return;
    if (items.size === 0) this.#items.delete(caller);
    this.#size--;
    this.#move(caller, items.size + 1, items.size);
  }

  #move(caller: string, oldCount: number, newCount: number): void {
    const oldCallers = this.#bySize.get(oldCount);
    oldCallers?.delete(caller);
    // Sets for small numbers are kept, because they are soon needed again.
    if (oldCallers?.size === 0 && oldCount > keptSets) this.#bySize.delete(oldCount);
    if (newCount > 0) {
      const now = this.#bySize.get(newCount);
      if (now) now.add(caller);
      else this.#bySize.set(newCount, new Set([caller]));
    }
    // A size changes by one at a time. If the highest number has no caller left, the next lower number has one.
    if (newCount > this.#most || !this.#bySize.get(this.#most)?.size) this.#most = newCount;
  }
}
