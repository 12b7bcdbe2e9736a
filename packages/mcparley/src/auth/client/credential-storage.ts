/**
 * Keeps what authorization servers gave a client: registrations and tokens. The values hold secrets.
 *
 * One storage may be shared by several clients and processes; those that share it take turns by `exclusively`.
 */
export interface CredentialStorage {
  get(key: string): Promise<string | undefined>;
  /** Sets the value (undefined deletes it) only where the present one is `expected`; returns whether it did. */
  compareAndSet(key: string, expected: string | undefined, value: string | undefined): Promise<boolean>;
  /** Runs `work` while nobody else who shares the storage, in this process or another, runs work under this key. */
  exclusively<T>(key: string, work: () => Promise<T>): Promise<T>;
}
