import { createHmac, randomBytes } from "node:crypto";
import type { StateStorage } from "./state-storage.ts";

const fileName = "identity-key";

/**
 * Reads the secret key of the user, which is created with the first call, and returns a function that hashes texts with it: HMAC-SHA-256 as
 * hexadecimal digits. A text cannot be guessed from its hash without the key. If the key is deleted, each hash is another one.
 */
export async function keyedHash(storage: StateStorage): Promise<(text: string) => string> {
  const key = await readKey(storage);
  return (text) => createHmac("sha256", key).update(text).digest("hex");
}

async function readKey(storage: StateStorage): Promise<string> {
  let key = await storage.read(fileName);
  if (key === undefined) {
    // Another process may have created it in the meantime.
    await storage.update(fileName, (before) => (key = before ?? randomBytes(32).toString("hex")));
  }
  return key!;
}
