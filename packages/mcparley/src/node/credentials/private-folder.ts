import { lstat, mkdir, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { LocalError } from "../../rpc/errors.ts";

const folderMode = 0o700;
const forOthers = 0o077;

/**
 * Returns whether the folder exists. Rejects with `unusable_storage` if the folder or a file in it belongs to another user,
 * or if other users can read or write it. Not checked on Windows, which protects the folders of a user by default.
 */
export async function isPrivateFolder(folder: string): Promise<boolean> {
  const folderStatus = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw unusable(folder, error.message, error);
  });
  if (!folderStatus) return false;
  if (!folderStatus.isDirectory()) throw unusable(folder, "it is a file. A folder is required");
  checkOwner(folder, folderStatus);
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    // Another process may have removed the file.
    const status = await lstat(file).catch(() => undefined);
    if (status) checkOwner(file, status);
  }
  return true;
}

/** Creates a missing folder with access for its owner only, or checks an existing one like `isPrivateFolder`. */
export async function makePrivateFolder(folder: string): Promise<void> {
  if (await isPrivateFolder(folder)) return;
  await mkdir(folder, { recursive: true, mode: folderMode }).catch((error: NodeJS.ErrnoException) => {
    throw unwritable(folder, error);
  });
}

function checkOwner(file: string, { mode, uid }: { mode: number; uid: number }): void {
  if (process.platform === "win32") return;
  if (uid !== process.getuid?.()) throw unusable(file, "it belongs to another user");
  if ((mode & forOthers) === 0) return;
  const modeText = (mode & 0o777).toString(8).padStart(4, "0");
  const cure = `chmod go= ${JSON.stringify(file)}`;
  throw unusable(file, `other users have access to it (mode ${modeText}). Restrict it to its owner: ${cure}`);
}

/** The reason and the cure for errors of the operating system. */
const writeFailures: Readonly<Record<string, string>> = {
  EROFS: "its file system is read-only. Make it writable, or choose another folder",
  ENOSPC: "its disk is full. Free space on it, or choose another folder",
  EDQUOT: "the disk quota of its user is used up. Free space, or choose another folder",
  EACCES: "this user cannot write there. Restore the access of its owner: chmod u+rwX",
  EPERM: "the operating system does not permit to write there. Make it writable, or choose another folder",
};

/** Returns the error for a folder that the operating system cannot write. */
export function unwritable(folder: string, error: NodeJS.ErrnoException): LocalError {
  const { code = "", message } = error;
  const reason = writeFailures[code];
  return unusable(folder, reason === undefined ? message : `${reason} (${code})`, error);
}

/** Returns the error for a place where credentials cannot be stored. */
export function unusable(place: string, why: string, cause?: unknown): LocalError {
  const message = `Credentials cannot be stored in ${JSON.stringify(place)}: ${why}`;
  return new LocalError("unusable_storage", /[.)"]$/.test(message) ? message : `${message}.`, { cause });
}
