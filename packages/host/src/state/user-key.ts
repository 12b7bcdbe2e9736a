import { createHmac, randomBytes } from "node:crypto";
import type { StateStorage } from "./state-storage.ts";

const fileName = "identity-key";

/**
 * Returns the HMAC-SHA-256 of a text as hexadecimal digits, with a secret key of the user, which is created with the first call. A value
 * of the text cannot be guessed from it without the key. If the key is deleted, each hash is another one.
 */
export async function keyedHash(storage: StateStorage, text: string): Promise<string> {
  return createHmac("sha256", await readKey(storage))
    .update(text)
    .digest("hex");
}

async function readKey(storage: StateStorage): Promise<string> {
  let key = await storage.read(fileName);
  if (key === undefined) {
    // Another process may have created it in the meantime.
    await storage.update(fileName, (before) => (key = before ?? randomBytes(32).toString("hex")));
  }
  return key!;
}
