import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { CommandIo } from "../io.ts";

type Surroundings = Pick<CommandIo, "env" | "platform">;

/** Where what signing in gives is kept. */
export interface CredentialsPlace {
  readonly folder: string;
  /** Whether its key is in the system's keychain, and not in a file beside it. */
  readonly usesKeychain: boolean;
}

/** The place to use: once one with a key in the keychain was begun, that one. */
export function credentialsPlace(io: Surroundings, wantsKeychain: boolean): CredentialsPlace {
  const folder = configFolder(io);
  const withKeychain = join(folder, "keychain-credentials");
  const usesKeychain = wantsKeychain || existsSync(withKeychain);
  return { folder: usesKeychain ? withKeychain : join(folder, "credentials"), usesKeychain };
}

/** The person's folder for the settings of this command, by the custom of the system. */
function configFolder({ env, platform }: Surroundings): string {
  const home = env.HOME || homedir();
  if (platform === "win32")
    return join(env.LOCALAPPDATA || join(env.USERPROFILE || home, "AppData", "Local"), "mcparley");
  if (platform === "darwin") return join(home, "Library", "Application Support", "mcparley");
  // A relative path in it is to be ignored (XDG Base Directory Specification).
  const given = env.XDG_CONFIG_HOME;
  return join(given?.startsWith("/") ? given : join(home, ".config"), "mcparley");
}
