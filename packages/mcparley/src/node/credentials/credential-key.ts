import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, randomUUID, scrypt } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { isObject } from "../../rpc/messages.ts";
import { unusable, unwritable } from "./private-folder.ts";

/** Stores the encryption key of credentials outside of their folder, as `keychain` does. */
export interface KeyStorage {
  /** Returns the key, or undefined if none was set yet. */
  get(): Promise<Uint8Array | undefined>;
  /** Stores the key. Called once, when there is none. */
  set(key: Uint8Array): Promise<void>;
}

/** The source of the encryption key. Default: a file in the folder of the credentials. */
export interface KeySource {
  /** The key, 32 bytes, or a storage for it such as `keychain()`. Default: a file in the folder. */
  readonly key?: Uint8Array | KeyStorage | undefined;
  /** The passphrase from which scrypt derives the key, or a function that asks for it once, when the key is needed. */
  readonly passphrase?: string | (() => Promise<string>) | undefined;
}

/** The content of `key.json`. `check` identifies the key without revealing it. */
type KeyFile =
  | { readonly from: "file"; readonly key: string }
  | { readonly from: "passphrase"; readonly salt: string; readonly cost: number; readonly check: string }
  | { readonly from: "given"; readonly check: string };

const fileName = "key.json";
const fileMode = 0o600;
/** The cost parameter of scrypt. One guess of a passphrase needs 128 MiB of memory and some tenths of a second. */
const passphraseCost = 2 ** 17;
const blockSize = 8;
const saltLength = 16;
const algorithm = "aes-256-gcm";
const ivLength = 12;
const tagLength = 16;
/** Bytes of the key. */
const keyLength = 32;

/** The key of a folder of credentials. */
export interface FolderKey {
  /** Returns the encryption with the key, or undefined if no key was created yet. Reads the key from its source once. */
  read(): Promise<SealedValues | undefined>;
  /** Creates the key. The caller must hold the lease. */
  make(): Promise<void>;
}

/** Returns the key of a folder of credentials, which `key.json` in the folder describes. */
export function keyOfFolder(folder: string, source: KeySource): FolderKey {
  let openedKey: { readonly text: string; readonly values: Promise<SealedValues> } | undefined;
  return {
    async read() {
      const text = await readKeyFile(folder);
      if (text === undefined) return undefined;
      // The folder may have been removed and created again.
      if (openedKey?.text !== text) openedKey = { text, values: openKeyFile(folder, source, text) };
      return openedKey.values.catch((error: unknown) => {
        openedKey = undefined;
        throw error;
      });
    },
    make: async () => writeKeyFile(folder, await createKey(source)),
  };
}

async function openKeyFile(folder: string, source: KeySource, text: string): Promise<SealedValues> {
  const file = parse(text);
  if (!isKeyFile(file)) {
    throw unusable(folder, `its file ${fileName} is damaged. Delete the folder, and sign in again`);
  }
  const kind = file.from === "given" ? "key" : file.from;
  if (file.from !== kindOf(source)) {
    const why =
      kind === "file"
        ? "their key is a file in the folder. Omit key and passphrase, or choose another folder"
        : `they are encrypted with a ${kind}. Pass it, or choose another folder`;
    throw unusable(folder, why);
  }
  if (file.from === "file") return new SealedValues(Buffer.from(file.key, "base64url"));
  const key = file.from === "passphrase" ? await derive(source, file) : await givenKey(source);
  const values = key && new SealedValues(key);
  if (values?.check === file.check) return values;
  throw unusable(folder, `they are encrypted with another ${kind}`);
}

/** Returns the description of the key. Creates the key, unless the source has one. */
async function createKey(source: KeySource): Promise<KeyFile> {
  const kind = kindOf(source);
  if (kind === "file") return { from: kind, key: randomBytes(keyLength).toString("base64url") };
  if (kind === "passphrase") {
    const parameters = { salt: randomBytes(saltLength).toString("base64url"), cost: passphraseCost };
    return { from: kind, ...parameters, check: new SealedValues(await derive(source, parameters)).check };
  }
  let key = await givenKey(source);
  if (!key) {
    key = randomBytes(keyLength);
    await (source.key as KeyStorage).set(key);
  }
  return { from: kind, check: new SealedValues(key).check };
}

function kindOf({ key, passphrase }: KeySource): KeyFile["from"] {
  return passphrase !== undefined ? "passphrase" : key !== undefined ? "given" : "file";
}

async function givenKey({ key }: KeySource): Promise<Uint8Array | undefined> {
  const bytes = key instanceof Uint8Array ? key : await key?.get();
  if (bytes && bytes.length !== keyLength) {
    throw new TypeError(`The key of credentials must have ${keyLength} bytes; got ${bytes.length}.`);
  }
  return bytes;
}

async function derive(source: KeySource, { salt, cost }: { salt: string; cost: number }): Promise<Uint8Array> {
  const text = typeof source.passphrase === "function" ? await source.passphrase() : (source.passphrase ?? "");
  if (text === "") throw new TypeError("The passphrase of credentials must not be empty.");
  // A letter with an accent has several encodings, and keyboards produce different ones.
  const passphrase = text.normalize("NFC");
  const options = { cost, blockSize, maxmem: 256 * cost * blockSize };
  return new Promise((resolve, reject) => {
    scrypt(passphrase, Buffer.from(salt, "base64url"), keyLength, options, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}

async function readKeyFile(folder: string): Promise<string | undefined> {
  return readFile(path.join(folder, fileName), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw unusable(folder, error.message, error);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isKeyFile(value: unknown): value is KeyFile {
  if (!isObject(value)) return false;
  const texts = (...names: string[]): boolean => names.every((name) => typeof value[name] === "string");
  switch (value.from) {
    case "file":
      return typeof value.key === "string" && Buffer.from(value.key, "base64url").length === keyLength;
    case "passphrase":
      // An attacker could lower the cost in the file, and then guess the passphrase from the values that are written next.
      return texts("salt", "check") && value.cost === passphraseCost;
    default:
      return value.from === "given" && texts("check");
  }
}

/** Writes the file atomically. */
async function writeKeyFile(folder: string, content: KeyFile): Promise<void> {
  const temporary = path.join(folder, `${randomUUID()}.tmp`);
  try {
    await writeFile(temporary, `${JSON.stringify(content)}\n`, { mode: fileMode, flag: "wx", flush: true });
    await rename(temporary, path.join(folder, fileName));
  } catch (error) {
    throw unwritable(folder, error as NodeJS.ErrnoException);
  }
}

/** Encrypts values with AES-256-GCM. Each value is bound to its name, which is a keyed hash of its key. */
export class SealedValues {
  /** Identifies the key without revealing it. */
  readonly check: string;
  readonly #values: Uint8Array;
  readonly #names: Uint8Array;

  constructor(key: Uint8Array) {
    this.#values = subkey(key, "values");
    this.#names = subkey(key, "names");
    this.check = Buffer.from(subkey(key, "check")).toString("base64url");
  }

  /** Returns the name under which the value of a key is stored. */
  nameOf(key: string): string {
    return createHmac("sha256", this.#names).update(key).digest("base64url");
  }

  seal(name: string, value: string): string {
    const iv = randomBytes(ivLength);
    const cipher = createCipheriv(algorithm, this.#values, iv).setAAD(Buffer.from(name));
    const sealedBytes = Buffer.concat([iv, cipher.update(value, "utf8"), cipher.final()]);
    return Buffer.concat([sealedBytes, cipher.getAuthTag()]).toString("base64");
  }

  /** Decrypts a value. Returns undefined if it was altered, or encrypted with another name or key. */
  open(name: string, sealedValue: string): string | undefined {
    const bytes = Buffer.from(sealedValue, "base64");
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

function subkey(key: Uint8Array, use: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, "", `mcparley credentials: ${use}`, keyLength));
}
