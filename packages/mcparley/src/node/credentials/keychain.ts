import { LocalError } from "../../rpc/errors.ts";
import type { KeyStorage } from "./credential-key.ts";

/** The part of the package `@napi-rs/keyring` that is used. */
export interface KeyringModule {
  /** The class of an entry of the keychain. */
  AsyncEntry: new (
    service: string,
    account: string,
    options?: { linux?: { store?: "secret-service" } },
  ) => {
    getPassword(): Promise<string | null>;
    setPassword(password: string): Promise<void>;
  };
}

/** Options of `keychain`. */
export interface KeychainOptions {
  /** The name of the entry in the keychain. Default: `mcparley`. */
  service?: string;
  /** The account of the entry, for several keys of a service. Default: `credentials`. */
  account?: string;
  /** The package `@napi-rs/keyring`, if it cannot be imported by its name, for example in a bundle. */
  keyring?: KeyringModule;
}

const packageName = "@napi-rs/keyring";

/**
 * Stores the key of credentials in the keychain of the operating system: the macOS Keychain, the Windows Credential Manager
 * or the Secret Service on Linux. Use it as the `key` of `fileCredentials`.
 *
 * The credentials stay in their folder, because keychains hold little and have no atomic compare-and-set. Requires the
 * package `@napi-rs/keyring`, which you install yourself. Its functions reject with `LocalError` `unusable_storage` if the
 * package is missing, or if there is no keychain or it is locked.
 *
 * @example
 * ```ts
 * import { fileCredentials, keychain } from "mcparley/node";
 *
 * const storage = fileCredentials("/home/ada/.notes/credentials", { key: keychain({ service: "notes" }) });
 * ```
 */
export function keychain(options: KeychainOptions = {}): KeyStorage {
  const { service = "mcparley", account = "credentials" } = options;
  const use = async <T>(work: (entry: InstanceType<KeyringModule["AsyncEntry"]>) => Promise<T>): Promise<T> => {
    const { AsyncEntry } = options.keyring ?? (await load());
    try {
      // Not the kernel's keyring, which is the fallback and is lost when the machine restarts.
      return await work(new AsyncEntry(service, account, { linux: { store: "secret-service" } }));
    } catch (cause) {
      throw keychainError(
        `The system's keychain cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
        cause,
      );
    }
  };
  return {
    get: () =>
      use(async (entry) => {
        const password = await entry.getPassword();
        return password === null ? undefined : new Uint8Array(Buffer.from(password, "base64url"));
      }),
    set: (key) => use((entry) => entry.setPassword(Buffer.from(key).toString("base64url"))),
  };
}

async function load(): Promise<KeyringModule> {
  try {
    // Imported when it is used, because the package is optional.
    return (await import(/* webpackIgnore: true */ packageName)) as KeyringModule;
  } catch (cause) {
    throw keychainError(
      `The package ${packageName}, which accesses the system's keychain, is missing. Run npm install ${packageName}`,
      cause,
    );
  }
}

function keychainError(message: string, cause: unknown): LocalError {
  return new LocalError("unusable_storage", message, { cause });
}
