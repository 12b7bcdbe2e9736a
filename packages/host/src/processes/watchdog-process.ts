import { type ChildProcessByStdio, spawn } from "node:child_process";
import { Socket } from "node:net";
import path from "node:path";
import type { Writable } from "node:stream";
// Text, and not a file, so that the program also starts if a bundler has put a host into one file.
import program from "./watchdog-program.cjs?raw";

type Program = ChildProcessByStdio<Writable, null, null>;

/** The process of a watchdog, which is started again after its death. */
export interface WatchdogProcess {
  readonly pid: number | undefined;
  /** Starts the process if it does not run. */
  ensureRunning(this: void): void;
  /** Sends a line. Does nothing if the process does not run. */
  write(this: void, line: string): void;
  /** Ends the process. It is not started again. */
  close(this: void): void;
}

export interface WatchdogProcessOptions {
  /** Path of Node. */
  readonly node: string;
  /** The environment variable of the servers, as `NAME=value`. */
  readonly marker: string;
  /** Called when the process has been started. */
  readonly onRunning: () => void;
  /** Called when the process has died, and if it cannot be started, but not for each attempt. */
  readonly onError: (error: Error) => void;
}

/** Returns the process of a watchdog, which `ensureRunning` starts. */
export function watchdogProcess({ node, marker, onRunning, onError }: WatchdogProcessOptions): WatchdogProcess {
  let running: Program | undefined;
  let isClosed = false;
  let hasFailedToStart = false;

  function ensureRunning(): void {
    if (running || isClosed) return;
    try {
      const started = startProgram(node, marker);
      started.once("error", (error) => failed(started, error.message));
      started.once("exit", (code, signal) =>
        failed(started, signal ? `ended by ${signal}` : `ended with code ${code}`),
      );
      if (started.pid === undefined) return;
      running = started;
    } catch (error) {
      failed(undefined, error instanceof Error ? error.message : String(error));
      return;
    }
    hasFailedToStart = false;
    onRunning();
  }

  function failed(ended: Program | undefined, reason: string): void {
    if (running === ended) running = undefined;
    if (isClosed || hasFailedToStart) return;
    hasFailedToStart = ended?.pid === undefined;
    onError(watchdogError(node, reason, hasFailedToStart));
  }

  const write = (line: string): void => void running?.stdin.write(`${line}\n`);
  return {
    get pid() {
      return running?.pid;
    },
    ensureRunning,
    write,
    close() {
      isClosed = true;
      write("close");
      running?.stdin.end();
    },
  };
}

/** Starts the program of the watchdog. It shares nothing with this process except the pipe. */
function startProgram(node: string, marker: string): Program {
  if (node === process.execPath && process.getBuiltinModule("node:sea").isSea()) {
    throw new Error("a single executable application contains no Node that could be started");
  }
  const child = spawn(node, ["-e", program, marker], {
    stdio: ["pipe", "ignore", "ignore"],
    // A session of its own. Ctrl+C and the end of a terminal do not reach it.
    detached: true,
    windowsHide: true,
    // The working directory of the host can be deleted or unmounted.
    cwd: path.parse(process.execPath).root,
    env: environment(),
  });
  child.unref();
  // Missing if this process has too many open files. The error event follows.
  const stdin = child.stdin as Writable | undefined;
  stdin?.on("error", () => {});
  if (stdin instanceof Socket) stdin.unref();
  return child;
}

/** Returns the variables that Node needs to start. `NODE_OPTIONS` could load modules or wait for a debugger. */
function environment(): Record<string, string> {
  const needed = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT"];
  const inherited = needed.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  // Electron, and programs that were compiled with Bun, then run the text and not their application.
  return { ...Object.fromEntries(inherited), ELECTRON_RUN_AS_NODE: "1", BUN_BE_BUN: "1" };
}

function watchdogError(node: string, reason: string, hasFailedToStart: boolean): Error {
  const fact = hasFailedToStart
    ? `The watchdog of the servers' processes could not be started with ${JSON.stringify(node)}: ${reason}.`
    : `The watchdog of the servers' processes has ended: ${reason}.`;
  const consequence = "If this process is killed now, servers that ignore the end of their input keep running.";
  const cure = hasFailedToStart
    ? "Install Node, or correct its path."
    : "The next start of a server starts another watchdog.";
  return new Error(`${fact} ${consequence} ${cure}`);
}
