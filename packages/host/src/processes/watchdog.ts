import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { Socket } from "node:net";
import path from "node:path";
import type { Writable } from "node:stream";
import type { CommandTarget, ProcessListener } from "mcparley/client";
import { toError } from "../values/errors.ts";
// Text, and not a file, so that the program also starts if a bundler has put a host into one file.
import program from "./watchdog-program.cjs?raw";

/** Name of the environment variable that marks the servers of a host. */
const MARKER = "MCPARLEY_HOST_ID";

type Program = ChildProcessByStdio<Writable, null, null>;

/**
 * A second process that ends the servers of a host when the host has died, in any way.
 *
 * It starts with the first watched target, does not keep this process alive, and ends with it. When this process ends without `close()`,
 * also by a signal or a crash, each server that still runs receives SIGTERM, and SIGKILL after 1.5 seconds, as a process group. On Windows
 * the process trees are killed. A process that a server has moved to a session of its own is not ended, as with the `close()` of a client:
 * it may be the browser of the user.
 *
 * If the watchdog dies, `onError` is called, and the next start of a server starts another one, which watches all servers.
 */
export class Watchdog {
  readonly #id = randomUUID();
  readonly #onError: (error: Error) => void;
  /** The processes that have not ended, by the number of their start. The value is undefined until the process id is known. */
  readonly #servers = new Map<number, number | undefined>();
  #starts = 0;
  #program: Program | undefined;
  #isClosed = false;
  #hasFailedToStart = false;

  /** `onError` is called if the watchdog cannot be started or dies, but not for each attempt, and with errors of the `onStart` of a target. */
  constructor(onError: (error: Error) => void) {
    this.#onError = onError;
  }

  /**
   * Returns the target with an `onStart` that reports each of its processes to the watchdog. Starts the watchdog if it does
   * not run, so call it just before the connection is opened.
   */
  watchTarget(target: CommandTarget): CommandTarget {
    this.#ensureRunning();
    return {
      ...target,
      env: { ...target.env, [MARKER]: this.#id },
      onStart: () => both(this.#onStart(), target.onStart, this.#onError),
    };
  }

  /** Ends the watchdog. It first ends the servers that still run. */
  close(): void {
    this.#isClosed = true;
    this.#write("close");
    this.#program?.stdin.end();
  }

  #onStart(): Required<ProcessListener> {
    this.#ensureRunning();
    const number = ++this.#starts;
    this.#servers.set(number, undefined);
    // Before the process is created, so that the watchdog finds it if this process dies before the next message.
    this.#write(`starting ${number}`);
    return {
      started: (pid) => {
        this.#servers.set(number, pid);
        this.#write(`started ${number} ${pid}`);
      },
      ended: () => {
        this.#servers.delete(number);
        this.#write(`ended ${number}`);
      },
    };
  }

  /** Starts the process if it does not run, and reports the servers to it. */
  #ensureRunning(): void {
    if (this.#program || this.#isClosed) return;
    try {
      const child = startProgram(`${MARKER}=${this.#id}`);
      child.once("error", (error) => this.#handleExit(child, error.message));
      child.once("exit", (code, signal) =>
        this.#handleExit(child, signal ? `ended by ${signal}` : `ended with code ${code}`),
      );
      if (child.pid === undefined) return;
      this.#program = child;
    } catch (error) {
      this.#handleExit(undefined, toError(error).message);
      return;
    }
    this.#hasFailedToStart = false;
    for (const [number, pid] of this.#servers) {
      this.#write(`starting ${number}`);
      if (pid !== undefined) this.#write(`started ${number} ${pid}`);
    }
  }

  #handleExit(child: Program | undefined, reason: string): void {
    if (this.#program === child) this.#program = undefined;
    if (this.#isClosed || this.#hasFailedToStart) return;
    this.#hasFailedToStart = child?.pid === undefined;
    this.#onError(watchdogError(reason, this.#hasFailedToStart));
  }

  /** Sends a line. Does nothing if the process does not run. */
  #write(line: string): void {
    this.#program?.stdin.write(`${line}\n`);
  }
}

/** Returns a listener that calls the watchdog's listener, and then that of the target. */
function both(
  ours: Required<ProcessListener>,
  onStart: CommandTarget["onStart"],
  onError: (error: Error) => void,
): ProcessListener {
  let theirs: ProcessListener | undefined;
  try {
    theirs = onStart?.();
  } catch (error) {
    onError(toError(error));
  }
  return {
    started(pid) {
      ours.started(pid);
      theirs?.started?.(pid);
    },
    ended() {
      ours.ended();
      theirs?.ended?.();
    },
  };
}

/** Starts the program of the watchdog. It shares nothing with this process except the pipe. */
function startProgram(marker: string): Program {
  if (process.getBuiltinModule("node:sea").isSea()) {
    throw new Error("a single executable application contains no Node that could be started");
  }
  const child = spawn(process.execPath, ["-e", program, marker], {
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
  const names = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT"];
  const variables = names.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  // Electron, and programs that were compiled with Bun, then run the text and not their application.
  return { ...Object.fromEntries(variables), ELECTRON_RUN_AS_NODE: "1", BUN_BE_BUN: "1" };
}

function watchdogError(reason: string, hasFailedToStart: boolean): Error {
  const fact = hasFailedToStart
    ? `The watchdog of the servers' processes could not be started with ${JSON.stringify(process.execPath)}: ${reason}.`
    : `The watchdog of the servers' processes has ended: ${reason}.`;
  const consequence = "If this process is killed now, servers that ignore the end of their input keep running.";
  const cure = hasFailedToStart
    ? "Install Node, or correct its path."
    : "The next start of a server starts another watchdog.";
  return new Error(`${fact} ${consequence} ${cure}`);
}
