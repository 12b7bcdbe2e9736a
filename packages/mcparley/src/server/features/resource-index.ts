import type { ResourceEntry, ResourceIndex } from "../core/server-core.ts";

/** The implementation of `ResourceIndex`. */
export class PreparedIndex implements ResourceIndex {
  readonly #single = new Map<string, ResourceEntry>();
  /** Resources whose URI a later resource has as well. They are found again when that one is deleted. */
  readonly #earlierEntries = new Map<string, ResourceEntry>();
  readonly #templates = new Map<string, ResourceEntry>();

  update(entry: ResourceEntry | undefined, previous: ResourceEntry | undefined): void {
    if (previous) this.#removeSingle(previous);
    // A template that is replaced by another keeps its place in the order.
    if (previous && !entry?.template) this.#templates.delete(previous.name);
    if (!entry) return;
    if (entry.template) {
      this.#templates.set(entry.name, entry);
      return;
    }
    const earlierEntry = this.#single.get(entry.definition.uri);
    if (earlierEntry) this.#earlierEntries.set(earlierEntry.name, earlierEntry);
    this.#single.set(entry.definition.uri, entry);
  }

  #removeSingle({ name, definition: { uri } }: ResourceEntry): void {
    this.#earlierEntries.delete(name);
    if (this.#single.get(uri)?.name !== name) return;
    this.#single.delete(uri);
    const earlier = [...this.#earlierEntries.values()].findLast(({ definition }) => definition.uri === uri);
    if (!earlier) return;
    this.#earlierEntries.delete(earlier.name);
    this.#single.set(uri, earlier);
  }

  single(): Iterable<ResourceEntry> {
    return this.#single.values();
  }

  templates(): Iterable<ResourceEntry> {
    return this.#templates.values();
  }

  hasListing(): boolean {
    for (const { definition } of this.#templates.values()) if (definition.list) return true;
    return false;
  }

  find(uri: string): ReturnType<ResourceIndex["find"]> {
    const single = this.#single.get(uri);
    if (single) return { entry: single, variables: {} };
    for (const entry of this.#templates.values()) {
      const variables = entry.template!.match(uri);
      if (variables) return { entry, variables };
    }
    return undefined;
  }

  findReferenced(uri: string): ResourceEntry | undefined {
    for (const entry of this.#templates.values()) if (entry.definition.uri === uri) return entry;
    // A URI has no braces, so this is the template of no resource.
    return uri.includes("{") ? undefined : this.find(uri)?.entry;
  }
}
