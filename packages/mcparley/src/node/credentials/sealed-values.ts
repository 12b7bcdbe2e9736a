import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
const ivLength = 12;
const tagLength = 16;

/** How many bytes the key has that the others are derived from. */
export const keyLength = 32;

/** Encrypts values with AES-256-GCM, each bound to its name, and turns keys into names that do not show them. */
export class SealedValues {
  /** Tells this key from others without telling anything of it. */
  readonly check: string;
  readonly #values: Uint8Array;
  readonly #names: Uint8Array;

  constructor(key: Uint8Array) {
    this.#values = derive(key, "values");
    this.#names = derive(key, "names");
    this.check = Buffer.from(derive(key, "check")).toString("base64url");
  }

  /** The name that stands for a key. */
  nameOf(key: string): string {
    return createHmac("sha256", this.#names).update(key).digest("base64url");
  }

  seal(name: string, value: string): string {
    const iv = randomBytes(ivLength);
    const cipher = createCipheriv(algorithm, this.#values, iv).setAAD(Buffer.from(name));
    const sealed = Buffer.concat([iv, cipher.update(value, "utf8"), cipher.final()]);
    return Buffer.concat([sealed, cipher.getAuthTag()]).toString("base64");
  }

  /** Opens what was sealed under the name; undefined for what was altered, or sealed with another name or key. */
  open(name: string, sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, "base64");
    if (bytes.length < ivLength + tagLength) return undefined;
    const decipher = createDecipheriv(algorithm, this.#values, bytes.subarray(0, ivLength), {
      authTagLength: tagLength,
    });
    decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-tagLength));
    const plain = decipher.update(bytes.subarray(ivLength, -tagLength));
    try {
      return Buffer.concat([plain, decipher.final()]).toString("utf8");
    } catch {
      return undefined;
    }
  }
}

function derive(key: Uint8Array, use: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, "", `mcparley credentials: ${use}`, keyLength));
}
