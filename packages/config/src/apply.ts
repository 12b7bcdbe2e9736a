import { randomUUID } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { ConfigError, systemCode } from "./config-error.ts";
import { backupFolder, writeAll, writeBackup } from "./files/backups.ts";
import { type TrustedFile, readTrusted } from "./files/trusted-file.ts";
import { realFileOf } from "./files/written-file.ts";
import { rulesOf } from "./hosts/index.ts";
import { type ConfigPlan, hashOf } from "./plan.ts";

/** Options of `applyPlan`. */
export interface ApplyOptions {
  /**
   * The folder of the backups. Default: `mcparley/backups` in the user's folder for state, such as `~/.local/state`. The five newest
   * backups of a file are kept.
   */
  readonly backups?: string;
}

/** The result of `applyPlan`. */
export interface AppliedPlan {
  /** The written file, without links. */
  readonly file: string;
  /** The backup of the previous file, with the mode 0600. Undefined if there was no file. */
  readonly backup: string | undefined;
}

/**
 * Writes the file of a plan: the previous content to a backup, and then the new content in one step, so that a reader never sees a
 * part of it. The mode of the file is kept, and a link is followed, except one that leads out of a project. A new file of the user has the mode 0600.
 *
 * Throws `ConfigError`: `conflict` if the file is not the one of the plan or another process writes it, `untrusted` if another user
 * owns it, `unreadable` if it cannot be written. The file is unchanged then.
 *
 * @example
 * ```ts
 * import { applyPlan, planRemove } from "@mcparley/config";
 *
 * const plan = planRemove({ host: "claude-code", scope: "user", name: "notes" });
 * const { file, backup } = applyPlan(plan);
 * console.log(`Changed ${file}. The previous content is in ${backup}.`);
 * ```
 */
export function applyPlan(plan: ConfigPlan, options: ApplyOptions = {}): AppliedPlan {
  try {
    return write(plan, options.backups ?? backupFolder());
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const fact = `The file cannot be written (${systemCode(error)}).`;
    throw new ConfigError("unreadable", fact, {
      file: plan.file,
      cure: "Check the permissions of its folder and the free space.",
    });
  }
}

function write(plan: ConfigPlan, backups: string): AppliedPlan {
  const isShared = plan.scope === "project";
  const file = realFileOf(plan.file);
  // A link that appeared can lead out of the project.
  if (file !== plan.realFile) throw changed(plan.file);
  mkdirSync(dirname(file), { recursive: true, ...(!isShared && { mode: 0o700 }) });
  return withLock(file, () => {
    const current = readCurrent(plan, file);
    const temporary = join(dirname(file), `.${basename(file)}.${randomUUID()}.tmp`);
    try {
      writeLike(temporary, plan.after, { current, mode: isShared ? 0o666 : 0o600 });
      const backup = current && writeBackup(backups, file, current.bytes);
      // Programs that do not know the lock may have written the file in the meantime.
      readCurrent(plan, file);
      renameSync(temporary, file);
      syncFolder(dirname(file));
      return { file, backup };
    } finally {
      rmSync(temporary, { force: true });
    }
  });
}

/** Runs a function while no other process of this package writes the file. */
function withLock<T>(file: string, run: () => T): T {
  const lock = `${file}.mcparley-lock`;
  const handle = openLock(file, lock);
  try {
    writeAll(handle, Buffer.from(String(process.pid)));
    return run();
  } finally {
    closeSync(handle);
    rmSync(lock, { force: true });
  }
}

function openLock(file: string, lock: string): number {
  try {
    return openSync(lock, "wx", 0o600);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    if (lstatSync(lock, { throwIfNoEntry: false })?.isFile() === false) {
      const fact = "The lock of the file is no file, so no process of mcparley has made it.";
      throw new ConfigError("conflict", fact, { file, cure: `Delete ${lock}.` });
    }
    const cure = isLeftBehind(lock) ? `Its process has ended: delete ${lock}.` : "Plan the change again.";
    throw new ConfigError("conflict", "Another process writes the file.", { file, cure });
  }
}

/** Whether the process that wrote a lock has ended. */
function isLeftBehind(lock: string): boolean {
  try {
    // A lock of another user, and one that is too large for a number, is not read.
    const pid = Number(readTrusted(lock, 20)?.bytes.toString());
    if (!Number.isSafeInteger(pid) || pid <= 0) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return systemCode(error) === "ESRCH";
  }
}

/** Reads the file again. Throws `ConfigError` if it is not the one of the plan, or if the user does not own it. */
function readCurrent(plan: ConfigPlan, file: string): TrustedFile | undefined {
  const current = readTrusted(file, rulesOf(plan.host).limit);
  const uid = process.getuid?.();
  if (current && uid !== undefined && current.owner !== uid) {
    const fact = `The file belongs to another user (uid ${current.owner}).`;
    throw new ConfigError("untrusted", fact, { file, cure: "Change it as that user." });
  }
  if ((current && hashOf(current.bytes)) === plan.hash) return current;
  throw changed(file);
}

function changed(file: string): ConfigError {
  return new ConfigError("conflict", "The file changed after the change was planned.", {
    file,
    cure: "Plan it again.",
  });
}

/** Writes a new file with the mode and the group of the current one. */
function writeLike(
  temporary: string,
  text: string,
  { current, mode }: { current: TrustedFile | undefined; mode: number },
): void {
  const handle = openSync(temporary, "wx", current ? 0o600 : mode);
  try {
    writeAll(handle, Buffer.from(text));
    if (current) {
      keepGroup(handle, current);
      fchmodSync(handle, current.mode);
    }
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function keepGroup(handle: number, { owner, group }: TrustedFile): void {
  try {
    fchownSync(handle, owner, group);
  } catch (error) {
    // Only members of a group can give a file to it.
    if (systemCode(error) !== "EPERM") throw error;
  }
}

/** Makes the new name durable. Windows cannot open a folder. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
