import type { ResourceEntry } from "./prepare-resource.ts";

export interface FoundResource {
  entry: ResourceEntry;
  variables: Record<string, string | string[]>;
}

/**
 * Finds resources by URI: single ones by the URI exactly as it was given, then templates in the order they were added.
 */
export class ResourceIndex {
  readonly #single = new Map<string, ResourceEntry>();
  readonly #templates = new Map<string, ResourceEntry>();

  /** Takes up a change of the registry: what replaces what; either may be missing. */
  update(entry: ResourceEntry | undefined, previous: ResourceEntry | undefined): void {
    if (previous) {
      const { uri } = previous.definition;
      if (this.#single.get(uri)?.name === previous.name) this.#single.delete(uri);
      if (!entry?.template) this.#templates.delete(previous.name);
    }
    if (!entry) return;
    if (entry.template) this.#templates.set(entry.name, entry);
    else this.#single.set(entry.definition.uri, entry);
  }

  single(): Iterable<ResourceEntry> {
    return this.#single.values();
  }

  templates(): Iterable<ResourceEntry> {
    return this.#templates.values();
  }

  /** Whether a template lists its resources by a function, so that the list cannot be prepared. */
  hasListing(): boolean {
    for (const { definition } of this.#templates.values()) if (definition.list) return true;
    return false;
  }

  find(uri: string): FoundResource | undefined {
    const single = this.#single.get(uri);
    if (single) return { entry: single, variables: {} };
    for (const entry of this.#templates.values()) {
      const variables = entry.template!.match(uri);
      if (variables) return { entry, variables };
    }
    return undefined;
  }

  /** Finds what a completion refers to: a template as it is written, or a single resource. */
  findReferenced(uri: string): ResourceEntry | undefined {
    for (const entry of this.#templates.values()) if (entry.definition.uri === uri) return entry;
    return this.find(uri)?.entry;
  }
}
