import { addAbortSignal } from "node:stream";
import { type Clock, systemClock } from "mcparley";
import { type CommandIo, UsageError } from "../terminal/io.ts";
import { withAnySignal } from "../terminal/abort.ts";
import { type NamedText, readFrom, stdinWord } from "./session/named-texts.ts";

interface StdinOptions {
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Shows a line. */
  readonly note: (text: string) => void;
  /** For tests. Default: that of the system. */
  readonly clock?: Clock;
}

/** Milliseconds after which the user learns that the command waits for stdin. */
const patience = 3000;

/** Returns the text of stdin. Throws a `UsageError` if stdin is a terminal. */
export async function readRequiredStdin(
  io: CommandIo,
  { signal, note, clock = systemClock }: StdinOptions,
): Promise<NamedText> {
  if (io.isTerminal.stdin) {
    throw new UsageError("The message is read from stdin, which is a terminal.", "Pipe it: mcparley chat -p - < FILE");
  }
  const timer = clock.setTimeout(() => note("Waiting for the end of stdin (Ctrl-C stops)."), patience);
  try {
    return { word: stdinWord, ...(await readFrom(addAbortSignal(signal, io.stdin), "stdin")) };
  } finally {
    clock.clearTimeout(timer);
  }
}

/**
 * Returns the text of stdin for a message that does not name it. Undefined if stdin is a terminal, or has no text.
 *
 * A pipe is read to its end, because a slow program may write to it. A socket that has sent nothing after 3 seconds is left out: programs
 * of Node give one to each process that they start, and many of them never close it.
 */
export async function readOptionalStdin(io: CommandIo, options: StdinOptions): Promise<NamedText | undefined> {
  if (io.isTerminal.stdin) return undefined;
  const { clock = systemClock, note, signal } = options;
  const silent = new AbortController();
  const timer = clock.setTimeout(() => {
    if (io.hasSocketStdin?.() === true && !io.stdin.readableDidRead) silent.abort(new Error("stdin has sent nothing."));
  }, patience);
  try {
    const { text, name } = await withAnySignal([signal, silent.signal], (anySignal) =>
      readRequiredStdin(io, { ...options, signal: anySignal }),
    );
    return text.trim() === "" ? undefined : { word: undefined, name, text };
  } catch (error) {
    if (!silent.signal.aborted) throw error;
    note(
      `stdin has sent nothing for ${patience / 1000} s, and is left out. Write ${stdinWord} in the message to wait for it.`,
    );
    return undefined;
  } finally {
    clock.clearTimeout(timer);
  }
}
