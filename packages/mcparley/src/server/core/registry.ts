import { LocalError } from "../../rpc/errors.ts";

/** A registered definition with the values that were prepared from it. */
export interface Entry<D> {
  readonly name: string;
  readonly definition: D;
  /** Increases with each new name, so that a list cursor stays valid when entries are added or removed. */
  readonly position: number;
}

/**
 * The tools, prompts or resources of a live server, by name. A change applies at once and notifies subscribed clients.
 */
export interface Registry<D> extends Iterable<[string, D]> {
  /** The number of definitions. */
  readonly size: number;
  /** Returns a definition, or undefined if the name does not exist. */
  get(name: string): D | undefined;
  /** Returns whether the name exists. */
  has(name: string): boolean;
  /** Adds a definition, or replaces the one with the same name. Throws `LocalError` `invalid_definition` if it is invalid. */
  set(name: string, definition: D): void;
  /** Removes a definition. Returns false if the name does not exist. */
  delete(name: string): boolean;
}

/** Called after a change of an entry. `entry` is undefined if it was deleted, `previous` if it is new. */
type ChangeListener<E> = (entry: E | undefined, previous: E | undefined) => void;

/**
 * The implementation of `Registry`. It prepares entries when they are set, and notifies listeners of changes.
 *
 * Names are keys of a `Map`, so `constructor` and `__proto__` are ordinary names.
 */
export class PreparedRegistry<D, E extends Entry<D>> implements Registry<D> {
  readonly #entries = new Map<string, E>();
  readonly #prepare: (entry: Entry<D>) => E;
  readonly #listeners: ChangeListener<E>[] = [];
  #position = 0;

  constructor(prepare: (entry: Entry<D>) => E) {
    this.#prepare = prepare;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): D | undefined {
    return this.#entries.get(name)?.definition;
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  set(name: string, definition: D): void {
    if (typeof name !== "string" || name === "" || !name.isWellFormed()) {
      const rule = "A name must be a non-empty string without half of a surrogate pair";
      throw new LocalError("invalid_definition", `${rule}; got ${JSON.stringify(name)}.`);
    }
    const previous = this.#entries.get(name);
    const entry = this.#prepare({ name, definition, position: previous?.position ?? this.#position++ });
    this.#entries.set(name, entry);
    this.#notify(entry, previous);
  }

  delete(name: string): boolean {
    const previous = this.#entries.get(name);
    if (!previous) return false;
    this.#entries.delete(name);
    this.#notify(undefined, previous);
    return true;
  }

  *[Symbol.iterator](): Iterator<[string, D]> {
    for (const [name, entry] of this.#entries) yield [name, entry.definition];
  }

  entry(name: string): E | undefined {
    return this.#entries.get(name);
  }

  entries(): Iterable<E> {
    return this.#entries.values();
  }

  /** Calls `listener` after each change. */
  onChange(listener: ChangeListener<E>): void {
    this.#listeners.push(listener);
  }

  #notify(entry: E | undefined, previous: E | undefined): void {
    for (const listener of this.#listeners) listener(entry, previous);
  }
}
