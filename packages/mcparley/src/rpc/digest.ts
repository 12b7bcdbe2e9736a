import { type Bytes, toBase64Url } from "./base64.ts";

/** Returns the SHA-256 digest of bytes, or of a text in UTF-8. */
export async function sha256(data: string | Uint8Array): Promise<Uint8Array> {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : (data as Bytes);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** Returns the SHA-256 digest of a text in base64url: a key for a secret that must not be stored itself. */
export async function digest(text: string): Promise<string> {
  return toBase64Url(await sha256(text));
}
