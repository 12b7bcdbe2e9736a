import type { CredentialStorage } from "./credential-storage.ts";

/** Keeps credentials in memory, for as long as the value that it returns is used. */
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
    exclusively(key, work) {
      const before = turns.get(key) ?? Promise.resolve();
      const mine = before.then(work);
      const turn = mine
        .catch(() => {})
        .finally(() => {
          if (turns.get(key) === turn) turns.delete(key);
        });
      turns.set(key, turn);
      return mine;
    },
  };
}
