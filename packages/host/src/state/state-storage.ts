import path from "node:path";
import { LocalError } from "mcparley";
import { hashWith, newUserKey, userKeyFile } from "@mcparley/internal/user-key";
import { homeFolder } from "@mcparley/internal/home-folder";

/** Stores the state of one user's host: rules, trust, pins and cached lists. Names are relative paths, such as `pins.json`. */
export interface StateStorage {
  /** Returns the text under a name, or undefined. */
  read(name: string): Promise<string | undefined>;
  /**
   * Replaces the text under a name by the result of `change`, which receives the current text. No other process changes it in the
   * meantime. `undefined` deletes it.
   */
  update(name: string, change: (text: string | undefined) => string | undefined): Promise<void>;
  /** Resolves when no update is running. Never rejects. */
  waitForUpdates(): Promise<void>;
}

/** Returns a storage in memory. */
export function memoryState(): StateStorage {
  const texts = new Map<string, string>();
  return {
    read: (name) => Promise.resolve(texts.get(name)),
    update(name, change) {
      const text = change(texts.get(name));
      if (text === undefined) texts.delete(name);
      else texts.set(name, text);
      return Promise.resolve();
    },
    waitForUpdates: () => Promise.resolve(),
  };
}

/** Parses a file of the host's state. Throws `LocalError` `unusable_storage` if the content does not have the expected form. */
export function parseState<T>(name: string, text: string, isValid: (value: unknown) => value is T): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damagedFileError(name, "it is not JSON");
  }
  if (isValid(value)) return value;
  throw damagedFileError(name, "it does not have the form that this version writes");
}

function damagedFileError(name: string, why: string): LocalError {
  const cure = "Delete the file to be asked again";
  return new LocalError("unusable_storage", `The file ${name} of the host's state cannot be used: ${why}. ${cure}.`);
}

/**
 * Reads the secret key of the user, which is created with the first call, and returns `hashWith` of it. If the key is deleted, each hash
 * is another one.
 */
export async function keyedHash(storage: StateStorage): Promise<(text: string) => string> {
  return hashWith(await readKey(storage));
}

async function readKey(storage: StateStorage): Promise<string> {
  let key = await storage.read(userKeyFile);
  if (key === undefined) {
    // Another process may have created it in the meantime.
    await storage.update(userKeyFile, (text) => (key = text ?? newUserKey()));
  }
  return key!;
}

/** The part of a process that the user's folder depends on. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** Returns the folder `mcparley/host` in the user's configuration folder, by the conventions of the system. */
export function userFolder({ env, platform }: Surroundings): string {
  const home = homeFolder(env);
  if (platform === "win32") {
    const local = env.LOCALAPPDATA || path.win32.join(env.USERPROFILE || home, "AppData", "Local");
    return path.win32.join(local, "mcparley", "host");
  }
  if (platform === "darwin") return path.posix.join(home, "Library", "Application Support", "mcparley", "host");
  // A relative path must be ignored (XDG Base Directory Specification).
  const configFolder = env.XDG_CONFIG_HOME;
  return path.posix.join(
    configFolder?.startsWith("/") ? configFolder : path.posix.join(home, ".config"),
    "mcparley",
    "host",
  );
}
