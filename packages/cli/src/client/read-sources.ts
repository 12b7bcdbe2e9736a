import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import type { Sources } from "./arguments.ts";
import { type CommandIo, UsageError } from "./io.ts";

/** More than this in one argument is a mistake, and more than servers take. */
const maxBytes = 64 * 1024 * 1024;

/** Reads files from the current folder, and stdin, as UTF-8. */
export function sourcesOf(io: CommandIo): Sources {
  return {
    file: async (path) => {
      try {
        return decode(await readFile(resolve(io.cwd, path)), path);
      } catch (error) {
        if (error instanceof UsageError) throw error;
        throw new UsageError(`The file ${path} cannot be read: ${(error as Error).message}`);
      }
    },
    stdin: async () => decode(await readAll(io.stdin), "stdin"),
  };
}

async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer | string>) {
    const buffer = Buffer.from(chunk as Buffer);
    bytes += buffer.length;
    if (bytes > maxBytes) throw new UsageError("stdin holds more than 64 MiB.");
    chunks.push(buffer);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(
      `${what} is not UTF-8 text.`,
      "A tool takes bytes as base64 where it says so: base64 -w0 FILE | mcparley call ... key=@-",
    );
  }
}
