import { createHash, randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { homeFolder } from "@mcparley/internal/home-folder";

/** Number of backups of a file. The oldest is deleted. */
const maxBackups = 5;

/**
 * Writes a backup of a file that only the user can read, and returns its path. The newest backup has the number 1.
 *
 * The backups are not beside the file: it can be in a repository, and backups with secrets would be committed.
 */
export function writeBackup(folder: string, file: string, bytes: Buffer): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const id = createHash("sha256").update(file).digest("hex").slice(0, 12);
  const nameOf = (number: number): string => join(folder, `${basename(file)}.${id}.${number}`);
  const temporary = join(folder, `${randomUUID()}.tmp`);
  writeNew(temporary, bytes);
  rmSync(nameOf(maxBackups), { force: true });
  for (let number = maxBackups - 1; number >= 1; number--) {
    if (existsSync(nameOf(number))) renameSync(nameOf(number), nameOf(number + 1));
  }
  renameSync(temporary, nameOf(1));
  return nameOf(1);
}

function writeNew(file: string, bytes: Buffer): void {
  const handle = openSync(file, "wx", 0o600);
  try {
    writeAll(handle, bytes);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Writes all bytes: a write to a file can be short. */
export function writeAll(handle: number, bytes: Buffer): void {
  for (let offset = 0; offset < bytes.length;) offset += writeSync(handle, bytes, offset);
}

/** Returns the folder of the backups: in the user's folder for state. */
export function backupFolder(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const home = homeFolder(env);
  if (platform === "win32") {
    return join(env["LOCALAPPDATA"] || join(env["USERPROFILE"] || home, "AppData", "Local"), "mcparley", "backups");
  }
  if (platform === "darwin") return join(home, "Library", "Application Support", "mcparley", "backups");
  // A relative path must be ignored (XDG Base Directory Specification).
  const state = env["XDG_STATE_HOME"]?.startsWith("/") ? env["XDG_STATE_HOME"] : join(home, ".local", "state");
  return join(state, "mcparley", "backups");
}
