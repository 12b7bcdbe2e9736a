import type { Clock } from "mcparley";
import type { ServerLists } from "../catalogue/server-lists.ts";
import { type CheckedList, type ListName, type ListSet, listNames, withoutSecrets } from "./check-entries.ts";
import type { ListCache } from "./list-cache.ts";

/** The lists of a server, and the number of their version. */
export interface VersionedLists {
  readonly lists: ServerLists | undefined;
  /**
   * Increases with each change of a definition. A caller that compares it before and after knows whether the definitions are
   * the same.
   */
  readonly version: number;
}

const empty: ListSet = { tools: [], prompts: [], resources: [], templates: [] };

/** The lists of a server over all of its connections: from the cache, from an earlier connection, or from the current one. */
export class KnownLists {
  readonly #cache: ListCache;
  readonly #clock: Clock;
  readonly #hideSecrets: <T>(value: T) => T;
  readonly #digests = new Map<ListName, string>();
  #lists: ServerLists | undefined;
  #version = 0;
  /** Settles when the last write that was started is over. Never rejects. */
  #writing: Promise<void> = Promise.resolve();

  constructor(cache: ListCache, { clock, hideSecrets }: { clock: Clock; hideSecrets: <T>(value: T) => T }) {
    this.#cache = cache;
    this.#clock = clock;
    this.#hideSecrets = hideSecrets;
  }

  get current(): VersionedLists {
    return { lists: this.#lists, version: this.#version };
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
    given: ReadonlyMap<ListName, CheckedList>,
    { listedAt, isCached }: Pick<ServerLists, "listedAt" | "isCached">,
  ): boolean {
    // Also before they are stored.
    const read = new Map([...given].map(([name, list]) => [name, withoutSecrets(list, this.#hideSecrets)] as const));
    const before = this.#lists;
    const lists = {
      ...empty,
      ...before,
      ...Object.fromEntries([...read].map(([name, { entries }]) => [name, entries])),
    };
    const hasChanged = before === undefined || listNames.some((name) => this.#isChanged(name, read));
    for (const [name, { digest }] of read) this.#digests.set(name, digest);
    this.#lists = { ...lists, listedAt, isCached };
    if (hasChanged) this.#version++;
    return hasChanged;
  }

  #isChanged(name: ListName, read: ReadonlyMap<ListName, CheckedList>): boolean {
    const list = read.get(name);
    return list !== undefined && list.digest !== this.#digests.get(name);
  }

  /** Stores the lists, one write after another. A write that waits stores the lists that are current when it starts. */
  #store(): void {
    this.#writing = this.#writing.then(() => (this.#lists ? this.#cache.write(this.#lists) : undefined));
  }
}
