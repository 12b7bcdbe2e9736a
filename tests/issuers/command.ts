import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import path from "node:path";

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

/** A command that runs. */
export interface Started {
  readonly ended: Promise<Ended>;
  /** Resolves when the output matches. Rejects if the command ends before. */
  readonly printed: (pattern: RegExp) => Promise<RegExpExecArray>;
}

/** Starts the command without a terminal and without input. */
export function startCommand(words: readonly string[], options: RunOptions): Started {
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
  const output = { out: "", err: "" };
  const arrived = new EventEmitter();
  for (const [name, stream] of [
    ["out", child.stdout],
    ["err", child.stderr],
  ] as const) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output[name] += chunk;
      arrived.emit("text");
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...output, code, json: () => JSON.parse(output.out) }));
  });
  return {
    ended,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        arrived.on("text", () => {
          const match = pattern.exec(output.out) ?? pattern.exec(output.err);
          if (match) resolve(match);
        });
        const fail = ({ code, out, err }: Ended): void =>
          reject(new Error(`The command ended with ${code} before it printed ${String(pattern)}: ${out}${err}`));
        ended.then(fail, reject);
      }),
  };
}
