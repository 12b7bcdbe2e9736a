import { sha256 } from "../../rpc/digest.ts";

/** Returns the digest of bytes, in the format of a skill's manifest. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  const hash = await sha256(bytes);
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export const digestPattern: RegExp = /^sha256:[\da-f]{64}$/;

/** Decodes UTF-8, including a byte order mark. Returns undefined if the bytes are not valid UTF-8 or contain NUL. */
export function exactText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
