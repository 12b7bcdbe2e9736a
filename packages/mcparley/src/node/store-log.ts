import { constants } from "node:fs";
import { link, mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import path from "node:path";

/** Only its owner may read what a store holds. */
const fileMode = 0o600;
const folderMode = 0o700;
const chunkSize = 65_536;
const newline = 0x0a;
/** Milliseconds after which a file that is being made is not being made any more. */
const abandoned = 60_000;
const filePattern = /^store\.(\d+)\.log$/;

/**
 * A log of lines that several processes append to and read, in a folder of its own.
 *
 * It is a chain of files, `store.1.log` and so on, of which the highest is in use. Each append is one write to a file
 * opened for appending, which a local file system carries out whole and one after the other, so all processes read the
 * same lines in the same order. (Network file systems do not promise that.)
 */
export class StoreLog {
  readonly #folder: string;
  #file: FileHandle | undefined;
  #number = 0;
  #read = 0;
  /** Read, and not ended by a newline yet. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(folder: string) {
    this.#folder = folder;
  }

  get folder(): string {
    return this.#folder;
  }

  /** How many bytes of the present file were read. */
  get size(): number {
    return this.#read;
  }

  /** Opens the file that is in use, or the first one. Says whether it was not open, and is read from its beginning. */
  async open(): Promise<boolean> {
    if (this.#file) return false;
    await mkdir(this.#folder, { recursive: true, mode: folderMode });
    await this.#openHighest(1, () => []);
    return true;
  }

  /**
   * Goes on to the next file, once the present one is read to its seal. Where nobody has made it yet, `lines` are what
   * it begins with.
   */
  async advance(lines: () => string[]): Promise<void> {
    const old = this.#number;
    await this.#close();
    await this.#openHighest(old + 1, lines);
    await this.#tidy();
  }

  /**
   * Appends lines, and with `durable` settles when they are on the disk.
   *
   * Each begins with a newline as well, so that what a process wrote in part before it died spoils no other line.
   */
  async append(lines: readonly string[], durable: boolean): Promise<void> {
    const bytes = Buffer.from(lines.map((line) => `\n${line}\n`).join(""));
    const { bytesWritten } = await this.#file!.write(bytes);
    if (bytesWritten < bytes.length) throw new Error(`only ${bytesWritten} of ${bytes.length} bytes could be written`);
    if (durable) await this.#file!.datasync();
  }

  /** Gives `take` each whole line that has not been read yet, until it returns false. */
  async read(take: (line: string) => boolean): Promise<void> {
    const buffer = Buffer.allocUnsafe(chunkSize);
    for (;;) {
      const { bytesRead } = await this.#file!.read(buffer, 0, chunkSize, this.#read);
      if (bytesRead === 0) return;
      this.#read += bytesRead;
      if (!this.#takeLines(buffer.subarray(0, bytesRead), take)) return;
    }
  }

  async close(): Promise<void> {
    await this.#close();
  }

  #takeLines(chunk: Buffer, take: (line: string) => boolean): boolean {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const piece = chunk.subarray(start, end);
      const line = this.#rest.length > 0 ? Buffer.concat([this.#rest, piece]) : piece;
      this.#rest = Buffer.alloc(0);
      start = end + 1;
      if (line.length > 0 && !take(line.toString())) return false;
    }
    this.#rest = Buffer.concat([this.#rest, chunk.subarray(start)]);
    return true;
  }

  /** Opens the highest file there is; makes the one with the given number where there is none so high. */
  async #openHighest(wanted: number, lines: () => string[]): Promise<void> {
    for (;;) {
      const highest = Math.max(0, ...(await this.#numbers()));
      if (highest >= wanted) {
        if (await this.#open(highest)) return;
      } else await this.#make(wanted, lines());
    }
  }

  async #open(number: number): Promise<boolean> {
    try {
      this.#file = await open(this.#path(number), constants.O_RDWR | constants.O_APPEND);
    } catch (error) {
      // Another process has gone on to a higher one and removed it.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw error;
    }
    this.#number = number;
    this.#read = 0;
    this.#rest = Buffer.alloc(0);
    return true;
  }

  /** Makes a file, whole or not at all, unless another process has made it already. */
  async #make(number: number, lines: string[]): Promise<void> {
    const temporary = path.join(this.#folder, `${crypto.randomUUID()}.tmp`);
    const file = await open(temporary, "wx", fileMode);
    try {
      await file.writeFile(lines.map((line) => `${line}\n`).join(""));
      await file.sync();
      await link(temporary, this.#path(number));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      await file.close();
      await unlink(temporary);
    }
    await this.#syncFolder();
    // A process that slept here while others went on has made one that is not wanted any more.
    if (Math.max(...(await this.#numbers())) > number) await unlink(this.#path(number)).catch(() => {});
  }

  /** Makes the name of a new file survive a loss of power. Not every system lets a folder be opened for that. */
  async #syncFolder(): Promise<void> {
    const folder = await open(this.#folder, "r").catch(() => undefined);
    await folder?.sync().catch(() => {});
    await folder?.close();
  }

  /** Removes the files before the present one, and what processes left behind that died while they made one. */
  async #tidy(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const full = path.join(this.#folder, name);
      const number = filePattern.exec(name)?.[1];
      const isOver = number === undefined ? await isAbandoned(full) : Number(number) < this.#number;
      // Whoever still reads it has it open; where the system forbids to remove it now, a later one does.
      if (isOver) await unlink(full).catch(() => {});
    }
  }

  async #numbers(): Promise<number[]> {
    const names = await readdir(this.#folder);
    return names.flatMap((name) => filePattern.exec(name)?.[1] ?? []).map(Number);
  }

  #path(number: number): string {
    return path.join(this.#folder, `store.${number}.log`);
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}

async function isAbandoned(file: string): Promise<boolean> {
  if (!file.endsWith(".tmp")) return false;
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }));
  return Date.now() - mtimeMs > abandoned;
}
