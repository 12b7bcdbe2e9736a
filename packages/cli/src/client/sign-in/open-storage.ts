import { existsSync } from "node:fs";
import type { CredentialStorage } from "mcparley/auth";
import type { Screen } from "../screen.ts";
import type { CredentialsPlace } from "./credentials-place.ts";

/** Milliseconds after which a wait for another process is explained. */
const patience = 1_500;

/** Opens the storage of a place, which is made when something is written to it. */
export async function openStorage(place: CredentialsPlace, screen: Screen): Promise<CredentialStorage> {
  const storage = await openFolder(place);
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

async function openFolder({ folder, usesKeychain }: CredentialsPlace): Promise<CredentialStorage> {
  const { fileCredentials, keychain } = await import("mcparley/node");
  if (!usesKeychain) return fileCredentials(folder);
  const key = keychain();
  // Once the folder is there it is used: a keychain that does not work must not leave it behind.
  if (!existsSync(folder)) await key.get();
  return fileCredentials(folder, { key });
}
