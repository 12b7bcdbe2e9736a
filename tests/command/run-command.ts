import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const program = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));

export interface Finished {
  code: number | null;
  out: string;
  err: string;
}

export interface Running {
  readonly finished: Promise<Finished>;
  /** Resolves when the command has written this text to stderr. Rejects if it ends before. */
  readonly seen: (text: string) => Promise<void>;
  /** Resolves with the match when stdout matches a pattern. Rejects if the command ends before. */
  readonly printed: (pattern: RegExp) => Promise<RegExpExecArray>;
  readonly interrupt: () => void;
  readonly terminate: () => void;
  readonly folder: string;
}

/** Starts the built command in a new folder with these files, without a terminal. */
export function startCommand(
  words: readonly string[],
  { files = {}, env = {} }: { files?: Record<string, string>; env?: Record<string, string> } = {},
): Running {
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-command-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const home = { HOME: folder, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...home, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const written = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (written.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (written.err += text));
  const finished = new Promise<Finished>((resolve) => child.once("close", (code) => resolve({ code, ...written })));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await finished;
    rmSync(folder, { recursive: true, force: true });
  });
  /** Resolves with the result of `look` when it has one. It is called after each output on the stream. */
  const until = <T>(stream: Readable, look: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const found = look();
        if (found !== undefined) resolve(found);
      };
      stream.on("data", check);
      check();
      void finished.then(({ err }) => reject(new Error(`The command ended before the awaited output: ${err}`)));
    });
  return {
    finished,
    interrupt: () => void child.kill("SIGINT"),
    terminate: () => void child.kill("SIGTERM"),
    folder,
    seen: async (text) => void (await until(child.stderr, () => (written.err.includes(text) ? text : undefined))),
    printed: (pattern) => until(child.stdout, () => pattern.exec(written.out) ?? undefined),
  };
}
