import { lstatSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ConfigError, systemCode } from "../config-error.ts";
import { isWithin } from "./referenced-files.ts";

/**
 * Returns the path of a file to write without symbolic links, also of one that does not exist.
 *
 * Throws `ConfigError` for a link to a file that does not exist, and for a folder, a named pipe or a device.
 */
export function realFileOf(file: string): string {
  const stats = lookUp(file);
  if (stats && !stats.isFile()) {
    const kind = stats.isDirectory() ? "a folder" : stats.isFIFO() ? "a named pipe" : "a device or a socket";
    throw new ConfigError("unreadable", `The path is ${kind}, and not a file.`, { file, cure: "Delete or rename it." });
  }
  return withoutLinks(file);
}

function lookUp(file: string): ReturnType<typeof statSync> {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    // A parent is a file, or a link that leads to itself.
    throw new ConfigError("unreadable", `The file cannot be read (${systemCode(error)}).`, {
      file,
      cure: "Check the path.",
    });
  }
}

function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
      const cure = "Create the file that it points to, or delete the link.";
      throw new ConfigError("unreadable", "The file is a link to a file that does not exist.", { file: path, cure });
    }
    return join(withoutLinks(dirname(path)), basename(path));
  }
}

/**
 * Throws `ConfigError` if the file of a project is not in its folder. A repository can contain a link to a file of the user, and a copy of a
 * folder a second name of one. `realFile` is the file without links.
 */
export function requireInProject(file: string, realFile: string, folder: string): void {
  const cure = "Delete it if the project should not have it, or change your own configuration: scope user.";
  if (!isWithin(withoutLinks(folder), realFile)) {
    const fact = `A link leads out of the project, to ${realFile}.`;
    throw new ConfigError("untrusted", fact, { file, cure });
  }
  const names = statSync(realFile, { throwIfNoEntry: false })?.nlink ?? 1;
  if (names > 1) {
    const fact = `The file has ${names} names (hard links), so that it can also be a file outside of the project.`;
    throw new ConfigError("untrusted", fact, { file, cure });
  }
}
