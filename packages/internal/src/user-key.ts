import { createHmac, randomBytes } from "node:crypto";

/** The file with the secret key of the user, in the user's folder for state. The host and the command share it. */
export const userKeyFile = "identity-key";

export function newUserKey(): string {
  return randomBytes(32).toString("hex");
}

/**
 * Returns a function that hashes texts with a key: HMAC-SHA-256 as hexadecimal digits. A text cannot be guessed from its hash without the
 * key.
 */
export function hashWith(key: string): (text: string) => string {
  return (text) => createHmac("sha256", key).update(text).digest("hex");
}
