import type { CredentialStorage } from "./credential-storage.ts";

/** One value in a credential storage, as JSON. */
export class Kept<T> {
  readonly #storage: CredentialStorage;
  readonly #key: string;
  /** What was read or written last. */
  #raw: string | undefined;

  constructor(storage: CredentialStorage, key: string) {
    this.#storage = storage;
    this.#key = key;
  }

  /** The value, or undefined where there is none, or one that another program has damaged. */
  async read(): Promise<T | undefined> {
    this.#raw = await this.#storage.get(this.#key);
    if (this.#raw === undefined) return undefined;
    try {
      return JSON.parse(this.#raw) as T;
    } catch {
      return undefined;
    }
  }

  /** Replaces what was read last, or removes it; false where somebody else has replaced it since. */
  async replace(value: T | undefined): Promise<boolean> {
    const raw = value === undefined ? undefined : JSON.stringify(value);
    const replaced = await this.#storage.compareAndSet(this.#key, this.#raw, raw);
    if (replaced) this.#raw = raw;
    return replaced;
  }

  /** Sets the value, whatever there is. */
  async set(value: T | undefined): Promise<void> {
    do await this.read();
    while (!(await this.replace(value)));
  }

  exclusively<R>(work: () => Promise<R>): Promise<R> {
    return this.#storage.exclusively(this.#key, work);
  }
}
