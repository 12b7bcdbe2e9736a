import path from "node:path";
import { homeFolder } from "@mcparley/internal/home-folder";

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
  const configured = env.XDG_CONFIG_HOME;
  return path.posix.join(
    configured?.startsWith("/") ? configured : path.posix.join(home, ".config"),
    "mcparley",
    "host",
  );
}
