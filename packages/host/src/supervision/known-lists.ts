import type { Clock } from "mcparley";
import type { ServerLists } from "../catalogue/server-lists.ts";
import type { CheckedList, ListName, ListSet } from "./check-entries.ts";
import type { ListCache } from "./list-cache.ts";

/** Returns a list of a server as it is stored, such as without secrets. */
export type ChangeList = <T extends readonly object[]>(list: T) => T;

const empty: ListSet = { tools: [], prompts: [], resources: [], templates: [] };

/** The lists of a server over all of its connections: from the cache, from an earlier connection, or from the current one. */
export class KnownLists {
  readonly #cache: ListCache;
  readonly #clock: Clock;
  readonly #changeList: ChangeList;
  #lists: ServerLists | undefined;
  /** Settles when the last write that was started is over. Never rejects. */
  #writing: Promise<void> = Promise.resolve();

  constructor(cache: ListCache, { clock, changeList }: { clock: Clock; changeList: ChangeList }) {
    this.#cache = cache;
    this.#clock = clock;
    this.#changeList = changeList;
  }

  get current(): ServerLists | undefined {
    return this.#lists;
  }

  /** Settles when nothing is being written. */
  get written(): Promise<void> {
    return this.#writing;
  }

  /** Reads the stored lists. Never rejects. */
  async load(): Promise<void> {
    const stored = await this.#cache.read();
    if (stored) this.#replace(stored.lists, { listedAt: stored.listedAt, isCached: true });
  }

  /** Replaces the lists that were read. The others keep their values. Returns whether a definition has changed. */
  update(read: ReadonlyMap<ListName, CheckedList>): boolean {
    const hasChanged = this.#replace(read, { listedAt: this.#clock.now(), isCached: false });
    if (hasChanged) this.#store();
    return hasChanged;
  }

  /** Marks the lists as those of an earlier connection. */
  disconnected(): void {
    if (this.#lists) this.#lists = { ...this.#lists, isCached: true };
  }

  #replace(
    lists: ReadonlyMap<ListName, CheckedList>,
    { listedAt, isCached }: Pick<ServerLists, "listedAt" | "isCached">,
  ): boolean {
    // Also before they are stored.
    const read = [...lists].map(([name, entries]) => [name, this.#changeList(entries)] as const);
    const before = this.#lists;
    this.#lists = { ...empty, ...before, ...Object.fromEntries(read), listedAt, isCached };
    return !before || read.some(([name, entries]) => JSON.stringify(entries) !== JSON.stringify(before[name]));
  }

  /** Stores the lists, one write after another. A write that waits stores the lists that are current when it starts. */
  #store(): void {
    this.#writing = this.#writing.then(() => (this.#lists ? this.#cache.write(this.#lists) : undefined));
  }
}
