import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
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
  readonly interrupt: () => void;
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
  return {
    finished,
    interrupt: () => void child.kill("SIGINT"),
    seen: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => void (written.err.includes(text) && resolve());
        child.stderr.on("data", look);
        look();
        void finished.then(({ err }) => reject(new Error(`The command ended without "${text}": ${err}`)));
      }),
  };
}
