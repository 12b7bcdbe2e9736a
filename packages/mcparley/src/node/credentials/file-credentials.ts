import type { CredentialStorage } from "../../auth/client/credentials.ts";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import type { Store } from "../../store/store.ts";
import { openFileStore } from "../file-store.ts";
import { FolderKey, type KeySource } from "./credential-key.ts";
import { underLease } from "./lease.ts";
import { isPrivateFolder, makePrivateFolder, unusable } from "./private-folder.ts";
import type { SealedValues } from "./sealed-values.ts";

export interface FileCredentialsOptions extends KeySource {
  clock?: Clock;
}

/** Milliseconds, 400 days, after which credentials that were not renewed are forgotten. */
const lifetime = 400 * 86_400_000;

/** Its timers keep the process alive, since a sign-in depends on them. */
const wakefulClock: Clock = { ...systemClock, setTimeout: (fn, ms) => setTimeout(fn, ms) };

/**
 * Keeps credentials in a folder of this machine, encrypted with AES-256-GCM; several processes may use it at once.
 *
 * The folder is made where it is missing, for its owner alone; one that others may use is refused with `LocalError`
 * `unusable_storage`, as is a key or a passphrase that is not the one it was begun with. Unless `key` or `passphrase` is
 * given, the key is in a file of the folder: this keeps secrets out of what is searched, indexed or pasted, not from
 * those who can read all that is yours. What was replaced or deleted is taken out of the file at once. Credentials that
 * nobody renews are forgotten after 400 days. It needs a local disk, as `fileStore` does.
 */
export function fileCredentials(folder: string, options: FileCredentialsOptions = {}): CredentialStorage {
  if (typeof folder !== "string" || folder === "") {
    throw new TypeError(`fileCredentials needs the path of a folder; got ${JSON.stringify(folder)}.`);
  }
  return new FileCredentials(folder, options);
}

class FileCredentials implements CredentialStorage {
  readonly #folder: string;
  readonly #key: FolderKey;
  readonly #clock: Clock;

  constructor(folder: string, { clock = wakefulClock, ...source }: FileCredentialsOptions) {
    this.#folder = folder;
    this.#key = new FolderKey(folder, source);
    this.#clock = clock;
  }

  async get(key: string): Promise<string | undefined> {
    // Reading alone makes nothing.
    if (!(await isPrivateFolder(this.#folder))) return undefined;
    const values = await this.#key.read();
    return values && this.#withStore((store) => this.#read(store, values, key));
  }

  async compareAndSet(key: string, expected: string | undefined, value: string | undefined): Promise<boolean> {
    await makePrivateFolder(this.#folder);
    return this.#withStore(async (store) => {
      const values = await this.#keyIn(store);
      const name = values.nameOf(key);
      const present = await store.get(name);
      const opened = present === undefined ? undefined : this.#open(values, name, present);
      if (opened !== expected) return false;
      const sealed = value === undefined ? undefined : values.seal(name, value);
      return store.compareAndSet(name, present, sealed, { ttl: lifetime });
    });
  }

  async exclusively<T>(key: string, work: () => Promise<T>): Promise<T> {
    await makePrivateFolder(this.#folder);
    return this.#withStore(async (store) => {
      const values = await this.#keyIn(store);
      return underLease(`lease:${values.nameOf(key)}`, work, { store, clock: this.#clock });
    });
  }

  async #read(store: Store, values: SealedValues, key: string): Promise<string | undefined> {
    const name = values.nameOf(key);
    const sealed = await store.get(name);
    return sealed === undefined ? undefined : this.#open(values, name, sealed);
  }

  #open(values: SealedValues, name: string, sealed: string): string {
    const opened = values.open(name, sealed);
    if (opened !== undefined) return opened;
    throw unusable(this.#folder, "what is in it was altered. Remove the folder, and sign in again");
  }

  /** The key of the folder, which the first who writes makes. */
  async #keyIn(store: Store): Promise<SealedValues> {
    const known = await this.#key.read();
    if (known) return known;
    const make = async (): Promise<SealedValues | undefined> => {
      if (!(await this.#key.read())) await this.#key.make();
      return this.#key.read();
    };
    const made = await underLease("lease", make, { store, clock: this.#clock });
    return made!;
  }

  /** The store is open only while it is used, since nobody closes a storage. */
  async #withStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
    const store = openFileStore(this.#folder, { clock: this.#clock, erase: true });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  }
}
