import { constants } from "node:fs";
import { type FileHandle, link, mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import path from "node:path";

/** Only the owner can read the content of a store. */
const fileMode = 0o600;
const folderMode = 0o700;
const chunkSize = 65_536;
const newline = 0x0a;
/** Milliseconds after which an unfinished file is considered abandoned. */
const abandonedAfter = 60_000;
/** The codes of errors if a file can be read and not written. */
const readOnlyCodes: ReadonlySet<string | undefined> = new Set(["EROFS", "EACCES", "EPERM"]);
/** The codes of errors if a file cannot be created. */
const unwritableCodes: ReadonlySet<string | undefined> = new Set([...readOnlyCodes, "ENOSPC", "EDQUOT"]);
const filePattern = /^store\.(\d+)\.log$/;

/**
 * A log of lines in a folder, which several processes append to and read.
 *
 * It is a chain of files, `store.1.log` and so on. The file with the highest number is in use. Each append is one write to a
 * file that is opened for appending. Local file systems perform such writes atomically and in sequence, so all processes
 * read the same lines in the same order. Network file systems do not guarantee this.
 */
export class StoreLog {
  readonly #folder: string;
  #file: FileHandle | undefined;
  /** The error of opening the file for writing, if it can only be read. */
  #refusal: NodeJS.ErrnoException | undefined;
  #number = 0;
  #read = 0;
  /** The bytes after the last newline, which are the start of the next line. */
  #lineStart: Buffer = Buffer.alloc(0);

  constructor(folder: string) {
    this.#folder = folder;
  }

  get folder(): string {
    return this.#folder;
  }

  /** The number of bytes of the current file that were read. */
  get size(): number {
    return this.#read;
  }

  /**
   * Opens the current file, or creates the first one. Without `mustWrite`, a file that cannot be created counts as empty. Returns false
   * if it was open already.
   */
  async open(mustWrite: boolean): Promise<boolean> {
    // A file that could not be written may be writable now.
    if (this.#file && !(mustWrite && this.#refusal)) return false;
    await this.close();
    await this.#openHighest(1, () => [], mustWrite);
    return true;
  }

  /**
   * Opens the next file, after the current one was read up to its seal. If no process has created it yet, creates it with
   * `lines`. Without `mustWrite`, returns false if it cannot be created. The log is then closed.
   */
  async advance(lines: () => string[], mustWrite: boolean): Promise<boolean> {
    const old = this.#number;
    await this.close();
    if (!(await this.#openHighest(old + 1, lines, mustWrite))) return false;
    await this.#tidy();
    return true;
  }

  /**
   * Appends lines. With `durable`, settles when they are on the disk.
   *
   * Each line also starts with a newline, so that the unfinished line of a crashed process damages no other line.
   */
  async append(lines: readonly string[], durable: boolean): Promise<void> {
    if (this.#refusal) throw this.#refusal;
    const bytes = Buffer.from(lines.map((line) => `\n${line}\n`).join(""));
    const { bytesWritten } = await this.#file!.write(bytes);
    if (bytesWritten < bytes.length) {
      // A file system ends a write early if it is full.
      const message = `only ${bytesWritten} of ${bytes.length} bytes could be written`;
      throw Object.assign(new Error(message), { code: "ENOSPC" });
    }
    if (durable) await this.#file!.datasync();
  }

  /** Calls `take` with each complete line that was not read yet, until `take` returns false. */
  async read(take: (line: string) => boolean): Promise<void> {
    if (!this.#file) return;
    const buffer = Buffer.allocUnsafe(chunkSize);
    for (;;) {
      const { bytesRead } = await this.#file.read(buffer, 0, chunkSize, this.#read);
      if (bytesRead === 0) return;
      this.#read += bytesRead;
      if (!this.#takeLines(buffer.subarray(0, bytesRead), take)) return;
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #takeLines(chunk: Buffer, take: (line: string) => boolean): boolean {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const piece = chunk.subarray(start, end);
      const line = this.#lineStart.length > 0 ? Buffer.concat([this.#lineStart, piece]) : piece;
      this.#lineStart = Buffer.alloc(0);
      start = end + 1;
      if (line.length > 0 && !take(line.toString())) return false;
    }
    this.#lineStart = Buffer.concat([this.#lineStart, chunk.subarray(start)]);
    return true;
  }

  /**
   * Opens the file with the highest number. Creates the wanted number first if no file has it or a higher one. Returns false if it
   * cannot be created, and throws the reason with `mustWrite`.
   */
  async #openHighest(leastNumber: number, lines: () => string[], mustWrite: boolean): Promise<boolean> {
    for (;;) {
      const highest = Math.max(0, ...(await this.#numbers()));
      if (highest >= leastNumber) {
        if (await this.#open(highest)) return true;
        continue;
      }
      try {
        await this.#make(leastNumber, lines());
      } catch (error) {
        if (mustWrite || !unwritableCodes.has((error as NodeJS.ErrnoException).code)) throw error;
        return false;
      }
    }
  }

  async #open(number: number): Promise<boolean> {
    let refusal: NodeJS.ErrnoException | undefined;
    const opening = open(this.#path(number), constants.O_RDWR | constants.O_APPEND).catch(
      (error: NodeJS.ErrnoException) => {
        if (!readOnlyCodes.has(error.code)) throw error;
        refusal = error;
        return open(this.#path(number), constants.O_RDONLY);
      },
    );
    const file = await opening.catch((error: NodeJS.ErrnoException) => {
      // Another process has removed it after creating a higher one.
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (!file) return false;
    this.#file = file;
    this.#refusal = refusal;
    this.#number = number;
    this.#read = 0;
    this.#lineStart = Buffer.alloc(0);
    return true;
  }

  /** Creates a file atomically, unless another process has created it already. */
  async #make(number: number, lines: string[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: folderMode });
    const temporary = path.join(this.#folder, `${crypto.randomUUID()}.tmp`);
    const file = await open(temporary, "wx", fileMode);
    try {
      await file.writeFile(lines.map((line) => `${line}\n`).join(""));
      await file.sync();
      await link(temporary, this.#path(number)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      });
    } finally {
      await file.close();
      await unlink(temporary);
    }
    // Writes the name of the new file to the disk. Some systems cannot open a folder for this.
    const folder = await open(this.#folder, "r").catch(() => undefined);
    await folder?.sync().catch(() => {});
    await folder?.close();
    // While this process slept, others may have created higher files. Then this one is obsolete.
    if (Math.max(...(await this.#numbers())) > number) await unlink(this.#path(number)).catch(() => {});
  }

  /** Removes older files, and the unfinished files of crashed processes. */
  async #tidy(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const full = path.join(this.#folder, name);
      const number = filePattern.exec(name)?.[1];
      const isObsolete = number === undefined ? await isAbandoned(full) : Number(number) < this.#number;
      // Other readers have the file open. If the system refuses the removal now, a later call succeeds.
      if (isObsolete) await unlink(full).catch(() => {});
    }
  }

  async #numbers(): Promise<number[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    return names.flatMap((name) => filePattern.exec(name)?.[1] ?? []).map(Number);
  }

  #path(number: number): string {
    return path.join(this.#folder, `store.${number}.log`);
  }
}

async function isAbandoned(file: string): Promise<boolean> {
  if (!file.endsWith(".tmp")) return false;
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }));
  return Date.now() - mtimeMs > abandonedAfter;
}
