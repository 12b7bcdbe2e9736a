import { constants, createReadStream, openSync } from "node:fs";
import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { UsageError } from "../../terminal/io.ts";

/** Milliseconds that a named pipe may have no content. */
const pipeWait = 10_000;

/**
 * Opens a file for reading. A named pipe is opened without waiting for its writer: otherwise the process would wait for ever, and could not be
 * ended by Ctrl-C. `word` is the path in messages.
 */
export async function openSource(path: string, word: string, wait: number = pipeWait): Promise<Readable> {
  const stats = await stat(path);
  if (!stats.isFIFO()) return createReadStream(path);
  // The shell has opened the pipe of a process substitution, and its path leads to a file descriptor. Its end comes from the writer.
  if (/^\/(?:dev\/fd|proc\/(?:self|\d+)\/fd)\//.test(path)) return createReadStream(path);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const pipe = new Socket({ fd, readable: true, writable: false });
  const timer = setTimeout(() => {
    const seconds = wait / 1000;
    pipe.destroy(
      new UsageError(
        `No program wrote to the named pipe ${word} within ${seconds} s.`,
        "Start the writer first, or name a file.",
      ),
    );
  }, wait);
  pipe.once("readable", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
  return pipe;
}
