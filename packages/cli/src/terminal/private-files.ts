import { randomUUID } from "node:crypto";
import { type Stats, constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { untrustedAccess } from "@mcparley/internal/file-access";
import { flushFolder } from "@mcparley/internal/flush-folder";
import { UsageError } from "./io.ts";

/** The id of the user that must own files. Undefined on Windows, which has no such owners and modes. */
const user = process.getuid?.();

/**
 * Creates a folder with access for its owner only, unless it exists. Rejects with a `UsageError` if another user owns it or can write
 * to it.
 */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw asUsageError(folder, error);
  });
  await hasPrivateFolder(folder);
}

/** Whether a folder exists. Rejects like `makePrivateFolder` if it cannot be trusted. */
export async function hasPrivateFolder(folder: string): Promise<boolean> {
  try {
    const stats = await lstat(folder);
    if (!stats.isDirectory()) throw new UsageError(`${folder} is not a folder.`, "Remove it.");
    checkAccess(folder, stats);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw asUsageError(folder, error);
  }
}

/**
 * Returns the text of a file, or undefined if it does not exist. Rejects with a `UsageError` if it has more than `maxBytes`, is a link, or
 * another user owns it or can write to it. `first` is the number of bytes to read from its start. Default: all.
 */
export async function readPrivateFile(file: string, maxBytes: number, first?: number): Promise<string | undefined> {
  let handle: FileHandle | undefined;
  try {
    // Without O_NONBLOCK, a named pipe would block the command.
    handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    // The open file is checked, so that it cannot be replaced between the check and the reading.
    const stats = await handle.stat();
    if (!stats.isFile()) throw new UsageError(`${file} is not a regular file.`, "Remove it.");
    checkAccess(file, stats);
    if (stats.size > maxBytes) {
      const problem = `${file} has ${stats.size} bytes, and the limit is ${maxBytes}.`;
      throw new UsageError(problem, "Delete the file to remove the conversation.");
    }
    if (first === undefined) return await handle.readFile("utf8");
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(first), 0, first, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw asUsageError(file, error);
  } finally {
    await handle?.close();
  }
}

/** Replaces a file atomically, with access for its owner only. After a crash it has the old text or the new one. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const folder = path.dirname(file);
  const temporary = path.join(folder, `.${randomUUID()}.tmp`);
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: "wx", flush: true });
    await rename(temporary, file);
    await flushFolder(folder);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw asUsageError(file, error);
  }
}

/** Milliseconds after which a lock or a temporary file belongs to a process that crashed. A save takes less than a second. */
const lockTimeout = 30_000;

/**
 * Calls `action` while no other process writes the conversation. Returns undefined, and does not call it, if another one does.
 *
 * It does not wait: two processes that write the same conversation at the same time are a conflict in any case. Two processes that
 * find the lock of a crashed one in the same millisecond can both receive it.
 */
export async function withChatLock<T>(
  { folder, id }: { folder: string; id: string },
  action: () => Promise<T>,
): Promise<T | undefined> {
  const lock = path.join(folder, `.${id}.lock`);
  if (!(await create(lock))) {
    await removeAbandoned(folder);
    if (!(await create(lock))) return undefined;
  }
  try {
    return await action();
  } finally {
    await rm(lock, { force: true });
  }
}

/** Creates a file. Returns false if it exists. */
async function create(file: string): Promise<boolean> {
  try {
    await (await open(file, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw new UsageError(`${file} cannot be written: ${(error as Error).message}`);
  }
}

/** Removes the locks and the temporary files of processes that crashed. */
export async function removeAbandoned(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((name) => /^\..*\.(?:lock|tmp)$/.test(name))) {
    const file = path.join(folder, name);
    const stats = await stat(file).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > lockTimeout) await rm(file, { force: true });
  }
}

function checkAccess(place: string, about: Stats): void {
  const problem = untrustedAccess(about, user);
  if (problem === undefined) return;
  if (problem === "owner") {
    throw new UsageError(
      `${place} belongs to another user (uid ${about.uid}), who could change stored conversations.`,
      "Remove it, or continue without stored conversations: --no-history",
    );
  }
  throw new UsageError(
    `${place} can be written by other users (mode ${(about.mode & 0o777).toString(8)}), who could change stored conversations.`,
    `Check its content, then forbid it: chmod go-w ${JSON.stringify(place)}`,
  );
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function asUsageError(place: string, error: unknown): UsageError {
  if (error instanceof UsageError) return error;
  if (codeOf(error) === "ELOOP") return new UsageError(`${place} is a symbolic link.`, "Replace it by a regular file.");
  const reason = error instanceof Error ? error.message : String(error);
  return new UsageError(`${place} cannot be used: ${reason}`, "Continue without stored conversations: --no-history");
}
