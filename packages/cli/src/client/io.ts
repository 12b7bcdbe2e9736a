import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { isatty } from "node:tty";
import type { connect } from "mcparley/client";

/** Everything a client command may touch of the world outside, so that a test can give it another one. */
export interface CommandIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** Which of the three streams a person sits at. */
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** How many columns the terminal has at the moment; undefined where that is not known. */
  columns(): number | undefined;
  /** Calls `listener` on each Ctrl-C until the returned function is called. */
  onInterrupt(listener: () => void): () => void;
  /** Opens a URL in the person's browser. Rejects where there is none, or for a URL that is not safe to open. */
  openUrl(url: string | URL): Promise<void>;
  readonly connect: typeof connect;
}

/** Thrown where the command line, or a file that it names, is wrong: exit code 1. `hint` says what to do instead. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** The version of this command, as its package says. */
export const version: string = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version;

/** The streams, signals and environment of this process. */
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
    columns: () => [stdout, stderr].find((stream) => stream.isTTY)?.columns,
    onInterrupt: (listener) => {
      process.on("SIGINT", listener);
      return () => process.off("SIGINT", listener);
    },
    openUrl: loadAndOpen,
    connect: loadAndConnect as typeof connect,
  };
}

/** The client is loaded when it is wanted: serving does without it. */
async function loadAndConnect(...call: Parameters<typeof connect>): Promise<unknown> {
  const client = await import("mcparley/client");
  return client.connect(...call);
}

async function loadAndOpen(url: string | URL): Promise<void> {
  const { openUrl } = await import("mcparley/node");
  await openUrl(url);
}
