import { open, readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { UsageError } from "../../terminal/io.ts";

/** Milliseconds after which a lock or a temporary file belongs to a process that crashed. A save takes less than a second. */
const abandoned = 30_000;

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
    const about = await stat(file).catch(() => undefined);
    if (about && Date.now() - about.mtimeMs > abandoned) await rm(file, { force: true });
  }
}
