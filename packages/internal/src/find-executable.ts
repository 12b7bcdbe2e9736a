import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import path from "node:path";

/** A program as a target names it, and the environment in which it is searched. */
export interface ProgramSearch {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** The folders that are searched without a `PATH`. */
const defaultPath = "/usr/bin:/bin";

/** Returns the path of the executable that a start of the program would run, without symbolic links, or undefined. */
export async function findExecutable(search: ProgramSearch): Promise<string | undefined> {
  const location = await locateExecutable(search);
  return location && realpath(location);
}

/**
 * Returns the path at which a start of the program finds its executable, or undefined. It can be a symbolic link.
 *
 * It is searched as the system does: a command with a separator is relative to the working directory of the program, and so are
 * relative folders of `PATH`. Windows searches the working directory first, and adds the extensions of `PATHEXT`.
 */
export async function locateExecutable({ command, cwd, env, platform }: ProgramSearch): Promise<string | undefined> {
  const isWindows = platform === "win32";
  for (const folder of searchFolders(command, env, isWindows)) {
    const candidate = path.resolve(cwd, folder, command);
    for (const extension of isWindows ? ["", ...extensionsOf(env)] : [""]) {
      if (await isExecutable(candidate + extension)) return candidate + extension;
    }
  }
  return undefined;
}

function searchFolders(command: string, env: ProgramSearch["env"], isWindows: boolean): string[] {
  if (command.includes("/") || (isWindows && command.includes("\\"))) return [""];
  if (!isWindows) return (variable(env, "PATH", false) ?? defaultPath).split(":");
  return ["", ...(variable(env, "PATH", true) ?? "").split(";")];
}

function extensionsOf(env: ProgramSearch["env"]): string[] {
  return (variable(env, "PATHEXT", true) ?? ".COM;.EXE;.BAT;.CMD").split(";");
}

/** Names of variables are case-insensitive on Windows. */
function variable(env: ProgramSearch["env"], name: string, ignoresCase: boolean): string | undefined {
  if (!ignoresCase) return env[name];
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
