import { readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { homeFolder } from "@mcparley/internal/home-folder";
import type { CommandIo } from "../../terminal/io.ts";
import { isObject } from "@mcparley/internal/is-object";
import { configFolder } from "../../terminal/user-folders.ts";

/** A package on this machine. */
export interface FoundPackage {
  /** The folder that contains the `node_modules` with the package. */
  readonly folder: string;
  /** The folder of the package, without symbolic links. */
  readonly path: string;
  readonly version: string;
}

type Surroundings = Pick<CommandIo, "cwd" | "env" | "platform">;

/**
 * Searches a package: in the user's configuration folder of the command, in the current folder and the ones above it, and in
 * the global folder of npm. Nothing of the package is run. Returns undefined if it is not installed.
 */
export function findPackage(name: string, surroundings: Surroundings): FoundPackage | undefined {
  const folders = [configFolder(surroundings), ...withParents(surroundings.cwd), ...globalFolders(surroundings)];
  for (const folder of folders) {
    const match = packageIn(folder, name);
    if (match) return match;
  }
  return undefined;
}

/** Returns the package in the `node_modules` of a folder. The manifest is read as a file, because `exports` may hide it. */
function packageIn(folder: string, name: string): FoundPackage | undefined {
  try {
    const path = realpathSync(join(folder, "node_modules", name));
    const manifest: unknown = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
    const version = isObject(manifest) && typeof manifest.version === "string" ? manifest.version : "";
    return { folder, path, version };
  } catch {
    // Not installed here, or the rest of an installation that failed.
    return undefined;
  }
}

function withParents(folder: string): string[] {
  const folders = [folder];
  for (let current = folder; dirname(current) !== current; current = dirname(current)) folders.push(dirname(current));
  return folders;
}

/**
 * Returns the folders above the global `node_modules` of npm: that of its setting `prefix`, that of an installation of this
 * command, and the default. npm itself is not started, because it takes half a second.
 */
function globalFolders({ env, platform }: Surroundings): string[] {
  const isWindows = platform === "win32";
  const prefix = env.npm_config_prefix || env.NPM_CONFIG_PREFIX || prefixInFile(env);
  const modulesRoot = (folder: string): string => (isWindows ? folder : join(folder, "lib"));
  const executable = dirname(process.execPath);
  return [
    ...(prefix ? [modulesRoot(prefix)] : []),
    ...withParents(dirname(fileURLToPath(import.meta.url))),
    ...(isWindows && env.APPDATA ? [join(env.APPDATA, "npm")] : []),
    modulesRoot(isWindows ? executable : dirname(executable)),
  ];
}

/** Returns the setting `prefix` of the user's `.npmrc`. */
function prefixInFile(env: CommandIo["env"]): string | undefined {
  const home = (env.HOME ? undefined : env.USERPROFILE) || homeFolder(env);
  try {
    const text = readFileSync(join(home, ".npmrc"), "utf8");
    const [, value] = /^\s*prefix\s*=\s*["']?([^"'\r\n]+?)["']?\s*$/m.exec(text) ?? [];
    const expandedValue = value
      ?.replace(/^~(?=[\\/])/, home)
      .replaceAll(/\$\{(\w+)\}/g, (_, name: string) => env[name] ?? "");
    return expandedValue === undefined ? undefined : resolve(home, expandedValue);
  } catch {
    return undefined;
  }
}
