import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { UsageError } from "../io.ts";

/** Maximum size of a file in bytes. The files are written by hand. */
const maxBytes = 1024 * 1024;

/**
 * Reads a file whose content can start programs. Returns undefined if there is no such file.
 *
 * Throws `UsageError` with the cure if another user owns the file or can write to it: that user would decide what runs as
 * this one. Files of root are accepted. Windows has no such owners and modes, and is not checked.
 */
export function readTrusted(file: string, uid: number | undefined = process.getuid?.()): string | undefined {
  const handle = openIfThere(file);
  if (handle === undefined) return undefined;
  try {
    // The open file is checked, so that it cannot be replaced between the check and the reading.
    const about = fstatSync(handle);
    if (!about.isFile()) return undefined;
    if (uid !== undefined) {
      requireOwner(file, about.uid, uid);
      requireOwner(file, lstatSync(file).uid, uid);
      requireUnwritable(file, about, uid);
    }
    if (about.size > maxBytes) throw new UsageError(`${file} is larger than 1 MiB. Choose a smaller file.`);
    return readFileSync(handle, "utf8");
  } finally {
    closeSync(handle);
  }
}

function openIfThere(file: string): number | undefined {
  try {
    // Without O_NONBLOCK, a named pipe would block the command.
    return openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return undefined;
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function requireOwner(file: string, owner: number, uid: number): void {
  if (owner === uid || owner === 0) return;
  throw new UsageError(
    `${file} belongs to another user (uid ${owner}), who could start any program as you.`,
    "If you trust it, copy it to a file that you own. Or give the URL, or the command after --.",
  );
}

function requireUnwritable(file: string, { mode, gid }: { mode: number; gid: number }, uid: number): void {
  // On many systems each user has a group of the same number, without other members.
  const isOwnGroup = gid === uid && uid !== 0;
  if ((mode & 0o002) === 0 && ((mode & 0o020) === 0 || isOwnGroup)) return;
  throw new UsageError(
    `${file} can be written by other users (mode ${(mode & 0o777).toString(8)}), who could start any program as you.`,
    `Check its content, then forbid it: chmod go-w ${JSON.stringify(file)}`,
  );
}
