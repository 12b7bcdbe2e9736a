import { randomUUID } from "node:crypto";
import { type Stats, constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { untrustedAccess } from "@mcparley/internal/file-access";
import { UsageError } from "../../terminal/io.ts";

/** The id of the user that must own files. Undefined on Windows, which has no such owners and modes. */
export type Uid = number | undefined;

/**
 * Creates a folder with access for its owner only, unless it exists. Rejects with a `UsageError` if another user owns it or can write
 * to it.
 */
export async function makePrivateFolder(folder: string, uid: Uid): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    checkFolder(folder, await lstat(folder), uid);
  } catch (error) {
    throw asUsageError(folder, error);
  }
}

/** Whether a folder exists. Rejects like `makePrivateFolder` if it cannot be trusted. */
export async function hasPrivateFolder(folder: string, uid: Uid): Promise<boolean> {
  try {
    checkFolder(folder, await lstat(folder), uid);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw asUsageError(folder, error);
  }
}

/** The limits of `readPrivateFile`. */
interface ReadLimits {
  readonly uid: Uid;
  /** Maximum size of the file in bytes. */
  readonly maxBytes: number;
  /** Number of bytes to read from the start of the file. Default: all. */
  readonly first?: number;
}

/**
 * Returns the text of a file, or undefined if it does not exist. Rejects with a `UsageError` if it is too large, is a link, or another
 * user owns it or can write to it.
 */
export async function readPrivateFile(file: string, limits: ReadLimits): Promise<string | undefined> {
  let handle: FileHandle | undefined;
  try {
    // Without O_NONBLOCK, a named pipe would block the command.
    handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    // The open file is checked, so that it cannot be replaced between the check and the reading.
    const about = await handle.stat();
    if (!about.isFile()) throw new UsageError(`${file} is not a regular file.`, "Remove it.");
    checkAccess(file, about, limits.uid);
    if (about.size > limits.maxBytes) {
      const problem = `${file} has ${about.size} bytes, and the limit is ${limits.maxBytes}.`;
      throw new UsageError(problem, "Delete the file to remove the conversation.");
    }
    if (limits.first === undefined) return await handle.readFile("utf8");
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(limits.first), 0, limits.first, 0);
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

/** Makes a rename durable. Systems that cannot open a folder do this without a request. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

function checkFolder(folder: string, about: Stats, uid: Uid): void {
  if (!about.isDirectory()) throw new UsageError(`${folder} is not a folder.`, "Remove it.");
  checkAccess(folder, about, uid);
}

function checkAccess(place: string, about: Stats, uid: Uid): void {
  const problem = untrustedAccess(about, uid);
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
