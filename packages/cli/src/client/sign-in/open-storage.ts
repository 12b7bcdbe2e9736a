import type { CredentialStorage } from "mcparley/auth";
import type { Screen } from "../screen.ts";
import type { CredentialsPlace } from "./credentials-place.ts";

/** Milliseconds after which a wait for another process is explained. */
const patience = 1_500;

/** Opens the storage of a place, which is made when something is written to it. */
export async function openStorage(
  { folder, usesKeychain }: CredentialsPlace,
  screen: Screen,
): Promise<CredentialStorage> {
  const { fileCredentials, keychain } = await import("mcparley/node");
  const storage = fileCredentials(folder, usesKeychain ? { key: keychain() } : {});
  return {
    get: (key) => storage.get(key),
    compareAndSet: (key, expected, value) => storage.compareAndSet(key, expected, value),
    async exclusively(key, work) {
      const timer = setTimeout(() => screen.note("Waiting for another mcparley that is signing in ..."), patience);
      try {
        return await storage.exclusively(key, () => {
          clearTimeout(timer);
          return work();
        });
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
