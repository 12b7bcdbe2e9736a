import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { homeFolder } from "@mcparley/internal/home-folder";
import { signalGroup } from "@mcparley/internal/process-group";
import type { CommandIo } from "../../terminal/io.ts";

/** The outcome of an installed program. `code` is undefined if it did not end in time. */
export interface ToolResult {
  readonly code: number | undefined;
  /** Its stdout, without colours. */
  readonly stdout: string;
  readonly err: string;
}

interface ToolOptions {
  readonly io: Pick<CommandIo, "env" | "platform">;
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly timeout: number;
  readonly input?: string;
}

/** Maximum number of characters of the output that are kept. */
const longest = 200_000;

/**
 * Runs a program of `PATH` in the home folder, and returns its outcome. Returns undefined if it is not installed or cannot be started.
 *
 * The files of the current folder, which can be those of a project, do not select a registry for it or servers to start.
 *
 * After the time limit, or if `signal` is aborted, the program and its descendants are ended.
 */
export function runTool(words: readonly string[], options: ToolOptions): Promise<ToolResult | undefined> {
  const { io, signal, timeout, input = "" } = options;
  const [name = "", ...args] = words;
  const file = findTool(name, io);
  // On Windows, npm and other programs are scripts of a shell, which would interpret other characters.
  const isScript = file !== undefined && /\.(?:cmd|bat)$/i.test(file);
  if (file === undefined || (isScript && args.some((arg) => !/^[\w.@/:~=-]+$/.test(arg))))
    return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const child = spawn(isScript ? `"${file}"` : file, args, {
      cwd: homeFolder(io.env),
      env: io.env,
      detached: process.platform !== "win32",
      shell: isScript,
    });
    const texts = { out: "", err: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (texts.out = (texts.out + text).slice(-longest)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (texts.err = (texts.err + text).slice(-longest)));
    const finish = (code: number | undefined, isStarted = true): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      const [stdout, err] = [texts.out, texts.err].map(stripVTControlCharacters);
      resolve(isStarted ? { code, stdout: stdout!, err: err! } : undefined);
    };
    const end = (): void => {
      signalGroup(child, "SIGKILL");
      // A descendant can keep the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
      finish(undefined);
    };
    const timer = setTimeout(end, timeout);
    signal.addEventListener("abort", end, { once: true });
    child.once("error", () => finish(undefined, false));
    child.once("close", (code) => finish(code ?? undefined));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

/** Returns the path of a program in the folders of `PATH`. */
function findTool(name: string, { env, platform }: Pick<CommandIo, "env" | "platform">): string | undefined {
  const endings = platform === "win32" ? [".exe", ".cmd", ".bat"] : [""];
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
