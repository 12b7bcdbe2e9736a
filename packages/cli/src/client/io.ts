import type { Readable, Writable } from "node:stream";
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
