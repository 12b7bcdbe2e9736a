import { randomUUID } from "node:crypto";
import path from "node:path";
import { type Clock, LocalError } from "mcparley";
import { fileStore } from "mcparley/node";

/** Milliseconds after which the lock of a process that has died expires. A living holder needs a few milliseconds. */
const lease = 15_000;
/** Milliseconds between two attempts to take the lock. */
const retryInterval = 20;
/** Milliseconds of waiting after which the attempt fails. */
const maxWait = 60_000;
const key = "writer";

/** The lock that one process holds. */
export interface HeldLock {
  /** Extends the lease. Rejects if another process has taken the lock because this one was suspended for too long. */
  renew(): Promise<void>;
}

/**
 * Runs work while no other process, and no other call of this one, holds the lock of the folder.
 *
 * The lock is an entry of a `fileStore` in the folder `.lock`. Its `compareAndSet` is atomic between processes, so two processes
 * cannot both replace an expired lock, as they could with a lock file. The entry expires, so a crash leaves no lock behind.
 */
export async function withFolderLock<T>(
  folder: string,
  clock: Clock,
  work: (lock: HeldLock) => Promise<T>,
): Promise<T> {
  const owner = randomUUID();
  const store = fileStore(path.join(folder, ".lock"), { clock });
  try {
    const giveUpAt = clock.now() + maxWait;
    while (!(await store.compareAndSet(key, undefined, owner, { ttl: lease }))) {
      if (clock.now() >= giveUpAt) throw locked(folder);
      await new Promise<void>((resolve) => {
        clock.setTimeout(resolve, retryInterval);
      });
    }
    try {
      return await work({
        async renew() {
          if (!(await store.compareAndSet(key, owner, owner, { ttl: lease }))) throw lost(folder);
        },
      });
    } finally {
      await store.compareAndSet(key, owner, undefined, { ttl: lease });
    }
  } finally {
    await store.close();
  }
}

function locked(folder: string): LocalError {
  const waited = `other processes wrote to ${JSON.stringify(folder)} for ${maxWait / 1000} seconds`;
  return new LocalError("unusable_storage", `The state of the host was not written: ${waited}. Try again.`);
}

function lost(folder: string): LocalError {
  const why = `this process was suspended while it wrote to ${JSON.stringify(folder)}`;
  return new LocalError("unusable_storage", `The state of the host was not written: ${why}. Try again.`);
}
