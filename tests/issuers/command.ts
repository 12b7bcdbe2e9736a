import { spawn } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";

/** The end of a command. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** Returns the document that `--json` prints. */
  json(): any;
}

interface RunOptions {
  /** The root folder of the repository. */
  root: string;
  env: Record<string, string>;
  /** Milliseconds by which the clock of the process is ahead. */
  clockAhead: number;
  signal: AbortSignal;
}

/** Runs the command without a terminal and without input. */
export async function runCommand(words: readonly string[], options: RunOptions): Promise<Ended> {
  const { root, env, clockAhead, signal } = options;
  const program = path.join(root, "packages/cli/bin/mcparley.cjs");
  // A clock that is ahead makes tokens old without waiting.
  const clock = `const now = Date.now; Date.now = () => now() + ${clockAhead};`;
  const nodeOptions = clockAhead === 0 ? [] : ["--import", `data:text/javascript,${encodeURIComponent(clock)}`];
  const child = spawn(process.execPath, [...nodeOptions, program, ...words], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    signal,
    killSignal: "SIGKILL",
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, out, err, json: () => JSON.parse(out) };
}
