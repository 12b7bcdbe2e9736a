import { type Stats, constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { untrustedAccess } from "@mcparley/internal/file-access";
import { LocalError } from "mcparley";

const folderMode = 0o700;
const maxParts = 4;
const maxPartBytes = 200;

/** Returns the error for a file or folder that cannot be used. `why` is a clause, and may be followed by the cure. */
function unusable(place: string, why: string, cause?: unknown): LocalError {
  const message = `The state of the host cannot be stored in ${JSON.stringify(place)}: ${why}`;
  return new LocalError("unusable_storage", /[.)"]$/.test(message) ? message : `${message}.`, { cause });
}

/** Returns the parts of a name. Throws a `TypeError` if the name could leave the folder. */
export function partsOfName(name: string): string[] {
  const parts = name.split("/");
  if (parts.length <= maxParts && parts.every(isSafePart)) return parts;
  throw new TypeError(
    `${JSON.stringify(name)} is not a name of the state storage. Use a relative path such as "trust.json", without "..".`,
  );
}

/** A leading dot is reserved for the lock and temporary files. A colon selects a drive or a stream on Windows. */
function isSafePart(part: string): boolean {
  return /^[^.\\:\0][^\\:\0]*$/.test(part) && Buffer.byteLength(part) <= maxPartBytes;
}

/**
 * Returns the real path of an existing folder, or undefined. Rejects with `unusable_storage` if another user owns it or can
 * write to it. The folder itself can be a symbolic link, a folder in it cannot.
 */
export async function findFolder(
  folder: string,
  parts: readonly string[],
  uid: number | undefined,
): Promise<string | undefined> {
  try {
    let place = await realpath(folder);
    checkFolder(place, await stat(place), uid);
    for (const part of parts) {
      place = path.join(place, part);
      checkFolder(place, await lstat(place), uid);
    }
    return place;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw asUnusable(folder, error);
  }
}

/** Creates a missing folder with access for its owner only, and returns its real path. Checks it like `findFolder`. */
export async function makeFolder(folder: string, parts: readonly string[], uid: number | undefined): Promise<string> {
  const existingFolder = await findFolder(folder, parts, uid);
  if (existingFolder !== undefined) return existingFolder;
  const top = (await findFolder(folder, [], uid)) ?? folder;
  await mkdir(path.join(top, ...parts), { recursive: true, mode: folderMode }).catch((error: unknown) => {
    throw asUnusable(folder, error);
  });
  const newFolder = await findFolder(folder, parts, uid);
  if (newFolder !== undefined) return newFolder;
  throw unusable(folder, "the folder was removed while it was created. Try again");
}

/** Reads a text file. Returns undefined if it does not exist. Rejects with `unusable_storage` if it cannot be trusted. */
export async function readPrivateFile(
  file: string,
  limits: { uid: number | undefined; maxBytes: number },
): Promise<string | undefined> {
  const handle = await openFile(file);
  if (!handle) return undefined;
  try {
    // The open file is checked, so that it cannot be replaced between the check and the reading.
    const status = await handle.stat();
    if (!status.isFile()) throw unusable(file, "it is not a regular file. Remove it");
    checkAccess(file, status, limits.uid);
    if (status.size > limits.maxBytes) throw tooLarge(file, status.size, limits.maxBytes);
    return new TextDecoder("utf-8", { fatal: true }).decode(await handle.readFile());
  } catch (error) {
    throw asUnusable(file, error);
  } finally {
    await handle.close();
  }
}

export function tooLarge(file: string, bytes: number, maxBytes: number): LocalError {
  return new LocalError(
    "too_large",
    `${JSON.stringify(file)} has ${bytes} bytes, and the limit is ${maxBytes}. Remove entries.`,
  );
}

async function openFile(file: string): Promise<FileHandle | undefined> {
  try {
    // Without O_NONBLOCK, a named pipe would block the host.
    return await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") {
      throw unusable(file, "it is a symbolic link. Replace it by the file, or make the whole folder a link");
    }
    throw asUnusable(file, error);
  }
}

function checkFolder(place: string, status: Stats, uid: number | undefined): void {
  if (status.isSymbolicLink()) throw unusable(place, "it is a symbolic link. Replace it by a folder");
  if (!status.isDirectory()) throw unusable(place, "it is a file. A folder is required");
  checkAccess(place, status, uid);
}

function checkAccess(place: string, about: Stats, uid: number | undefined): void {
  const problem = untrustedAccess(about, uid);
  if (problem === undefined) return;
  if (problem === "owner") {
    throw unusable(place, `it belongs to another user (uid ${about.uid}). Remove it, or choose another folder`);
  }
  const digits = (about.mode & 0o777).toString(8).padStart(4, "0");
  const cure = `chmod go-w ${JSON.stringify(place)}`;
  throw unusable(place, `other users can write to it (mode ${digits}). Check its content, then forbid it: ${cure}`);
}

export function asUnusable(place: string, error: unknown): Error {
  return error instanceof LocalError ? error : unusable(place, (error as Error).message, error);
}
