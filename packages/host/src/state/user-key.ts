import { hashWith, newUserKey, userKeyFile } from "@mcparley/internal/user-key";
import type { StateStorage } from "./state-storage.ts";

/**
 * Reads the secret key of the user, which is created with the first call, and returns `hashWith` of it. If the key is deleted, each hash
 * is another one.
 */
export async function keyedHash(storage: StateStorage): Promise<(text: string) => string> {
  return hashWith(await readKey(storage));
}

async function readKey(storage: StateStorage): Promise<string> {
  let key = await storage.read(userKeyFile);
  if (key === undefined) {
    // Another process may have created it in the meantime.
    await storage.update(userKeyFile, (before) => (key = before ?? newUserKey()));
  }
  return key!;
}
