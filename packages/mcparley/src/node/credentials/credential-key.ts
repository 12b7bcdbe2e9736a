import { randomBytes, randomUUID, scrypt } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { isObject } from "../../rpc/messages.ts";
import { unusable } from "./private-folder.ts";
import { SealedValues, keyLength } from "./sealed-values.ts";

/** Keeps the key that credentials are encrypted with, apart from them: see `keychain`. */
export interface KeyKeeper {
  /** The key, or undefined where none was set yet. */
  get(): Promise<Uint8Array | undefined>;
  set(key: Uint8Array): Promise<void>;
}

/** Where the key is from; without any of them it is in a file of its own beside the credentials. */
export interface KeySource {
  /** 32 bytes, or what keeps them. */
  readonly key?: Uint8Array | KeyKeeper | undefined;
  /** What the key is derived from, with scrypt; a function is called once, when it is needed. */
  readonly passphrase?: string | (() => Promise<string>) | undefined;
}

/** What `key.json` says of the key. */
type KeyFile =
  | { readonly from: "file"; readonly key: string }
  | { readonly from: "passphrase"; readonly salt: string; readonly cost: number; readonly check: string }
  | { readonly from: "given"; readonly check: string };

const fileName = "key.json";
const fileMode = 0o600;
/** The cost of guessing a passphrase once: 128 MiB, and some tenths of a second. */
const passphraseCost = 2 ** 17;
const blockSize = 8;
const saltLength = 16;

/** The key of a folder of credentials, which `key.json` in it tells of. */
export class FolderKey {
  readonly #folder: string;
  readonly #source: KeySource;
  #known: { readonly text: string; readonly values: Promise<SealedValues> } | undefined;

  constructor(folder: string, source: KeySource) {
    this.#folder = folder;
    this.#source = source;
  }

  /** Gives what encrypts with the key; undefined where none was made yet. Asks for a given key once. */
  async read(): Promise<SealedValues | undefined> {
    const text = await readKeyFile(this.#folder);
    if (text === undefined) return undefined;
    // Somebody may have removed the folder, and begun a new one.
    if (this.#known?.text !== text) this.#known = { text, values: this.#open(text) };
    const { values } = this.#known;
    return values.catch((error: unknown) => {
      this.#known = undefined;
      throw error;
    });
  }

  /** Makes the key. Nobody else may be doing so. */
  async make(): Promise<void> {
    await writeKeyFile(this.#folder, await describeKey(this.#source));
  }

  async #open(text: string): Promise<SealedValues> {
    const file = parse(text);
    if (!isKeyFile(file)) {
      throw unusable(this.#folder, `${fileName} in it is damaged. Remove the folder, and sign in again`);
    }
    if (file.from !== kindOf(this.#source)) throw unusable(this.#folder, mismatch(file.from));
    if (file.from === "file") return new SealedValues(Buffer.from(file.key, "base64url"));
    const key = file.from === "passphrase" ? await derive(this.#source, file) : await given(this.#source);
    const values = key && new SealedValues(key);
    if (values?.check === file.check) return values;
    throw unusable(this.#folder, `they are encrypted with another ${file.from === "given" ? "key" : file.from}`);
  }
}

async function describeKey(source: KeySource): Promise<KeyFile> {
  const kind = kindOf(source);
  if (kind === "file") return { from: kind, key: randomBytes(keyLength).toString("base64url") };
  if (kind === "passphrase") {
    const parameters = { salt: randomBytes(saltLength).toString("base64url"), cost: passphraseCost };
    return { from: kind, ...parameters, check: new SealedValues(await derive(source, parameters)).check };
  }
  let key = await given(source);
  if (!key) {
    key = randomBytes(keyLength);
    await (source.key as KeyKeeper).set(key);
  }
  return { from: kind, check: new SealedValues(key).check };
}

function kindOf({ key, passphrase }: KeySource): KeyFile["from"] {
  return passphrase !== undefined ? "passphrase" : key !== undefined ? "given" : "file";
}

function mismatch(from: KeyFile["from"]): string {
  if (from === "file") return "their key is in a file beside them. Give no key and no passphrase, or another folder";
  return `they are encrypted with a ${from === "given" ? "key" : from} of yours. Give it, or another folder`;
}

async function given({ key }: KeySource): Promise<Uint8Array | undefined> {
  const bytes = key instanceof Uint8Array ? key : await key?.get();
  if (bytes && bytes.length !== keyLength) {
    throw new TypeError(`The key of credentials has ${keyLength} bytes; got ${bytes.length}.`);
  }
  return bytes;
}

async function derive(source: KeySource, { salt, cost }: { salt: string; cost: number }): Promise<Uint8Array> {
  const text = typeof source.passphrase === "function" ? await source.passphrase() : (source.passphrase ?? "");
  if (text === "") throw new TypeError("The passphrase of credentials is empty.");
  // A letter with an accent has several encodings, and keyboards differ in which they type.
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
  try {
    return await readFile(path.join(folder, fileName), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusable(folder, (error as Error).message, error);
  }
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
      return texts("key") && Buffer.from(value.key as string, "base64url").length === keyLength;
    case "passphrase":
      // A cost that somebody has lowered would make the passphrase easy to guess from what is written next.
      return texts("salt", "check") && value.cost === passphraseCost;
    default:
      return value.from === "given" && texts("check");
  }
}

/** Writes the file whole or not at all. */
async function writeKeyFile(folder: string, content: KeyFile): Promise<void> {
  const temporary = path.join(folder, `${randomUUID()}.tmp`);
  try {
    await writeFile(temporary, `${JSON.stringify(content)}\n`, { mode: fileMode, flag: "wx", flush: true });
    await rename(temporary, path.join(folder, fileName));
  } catch (error) {
    throw unusable(folder, (error as Error).message, error);
  }
}
