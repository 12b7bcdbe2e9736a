import { toError } from "../values/errors.ts";
import path from "node:path";
import program from "./watchdog-program.cjs?raw";
import { randomUUID } from "node:crypto";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import type { CommandTarget, ProcessListener } from "mcparley/client";

/** A second process that ends the servers of a host when the host has died, in any way. */
export interface Watchdog {
  /** Id of the watchdog's process. Undefined if it does not run. For diagnostics. */
  readonly pid: number | undefined;
  /**
   * Returns the target with an `onStart` that reports each of its processes to the watchdog. Starts the watchdog if it does
   * not run, so call it just before the connection is opened.
   */
  watched(this: void, target: CommandTarget): CommandTarget;
  /** Ends the watchdog. It first ends the servers that still run. */
  close(this: void): void;
}

export interface WatchdogOptions {
  /** Called if the watchdog cannot be started or dies, and with errors of the `onStart` of a target. */
  readonly onError: (error: Error) => void;
  /** Path of Node. Default: the program of this process. */
  readonly node?: string | undefined;
}

/** Name of the environment variable that marks the servers of a host. */
const MARKER = "MCPARLEY_HOST_ID";

/**
 * Creates a watchdog. Its process starts with the first watched target, does not keep this process alive, and ends with it.
 *
 * When this process ends without `close()`, also by a signal or a crash, each server that still runs receives SIGTERM, and
 * SIGKILL after 1.5 seconds, as a process group. On Windows the process trees are killed. A process that a server has moved to
 * a session of its own is not ended, as with the `close()` of a client: it may be the browser of the user.
 *
 * If the watchdog dies, `onError` is called, and the next start of a server starts another one, which watches all servers.
 */
export function openWatchdog({ onError, node = process.execPath }: WatchdogOptions): Watchdog {
  const id = randomUUID();
  /** The processes that have not ended, by the number of their start. The value is undefined until the process id is known. */
  const servers = new Map<number, number | undefined>();
  let starts = 0;
  const watchdog = watchdogProcess({ node, marker: `${MARKER}=${id}`, onError, onRunning: reportAll });

  function reportAll(): void {
    for (const [number, pid] of servers) {
      watchdog.write(`starting ${number}`);
      if (pid !== undefined) watchdog.write(`started ${number} ${pid}`);
    }
  }

  function onStart(): Required<ProcessListener> {
    watchdog.ensureRunning();
    const number = ++starts;
    servers.set(number, undefined);
    // Before the process is created, so that the watchdog finds it if this process dies before the next message.
    watchdog.write(`starting ${number}`);
    return {
      started(pid) {
        servers.set(number, pid);
        watchdog.write(`started ${number} ${pid}`);
      },
      ended() {
        servers.delete(number);
        watchdog.write(`ended ${number}`);
      },
    };
  }

  return {
    get pid() {
      return watchdog.pid;
    },
    watched(target) {
      watchdog.ensureRunning();
      return {
        ...target,
        env: { ...target.env, [MARKER]: id },
        onStart: () => both(onStart(), target.onStart, onError),
      };
    },
    close: watchdog.close,
  };
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

// Text, and not a file, so that the program also starts if a bundler has put a host into one file.

type Program = ChildProcessByStdio<Writable, null, null>;

/** The process of a watchdog, which is started again after its death. */
interface WatchdogProcess {
  readonly pid: number | undefined;
  /** Starts the process if it does not run. */
  ensureRunning(this: void): void;
  /** Sends a line. Does nothing if the process does not run. */
  write(this: void, line: string): void;
  /** Ends the process. It is not started again. */
  close(this: void): void;
}

interface WatchdogProcessOptions {
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
function watchdogProcess({ node, marker, onRunning, onError }: WatchdogProcessOptions): WatchdogProcess {
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
      failed(undefined, toError(error).message);
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
