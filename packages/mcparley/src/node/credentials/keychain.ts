import { LocalError } from "../../rpc/errors.ts";
import type { KeyKeeper } from "./credential-key.ts";

/** What is used of the package `@napi-rs/keyring`. */
export interface KeyringModule {
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
  /** What the system shows the entry under. `mcparley`. */
  service?: string;
  /** Tells several keys of a service apart. `credentials`. */
  account?: string;
  /** The package `@napi-rs/keyring`, where it is not to be found by its name, as in a bundle. */
  keyring?: KeyringModule;
}

const packageName = "@napi-rs/keyring";

/**
 * Keeps the key of credentials in the keychain of the operating system: the macOS Keychain, the Windows Credential Manager
 * or, on Linux, the Secret Service of the desktop. Give it to `fileCredentials` as its `key`.
 *
 * The credentials themselves stay in their folder: keychains hold little, and none of them can tell whether a value is
 * still the one that was read. Needs the package `@napi-rs/keyring`, which is installed beside this one; rejects with
 * `LocalError` `unusable_storage` where it is missing, and where there is no keychain or it stays locked.
 */
export function keychain(options: KeychainOptions = {}): KeyKeeper {
  const { service = "mcparley", account = "credentials" } = options;
  const use = async <T>(work: (entry: InstanceType<KeyringModule["AsyncEntry"]>) => Promise<T>): Promise<T> => {
    const { AsyncEntry } = options.keyring ?? (await load());
    try {
      // The kernel's keyring, which would be taken instead of none, forgets everything when the machine is restarted.
      return await work(new AsyncEntry(service, account, { linux: { store: "secret-service" } }));
    } catch (cause) {
      throw failed(
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
    return (await import(packageName)) as KeyringModule;
  } catch (cause) {
    throw failed(`The system's keychain is used by the package ${packageName}: npm install ${packageName}`, cause);
  }
}

function failed(message: string, cause: unknown): LocalError {
  return new LocalError("unusable_storage", message, { cause });
}
