import { base64url } from "jose";

/** The SHA-256 of a text, in base64url: what stands for a secret where the secret itself must not be kept. */
export async function digest(text: string): Promise<string> {
  return base64url.encode(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}
