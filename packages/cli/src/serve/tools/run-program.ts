import { type ChildProcess, spawn } from "node:child_process";
import { signalGroup } from "@mcparley/internal/process-group";
import { ToolError } from "mcparley/server";
import { showSize } from "../../terminal/show-content.ts";
import { showDuration } from "../yaml/values.ts";

export interface Program {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  stdin: string;
  /** Milliseconds. */
  timeLimit: number;
  /** Bytes of standard output. */
  outputLimit: number;
  /** The exit codes that mean success. */
  success: readonly number[];
}

const stderrTail = 2000;
const graceMs = 1000;

/** The running programs. They are ended with this process. */
const running = new Set<ChildProcess>();
let endsWithProcess = false;

/**
 * Runs a program without a shell and returns its standard output.
 *
 * On a timeout, too much output or a cancelled call, the program and its descendants are ended. If it fails, throws
 * `ToolError` with the end of its standard error.
 */
export async function runProgram(program: Program, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const child = start(program);
  const output: Buffer[] = [];
  let size = 0;
  let errors = "";
  let refusal: ToolError | undefined;
  const giveUp = (reason: string): void => {
    refusal ??= new ToolError(reason);
    endGroup(child);
  };
  const timer = setTimeout(
    () => giveUp(`The program took longer than ${showDuration(program.timeLimit)}.`),
    program.timeLimit,
  );
  const cancel = (): void => endGroup(child);
  signal.addEventListener("abort", cancel, { once: true });
  child.stdout!.on("data", (piece: Buffer) => {
    size += piece.length;
    if (size > program.outputLimit) giveUp(`The program wrote more than ${showSize(program.outputLimit)}.`);
    else output.push(piece);
  });
  child.stderr!.setEncoding("utf8").on("data", (piece: string) => {
    errors = (errors + piece).slice(-stderrTail);
  });
  // A program may close its input without reading it.
  child.stdin!.on("error", () => {});
  child.stdin!.end(program.stdin);
  try {
    const code = await waitForEnd(child);
    signal.throwIfAborted();
    if (refusal) throw refusal;
    if (typeof code === "number" && program.success.includes(code)) return Buffer.concat(output).toString("utf8");
    throw new ToolError(failure(code, errors));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
    running.delete(child);
  }
}

function start({ file, args, cwd, env }: Program): ChildProcess {
  try {
    // A separate process group, so that the descendants of the program can be ended with it.
    const child = spawn(file, args, {
      cwd,
      env,
      shell: false,
      windowsHide: true,
      detached: process.platform !== "win32",
    });
    if (!endsWithProcess) process.once("exit", endAll);
    endsWithProcess = true;
    running.add(child);
    return child;
  } catch (cause) {
    throw new ToolError("The program cannot be started with these arguments.", { cause });
  }
}

/** Resolves with the exit code or the signal when the program has ended and all its output has arrived. */
function waitForEnd(child: ChildProcess): Promise<number | NodeJS.Signals> {
  return new Promise((resolve, reject) => {
    child.once("error", (cause: NodeJS.ErrnoException) => {
      const what = cause.code === "ENOENT" ? "is not installed, or its folder does not exist" : "cannot be started";
      const tooLong = cause.code === "E2BIG" ? "cannot take arguments this long" : what;
      reject(new ToolError(`The program ${tooLong}.`, { cause }));
    });
    child.once("close", (code, endedBy) => resolve(code ?? endedBy ?? 1));
  });
}

function failure(code: number | NodeJS.Signals, errors: string): string {
  const how = typeof code === "number" ? `failed with exit code ${code}` : `was ended by ${code}`;
  const tail = errors.trim();
  return tail === "" ? `The program ${how} and wrote no error.` : `The program ${how}:\n${tail}`;
}

/** Sends SIGTERM to a program and its descendants, and SIGKILL if they still run after a second. */
function endGroup(child: ChildProcess): void {
  signalGroup(child, "SIGTERM");
  // The tree has ended at once.
  if (process.platform === "win32") return;
  const force = setTimeout(() => signalGroup(child, "SIGKILL"), graceMs);
  child.once("close", () => {
    clearTimeout(force);
    // A descendant may have closed its output and still run.
    signalGroup(child, "SIGKILL");
  });
}

function endAll(): void {
  for (const child of running) signalGroup(child, "SIGKILL");
}
