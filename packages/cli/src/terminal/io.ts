import { fstatSync, readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { isatty } from "node:tty";
import type { connect } from "mcparley/client";

/** The environment of a client command. Tests replace it. */
export interface CommandIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** Which of the three streams are terminals. */
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /**
   * Returns whether stdin is a socket. Programs of Node give one to the processes that they start, and many of them never close it.
   * Undefined: it is none.
   */
  hasSocketStdin?(): boolean;
  /** Returns the current number of columns of the terminal, or undefined if it is unknown. */
  columns(): number | undefined;
  /** Calls `listener` on each Ctrl-C until the returned function is called. */
  onInterrupt(listener: () => void): () => void;
  /** Calls `listener` on each SIGTERM until the returned function is called. */
  onTerminate(listener: () => void): () => void;
  /**
   * Calls `run` after a number of milliseconds, when the keys that were pressed in this time have been read. Returns a function that
   * cancels the call.
   */
  schedule(this: void, ms: number, run: () => void): () => void;
  /** Opens a URL in the user's browser. Rejects if there is no browser or the URL is not safe to open. */
  openUrl(url: string | URL): Promise<void>;
  readonly connect: typeof connect;
}

/** An error in the command line or in a file that it names: exit code 1. `hint` is the cure. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** The version of this package. */
export const version: string = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version;

/** Returns the streams, signals and environment of this process. */
export function processIo(): CommandIo {
  const { stdin, stdout, stderr } = process;
  return {
    stdin,
    stdout,
    stderr,
    env: process.env,
    cwd: process.cwd(),
    platform: process.platform,
    isTerminal: { stdin: isatty(0), stdout: isatty(1), stderr: isatty(2) },
    hasSocketStdin,
    columns: () => [stdout, stderr].find((stream) => stream.isTTY)?.columns,
    onInterrupt: (listener) => onSignal("SIGINT", listener),
    onTerminate: (listener) => onSignal("SIGTERM", listener),
    schedule: afterKeys,
    openUrl: loadAndOpen,
    connect: loadAndConnect as typeof connect,
  };
}

function onSignal(signal: NodeJS.Signals, listener: () => void): () => void {
  process.on(signal, listener);
  return () => process.off(signal, listener);
}

function afterKeys(ms: number, run: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined;
  // Node calls timers before it reads input, and immediates after it.
  const timer = setTimeout(() => (immediate = setImmediate(run)), ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}

function hasSocketStdin(): boolean {
  try {
    return fstatSync(0).isSocket();
  } catch {
    // There is no stdin.
    return false;
  }
}

/** The client is loaded lazily, because `serve` does not need it. */
async function loadAndConnect(...call: Parameters<typeof connect>): Promise<unknown> {
  const client = await import("mcparley/client");
  return client.connect(...call);
}

async function loadAndOpen(url: string | URL): Promise<void> {
  const { openUrl } = await import("mcparley/node");
  await openUrl(url);
}
