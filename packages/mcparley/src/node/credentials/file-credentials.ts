import { readFile } from "node:fs/promises";
import type { CredentialStorage } from "../../auth/client/credentials.ts";
import { type Clock, wakefulClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { Store } from "../../store/store.ts";
import { openFileStore } from "../file-store.ts";
import { type FolderKey, type KeySource, type SealedValues, keyOfFolder } from "./credential-key.ts";
import { withLease } from "./lease.ts";
import { isPrivateFolder, makePrivateFolder, unusable, unwritable } from "./private-folder.ts";

/** Options of `fileCredentials`. */
export interface FileCredentialsOptions extends KeySource {
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

/** The name of a value that exists if a key was created, and the lifetime of this value in milliseconds. */
const anyKey = "key";
const unlimitedTtl = 1e15;

/** Returns the name of a value that exists if a key was created, and is this one. */
const keyEntry = ({ check }: SealedValues): string => `key:${check}`;

/** Milliseconds after which credentials that were not renewed are deleted: 400 days. */
const lifetime = 400 * 86_400_000;

/**
 * Stores credentials in a local folder, encrypted with AES-256-GCM. Several processes can use the folder at once.
 *
 * A missing folder is created with access for its owner only. It must be on a local disk, as for `fileStore`. A folder to
 * which other users have access is refused with `LocalError` `unusable_storage`, and so is a different key or passphrase
 * than before.
 *
 * Without `key` and `passphrase`, the key is a file in the folder. This keeps secrets out of search indexes and copied text,
 * but does not protect them from programs that can read all files of the user. Replaced and deleted values are removed from
 * the file immediately. Credentials that are not renewed are deleted after 400 days.
 *
 * @example
 * ```ts
 * import { homedir } from "node:os";
 * import { join } from "node:path";
 * import { oauth } from "mcparley/auth";
 * import { connect } from "mcparley/client";
 * import { fileCredentials, keychain } from "mcparley/node";
 *
 * const storage = fileCredentials(join(homedir(), ".notes", "credentials"), { key: keychain() });
 * const client = await connect("https://notes.example.com/mcp", { auth: oauth({ clientName: "Notes", storage }) });
 * ```
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
    this.#key = keyOfFolder(folder, source);
    this.#clock = clock;
  }

  async get(key: string): Promise<string | undefined> {
    // Reading does not create the folder.
    if (!(await isPrivateFolder(this.#folder))) return undefined;
    return this.#withStore(async (store) => {
      const values = await this.#usableKey(store);
      if (!values) return undefined;
      const name = values.nameOf(key);
      const sealedValue = await store.get(name);
      return sealedValue === undefined ? undefined : this.#open(values, name, sealedValue);
    });
  }

  async compareAndSet(key: string, expected: string | undefined, value: string | undefined): Promise<boolean> {
    await makePrivateFolder(this.#folder);
    return this.#withStore(async (store) => {
      const values = await this.#keyIn(store);
      const name = values.nameOf(key);
      const present = await store.get(name);
      const presentValue = present === undefined ? undefined : this.#open(values, name, present);
      if (presentValue !== expected) return false;
      const sealedValue = value === undefined ? undefined : values.seal(name, value);
      return store.compareAndSet(name, present, sealedValue, { ttl: lifetime });
    });
  }

  async exclusively<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await makePrivateFolder(this.#folder);
    return this.#withStore(async (store) => {
      const values = await this.#keyIn(store);
      return withLease(`lease:${values.nameOf(key)}`, work, { store, clock: this.#clock, signal });
    });
  }

  #open(values: SealedValues, name: string, sealedValue: string): string {
    const openedValue = values.open(name, sealedValue);
    if (openedValue !== undefined) return openedValue;
    throw unusable(this.#folder, "its content was altered. Delete the folder, and sign in again");
  }

  /** Returns the encryption of the folder. The first write creates its key. */
  async #keyIn(store: Store): Promise<SealedValues> {
    const presentKey = await this.#usableKey(store);
    if (presentKey) return presentKey;
    // Another process may create the key at the same time.
    const create = async (): Promise<SealedValues> => {
      if (!(await this.#key.read())) await this.#key.make();
      const newKey = (await this.#key.read())!;
      for (const name of [anyKey, keyEntry(newKey)]) await store.set(name, "", { ttl: unlimitedTtl });
      return newKey;
    };
    return withLease("lease", create, { store, clock: this.#clock });
  }

  /**
   * Returns the encryption of the folder, or undefined if it has no key and no values. Throws if its key and its log do not belong
   * together, because the user would seem to be signed out.
   */
  async #usableKey(store: Store): Promise<SealedValues | undefined> {
    const values = await this.#key.read();
    if (!values) {
      if ((await store.get(anyKey)) === undefined) return undefined;
      // Another process may have created the key since.
      const newKey = await this.#key.read();
      if (newKey) return this.#usableKey(store);
      throw unusable(this.#folder, "its file key.json is missing. Restore it, or delete the folder and sign in again");
    }
    const isListed = async (): Promise<boolean> => (await store.get(keyEntry(values))) !== undefined;
    if (await isListed()) return values;
    // Another process may be creating the key.
    if (await withLease("lease", isListed, { store, clock: this.#clock })) return values;
    const why = "its log is damaged, or encrypted with another key than the one in key.json";
    throw unusable(this.#folder, `${why}. Restore both, or delete the folder and sign in again`);
  }

  /** Opens the store for one operation, because a `CredentialStorage` is never closed. */
  async #withStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
    const store = openFileStore(this.#folder, { clock: this.#clock, erase: true });
    try {
      return await use(store);
    } catch (error) {
      if (!(error instanceof LocalError) || error.code !== "store_unavailable") throw error;
      throw unwritable(this.#folder, error.cause as NodeJS.ErrnoException);
    } finally {
      await store.close();
    }
  }
}

/**
 * Returns a function that reads a token from a file, such as the token of a Kubernetes service account. Use it as the
 * `assertion` of `workloadIdentity`. The file is read for each call, because the platform replaces its content.
 *
 * @example
 * ```ts
 * import { workloadIdentity } from "mcparley/auth";
 * import { tokenFile } from "mcparley/node";
 *
 * const auth = workloadIdentity({
 *   issuer: "https://auth.example.com",
 *   client: { id: "nightly-job" },
 *   assertion: tokenFile("/var/run/secrets/tokens/notes"),
 * });
 * ```
 */
export function tokenFile(path: string | URL): () => Promise<string> {
  return async () => (await readFile(path, "utf8")).trim();
}
