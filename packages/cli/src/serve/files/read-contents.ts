import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { decodeText, looksLikeText } from "./file-types.ts";

/** The contents of a file in the protocol: text if the file is UTF-8, otherwise base64. */
export type Contents = { text: string } | { blob: string };

/** A file is larger than the server may read. */
export class FileTooLarge extends Error {
  readonly size: number;
  readonly limit: number;

  constructor(size: number, limit: number) {
    super(`The file has ${size} bytes; at most ${limit} are read.`);
    this.size = size;
    this.limit = limit;
  }
}

const headBytes = 8192;

/**
 * Reads a file by its real path: the caller has followed and checked every link.
 *
 * Binary files are encoded while they are read, so the raw bytes are never in memory as a whole. Returns undefined if
 * there is no regular file. Throws `FileTooLarge`.
 */
export function readContents(real: string, limit: number): Promise<Contents | undefined> {
  return useRegular(real, limit, async (file, size): Promise<Contents> => {
    if (size === 0) return { text: "" };
    if (!looksLikeText(await readHead(file, headBytes))) return { blob: await encode(file, size) };
    const bytes = await collect(file, size);
    const text = decodeText(bytes);
    return text === undefined ? { blob: bytes.toString("base64") } : { text };
  });
}

/** Returns the bytes of a regular file by its real path, or undefined if there is none. Throws `FileTooLarge`. */
export function readBytes(real: string, limit: number): Promise<Buffer | undefined> {
  return useRegular(real, limit, collect);
}

/** Returns the first bytes of a regular file. Empty if there is no such file. */
export async function readBeginning(real: string, bytes: number): Promise<Buffer> {
  return (await useRegular(real, Infinity, (file) => readHead(file, bytes))) ?? Buffer.alloc(0);
}

/**
 * Opens a regular file, calls `use` with its size, and closes it. Returns undefined if there is none. Throws `FileTooLarge`. Does not follow a
 * link that replaced the file after the check, and does not block on a pipe.
 */
async function useRegular<T>(
  real: string,
  limit: number,
  use: (file: FileHandle, size: number) => Promise<T>,
): Promise<T | undefined> {
  // Windows has neither flag.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(real, flags).catch(() => undefined);
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return undefined;
    if (stats.size > limit) throw new FileTooLarge(stats.size, limit);
    return await use(file, stats.size);
  } finally {
    await file.close();
  }
}

async function readHead(file: FileHandle, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
  return buffer.subarray(0, bytesRead);
}

/** Encodes the first `size` bytes. Bytes that are appended during the reading are not read. */
async function encode(file: FileHandle, size: number): Promise<string> {
  const pieces: string[] = [];
  // The stream keeps the bytes that do not fill a group of three for its next piece.
  const stream = file.createReadStream({ start: 0, end: size - 1, autoClose: false, encoding: "base64" });
  for await (const piece of stream) pieces.push(piece as string);
  return pieces.join("");
}

/** Reads the first `size` bytes. A stream would take several times the CPU time for a small file. */
async function collect(file: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  for (let read = 0; read < size;) {
    const { bytesRead } = await file.read(bytes, read, size - read, read);
    if (bytesRead === 0) return bytes.subarray(0, read);
    read += bytesRead;
  }
  return bytes;
}
