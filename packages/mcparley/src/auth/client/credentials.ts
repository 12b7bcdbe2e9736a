import { unlessAborted } from "../../rpc/abort.ts";

/**
 * A store for the registrations and tokens that authorization servers issue to clients. The values contain secrets.
 *
 * Several clients and processes may share one storage. They synchronize with `exclusively`.
 */
export interface CredentialStorage {
  /** Returns the value of a key, or undefined if it has none. */
  get(key: string): Promise<string | undefined>;
  /** Sets the value, or deletes it if undefined, if the present value is `expected`. Returns whether it did. */
  compareAndSet(key: string, expected: string | undefined, value: string | undefined): Promise<boolean>;
  /**
   * Runs `work` while no other user of the storage, in this process or another, runs work under the same key. Rejects with the reason of
   * the signal if it is aborted before the work starts.
   */
  exclusively<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/**
 * Stores credentials in memory. They are lost with the returned object.
 *
 * @example
 * ```ts
 * import { memoryCredentials, oauth } from "mcparley/auth";
 * import { connect } from "mcparley/client";
 *
 * const storage = memoryCredentials();
 * const first = await connect("https://one.example/mcp", { auth: oauth({ storage }) });
 * const second = await connect("https://two.example/mcp", { auth: oauth({ storage }) });
 * ```
 */
export function memoryCredentials(): CredentialStorage {
  const values = new Map<string, string>();
  const turns = new Map<string, Promise<unknown>>();
  return {
    get: (key) => Promise.resolve(values.get(key)),
    compareAndSet(key, expected, value) {
      if (values.get(key) !== expected) return Promise.resolve(false);
      if (value === undefined) values.delete(key);
      else values.set(key, value);
      return Promise.resolve(true);
    },
    exclusively(key, work, signal) {
      const previous = turns.get(key) ?? Promise.resolve();
      const result = unlessAborted(previous, signal, "Waiting")
        .catch(() => signal?.throwIfAborted())
        .then(work);
      const turn = result
        .catch(() => {})
        // A caller that no longer waits must not let the next one start.
        .then(() => previous)
        .finally(() => {
          if (turns.get(key) === turn) turns.delete(key);
        });
      turns.set(key, turn);
      return result;
    },
  };
}

/** The key under which the issuer of the last tokens for a server is stored. */
export function serverKey(grant: string, server: string): string {
  return `server:${JSON.stringify([grant, server])}`;
}

/** One value in a credential storage, as JSON. */
export class StoredValue<T> {
  readonly #storage: CredentialStorage;
  readonly #key: string;
  /** The text that was last read or written. */
  #raw: string | undefined;

  constructor(storage: CredentialStorage, key: string) {
    this.#storage = storage;
    this.#key = key;
  }

  /** Returns the value, or undefined if there is none or it is not valid JSON. */
  async read(): Promise<T | undefined> {
    this.#raw = await this.#storage.get(this.#key);
    if (this.#raw === undefined) return undefined;
    try {
      return JSON.parse(this.#raw);
    } catch {
      return undefined;
    }
  }

  /** Replaces or deletes the value that was last read. Returns false if it has changed since. */
  async replace(value: T | undefined): Promise<boolean> {
    const raw = value === undefined ? undefined : JSON.stringify(value);
    const isReplaced = await this.#storage.compareAndSet(this.#key, this.#raw, raw);
    if (isReplaced) this.#raw = raw;
    return isReplaced;
  }

  /** Sets or deletes the value unconditionally. */
  set(value: T | undefined): Promise<void> {
    return this.update(() => [value, undefined]);
  }

  /**
   * Replaces the value by the first element of the result of `change`, and returns the second. `change` is called again if another user of
   * the storage changes the value.
   */
  async update<R>(change: (value: T | undefined) => readonly [value: T | undefined, result: R]): Promise<R> {
    for (;;) {
      const [value, result] = change(await this.read());
      if (await this.replace(value)) return result;
    }
  }

  exclusively<R>(work: () => Promise<R>, signal?: AbortSignal): Promise<R> {
    return this.#storage.exclusively(this.#key, work, signal);
  }
}
