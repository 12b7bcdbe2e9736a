import { LocalError } from "../rpc/errors.ts";
import type { Answer } from "./dispatch/middleware.ts";

/** A definition together with all that was prepared from it when it was registered. */
export interface Entry<D> {
  readonly name: string;
  readonly definition: D;
  /** Grows with each new name, so that a list cursor stays valid while entries come and go. */
  readonly position: number;
}

/**
 * How a kind of definition is prepared, and what answers its methods.
 *
 * Each definition refers to its feature, so that the bundle of a server with tools alone contains no code for resources.
 */
export interface Feature<D = any, E extends Entry<D> = any> {
  prepare(this: void, entry: Entry<D>): E;
  readonly methods: Readonly<Record<string, Answer>>;
}

/**
 * What a live server offers of one kind, by name. Changing it changes the server and notifies whoever listens.
 */
export interface Registry<D> extends Iterable<[string, D]> {
  readonly size: number;
  get(name: string): D | undefined;
  has(name: string): boolean;
  /** Adds a definition, or replaces the one of that name. Throws `LocalError` `invalid_definition` for a wrong one. */
  set(name: string, definition: D): void;
  /** Removes a definition; returns false where there was none. */
  delete(name: string): boolean;
}

/** Told what an entry is now, and what it was: one of the two is missing where it was added or removed. */
export type ChangeListener<E> = (entry: E | undefined, previous: E | undefined) => void;

/**
 * The registry behind the public one: it prepares entries when they are set, and tells of changes.
 *
 * Names are keys of a `Map`, so that `constructor` and `__proto__` are names like any other.
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
    if (typeof name !== "string" || name === "") {
      throw new LocalError("invalid_definition", `A name must be a non-empty string; got ${JSON.stringify(name)}.`);
    }
    const previous = this.#entries.get(name);
    const entry = this.#prepare({ name, definition, position: previous?.position ?? this.#position++ });
    this.#entries.set(name, entry);
    this.#changed(entry, previous);
  }

  delete(name: string): boolean {
    const previous = this.#entries.get(name);
    if (!previous) return false;
    this.#entries.delete(name);
    this.#changed(undefined, previous);
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

  #changed(entry: E | undefined, previous: E | undefined): void {
    for (const listener of this.#listeners) listener(entry, previous);
  }
}
