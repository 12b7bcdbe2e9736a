import path from "node:path";
import { randomUUID } from "node:crypto";
import { readdir, rename, rm, writeFile } from "node:fs/promises";
import { type Clock, LocalError, systemClock } from "mcparley";
import { fileStore } from "mcparley/node";
import { flushFolder } from "@mcparley/internal/flush-folder";
import { keepingProcess } from "../async/timing.ts";
import { asUnusable, findFolder, makeFolder, partsOfName, readPrivateFile, tooLarge } from "./private-files.ts";
import type { StateStorage } from "./state-storage.ts";

/** Options of `fileState`. */
export interface FileStateOptions {
  /** Maximum size of each file in bytes. Default: 16 MiB. */
  readonly maxBytes?: number;
  /** Id of the user that must own the files. For tests. Default: the user of this process, and not checked on Windows. */
  readonly uid?: number | undefined;
  /** Source of time and timers. For tests. Default: the clock of the system, whose timers keep the process running. */
  readonly clock?: Clock;
}

const fileMode = 0o600;

/**
 * Returns a storage in text files of a folder. Several processes can use the folder at the same time.
 *
 * A missing folder is created with access for its owner only, and so are files. A file is replaced atomically: a reader receives
 * the old text or the new one, also after a crash. A file or folder that another user owns or can write to is refused with
 * `LocalError` `unusable_storage`, and so is a symbolic link inside the folder. The folder must be on a local disk.
 */
export function fileState(folder: string, options: FileStateOptions = {}): StateStorage {
  if (folder === "") throw new TypeError('fileState needs the path of a folder; got "".');
  const { maxBytes = 16 * 1024 * 1024, uid = process.getuid?.(), clock = keepingProcess(systemClock) } = options;
  const limits = { uid, maxBytes };
  let last: Promise<unknown> = Promise.resolve();

  const read = async (name: string): Promise<string | undefined> => {
    const parts = partsOfName(name);
    const parent = await findFolder(folder, parts.slice(0, -1), uid);
    return parent === undefined ? undefined : readPrivateFile(path.join(parent, parts.at(-1)!), limits);
  };

  const write = async (name: string, change: (text: string | undefined) => string | undefined): Promise<void> => {
    const parts = partsOfName(name);
    const top = await makeFolder(folder, [], uid);
    await withFolderLock(top, clock, async (lock) => {
      const oldText = await read(name);
      const newText = change(oldText);
      if (newText === oldText) return;
      const bytes = newText === undefined ? 0 : Buffer.byteLength(newText);
      if (bytes > maxBytes) throw tooLarge(path.join(folder, name), bytes, maxBytes);
      const file = path.join(await makeFolder(folder, parts.slice(0, -1), uid), parts.at(-1)!);
      await replaceFile(file, newText, { lock, top });
    });
  };

  return {
    read,
    update(name, change) {
      // Calls of this process wait here, so that only one of them waits for other processes.
      const update = last.then(() => write(name, change));
      last = update.catch(() => {});
      return update;
    },
    async waitForUpdates() {
      for (let update: unknown; update !== last;) {
        update = last;
        await update;
      }
    },
  };
}

/** Replaces or deletes a file. The caller holds the lock of the folder `top`. */
async function replaceFile(
  file: string,
  text: string | undefined,
  { lock, top }: { lock: HeldLock; top: string },
): Promise<void> {
  const temporary = path.join(top, `.${randomUUID()}.tmp`);
  try {
    await removeTemporaryFiles(top);
    if (text === undefined) {
      await lock.renew();
      await rm(file, { force: true });
    } else {
      await writeFile(temporary, text, { mode: fileMode, flag: "wx", flush: true });
      await lock.renew();
      await rename(temporary, file);
    }
    await flushFolder(path.dirname(file));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw asUnusable(file, error);
  }
}

/** Removes the temporary files of processes that crashed. Only the holder of the lock has one. */
async function removeTemporaryFiles(folder: string): Promise<void> {
  const names = await readdir(folder);
  const temporaryNames = names.filter((name) => name.startsWith(".") && name.endsWith(".tmp"));
  await Promise.all(temporaryNames.map((name) => rm(path.join(folder, name), { force: true })));
}

/** Milliseconds after which the lock of a process that has died expires. A living holder needs a few milliseconds. */
const lease = 15_000;
/** Milliseconds between two attempts to take the lock. */
const retryInterval = 20;
/** Milliseconds of waiting after which the attempt fails. */
const maxWait = 60_000;
const key = "writer";

/** The lock that one process holds. */
interface HeldLock {
  /** Extends the lease. Rejects if another process has taken the lock because this one was suspended for too long. */
  renew(): Promise<void>;
}

/**
 * Runs work while no other process, and no other call of this one, holds the lock of the folder.
 *
 * The lock is an entry of a `fileStore` in the folder `.lock`. Its `compareAndSet` is atomic between processes, so two processes
 * cannot both replace an expired lock, as they could with a lock file. The entry expires, so a crash leaves no lock behind.
 */
async function withFolderLock<T>(folder: string, clock: Clock, work: (lock: HeldLock) => Promise<T>): Promise<T> {
  const owner = randomUUID();
  const store = fileStore(path.join(folder, ".lock"), { clock });
  try {
    const giveUpAt = clock.now() + maxWait;
    while (!(await store.compareAndSet(key, undefined, owner, { ttl: lease }))) {
      if (clock.now() >= giveUpAt) throw lockedError(folder);
      await new Promise<void>((resolve) => {
        clock.setTimeout(resolve, retryInterval);
      });
    }
    try {
      return await work({
        async renew() {
          if (!(await store.compareAndSet(key, owner, owner, { ttl: lease }))) throw lostLockError(folder);
        },
      });
    } finally {
      await store.compareAndSet(key, owner, undefined, { ttl: lease });
    }
  } finally {
    await store.close();
  }
}

function lockedError(folder: string): LocalError {
  const reason = `other processes wrote to ${JSON.stringify(folder)} for ${maxWait / 1000} seconds`;
  return new LocalError("unusable_storage", `The state of the host was not written: ${reason}. Try again.`);
}

function lostLockError(folder: string): LocalError {
  const why = `this process was suspended while it wrote to ${JSON.stringify(folder)}`;
  return new LocalError("unusable_storage", `The state of the host was not written: ${why}. Try again.`);
}
