import { isDeepStrictEqual } from "node:util";

/** Maximum number of tools of one server. The limit of prompts, resources and templates is the same. */
const MAX_ENTRIES = 2000;
/** Maximum number of errors that are reported for one list. */
const MAX_ERRORS = 20;

/** How the definitions of one kind become entries of the catalogue. */
export interface EntryKind<Definition, Entry> {
  /** The name of the kind in errors, such as `tool`. */
  readonly kind: string;
  /** Returns the name that is unique within the server, or undefined if the definition has none. */
  keyOf(this: void, definition: Definition): string | undefined;
  /** Returns the name of an entry in the catalogue. */
  nameOf(this: void, entry: Entry): string;
  /** Whether no two servers can have entries with the same name. */
  readonly isUnique: boolean;
  definitionOf(this: void, entry: Entry): Definition;
  /** Returns the entry. Throws an error with the reason why the definition cannot be used. */
  prepare(this: void, server: string, definition: Definition): Entry;
}

/** The names of entries that changed. */
export interface EntryChanges {
  readonly addedNames: string[];
  readonly removedNames: string[];
  readonly changedNames: string[];
}

interface Placed<Entry> {
  readonly entry: Entry;
  /** The number of the place. Entries are in the order of their places. */
  readonly place: number;
}

/** The entries of one kind of all servers. */
export class EntryList<Definition, Entry> {
  readonly #kind: EntryKind<Definition, Entry>;
  readonly #onError: (server: string, error: Error) => void;
  /** The entries of each server by their keys, also while the server is hidden. */
  readonly #entriesByServer = new Map<string, ReadonlyMap<string, Placed<Entry>>>();
  readonly #visibleServers = new Set<string>();
  /** The entries by names that must be unique, also those of hidden servers. */
  readonly #owners = new Map<string, Entry>();
  #entries: readonly Entry[] = [];
  #byName: ReadonlyMap<string, Entry> = new Map();
  #nextPlace = 0;

  /** `onError` receives each definition that cannot be used. */
  constructor(kind: EntryKind<Definition, Entry>, onError: (server: string, error: Error) => void) {
    this.#kind = kind;
    this.#onError = onError;
  }

  /** The entries of all servers that are present, by their places. It is the same array until an entry changes. */
  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** The same entries by their names. It is not changed: each change makes a new map. */
  get byName(): ReadonlyMap<string, Entry> {
    return this.#byName;
  }

  /** Replaces the entries of a server. `undefined` hides them, and keeps their places. */
  replace(server: string, definitions: readonly Definition[] | undefined): EntryChanges {
    const oldEntries = this.#visibleEntries(server);
    if (definitions) {
      this.#entriesByServer.set(server, this.#read(server, definitions));
      this.#visibleServers.add(server);
    } else {
      this.#visibleServers.delete(server);
    }
    this.#sort();
    return difference(this.#kind, oldEntries, this.#visibleEntries(server));
  }

  /** Removes the entries of a server and their places. */
  remove(server: string): EntryChanges {
    const changes = this.replace(server, undefined);
    this.#release(server);
    this.#entriesByServer.delete(server);
    return changes;
  }

  #visibleEntries(server: string): ReadonlyMap<string, Placed<Entry>> {
    return (this.#visibleServers.has(server) ? this.#entriesByServer.get(server) : undefined) ?? new Map();
  }

  #read(server: string, definitions: readonly Definition[]): ReadonlyMap<string, Placed<Entry>> {
    const { kind, keyOf } = this.#kind;
    const oldEntries = this.#entriesByServer.get(server);
    const newEntries = new Map<string, Placed<Entry>>();
    const report = reporter(kind, (error) => this.#onError(server, error));
    this.#release(server);
    for (const definition of definitions.slice(0, MAX_ENTRIES)) {
      const key = keyOf(definition);
      if (key === undefined || newEntries.has(key)) {
        report(key, key === undefined ? "it has no name" : "the server lists it twice, and the first one is used");
        continue;
      }
      try {
        const old = oldEntries?.get(key);
        const entry = this.#prepare(server, definition, old?.entry);
        newEntries.set(key, { entry, place: old?.place ?? this.#nextPlace++ });
      } catch (error) {
        report(key, error instanceof Error ? error.message : "it cannot be read");
      }
    }
    if (definitions.length > MAX_ENTRIES) {
      const fact = `Server "${server}" lists ${definitions.length} ${kind}s.`;
      this.#onError(server, new Error(`${fact} The first ${MAX_ENTRIES} are used, and the others are left out.`));
    }
    return newEntries;
  }

  /** Returns the entry of a definition: the old one if it is unchanged. It takes its name, which must be free. */
  #prepare(server: string, definition: Definition, old: Entry | undefined): Entry {
    const { definitionOf, isUnique, nameOf, prepare } = this.#kind;
    const isSame = old !== undefined && isDeepStrictEqual(definitionOf(old), definition);
    const entry = isSame ? old : prepare(server, definition);
    if (!isUnique) return entry;
    const name = nameOf(entry);
    if (this.#owners.has(name))
      throw new Error(`its name ${JSON.stringify(name)} is the name of another ${this.#kind.kind}`);
    this.#owners.set(name, entry);
    return entry;
  }

  #release(server: string): void {
    for (const { entry } of this.#entriesByServer.get(server)?.values() ?? []) {
      const name = this.#kind.nameOf(entry);
      if (this.#owners.get(name) === entry) this.#owners.delete(name);
    }
  }

  #sort(): void {
    const places = [...this.#visibleServers].flatMap((server) => [...this.#visibleEntries(server).values()]);
    const entries = places.toSorted((first, second) => first.place - second.place).map(({ entry }) => entry);
    const isSame =
      entries.length === this.#entries.length && entries.every((entry, index) => entry === this.#entries[index]);
    if (isSame) return;
    this.#entries = Object.freeze(entries);
    this.#byName = new Map(entries.map((entry) => [this.#kind.nameOf(entry), entry]));
  }
}

/** Reports definitions that cannot be used, up to a limit. */
function reporter(kind: string, report: (error: Error) => void): (key: string | undefined, reason: string) => void {
  let count = 0;
  return (key, reason) => {
    count++;
    if (count > MAX_ERRORS) return;
    const subject = key === undefined ? `A ${kind}` : `The ${kind} ${JSON.stringify(key.slice(0, 200))}`;
    const note = count === MAX_ERRORS ? " Further errors of this list are not reported." : "";
    report(new Error(`${subject} is left out: ${reason}.${note}`));
  };
}

function difference<Definition, Entry>(
  { nameOf }: EntryKind<Definition, Entry>,
  oldEntries: ReadonlyMap<string, Placed<Entry>>,
  newEntries: ReadonlyMap<string, Placed<Entry>>,
): EntryChanges {
  const changes: EntryChanges = { addedNames: [], removedNames: [], changedNames: [] };
  for (const [key, { entry }] of newEntries) {
    const old = oldEntries.get(key);
    if (!old) changes.addedNames.push(nameOf(entry));
    else if (old.entry !== entry) changes.changedNames.push(nameOf(entry));
  }
  for (const [key, { entry }] of oldEntries) if (!newEntries.has(key)) changes.removedNames.push(nameOf(entry));
  return changes;
}
