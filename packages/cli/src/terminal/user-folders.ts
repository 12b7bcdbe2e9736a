import { join } from "node:path";
import { homeFolder } from "@mcparley/internal/home-folder";
import type { CommandIo } from "./io.ts";

type Surroundings = Pick<CommandIo, "env" | "platform">;

/** Returns the user's folder for the settings of this command, by the conventions of the system. */
export function configFolder(io: Surroundings): string {
  return join(folderOf(io, "XDG_CONFIG_HOME", ".config"), "mcparley");
}

/** Returns the user's folder for the state of all programs. */
export function stateFolder(io: Surroundings): string {
  return folderOf(io, "XDG_STATE_HOME", ".local/state");
}

function folderOf({ env, platform }: Surroundings, variable: string, usual: string): string {
  const home = homeFolder(env);
  if (platform === "win32") return env.LOCALAPPDATA || join(env.USERPROFILE || home, "AppData", "Local");
  if (platform === "darwin") return join(home, "Library", "Application Support");
  // A relative path must be ignored (XDG Base Directory Specification).
  return env[variable]?.startsWith("/") ? env[variable] : join(home, usual);
}
