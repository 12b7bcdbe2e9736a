import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CommandIo } from "../../terminal/io.ts";
import { configFolder } from "../../terminal/user-folders.ts";

/** The folder of the stored credentials. */
export interface CredentialsPlace {
  readonly folder: string;
  /** Whether its key is in the system's keychain, and not in a file beside it. */
  readonly usesKeychain: boolean;
}

/** Returns the place to use. If one with a key in the keychain exists, it is used from then on. */
export function credentialsPlace(io: Pick<CommandIo, "env" | "platform">, wantsKeychain = false): CredentialsPlace {
  const folder = configFolder(io);
  const withKeychain = join(folder, "keychain-credentials");
  const usesKeychain = wantsKeychain || existsSync(withKeychain);
  return { folder: usesKeychain ? withKeychain : join(folder, "credentials"), usesKeychain };
}
