import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { settlesWithin } from "../rpc/abort.ts";
import { systemClock } from "../rpc/clock.ts";

/** Milliseconds for each step of ending a process, after which the next step follows. */
export interface EndBounds {
  /** From the end of its input to its exit. */
  exit: number;
  /** From SIGTERM to its exit. */
  terminate: number;
  /** From SIGKILL to the exit of the process and of those that it started. */
  kill: number;
}

/** The bounds, unless a test shortens them. */
export const defaultBounds: EndBounds = { exit: 2_000, terminate: 2_000, kill: 500 };

const isWindows = process.platform === "win32";
const POLL_MS = 20;

/**
 * Ends a child and the processes that it started. Waits for its exit, then sends SIGTERM, then SIGKILL.
 *
 * Call it after the end of the child's input. On POSIX the signals are sent to the child's process group; on Windows the
 * process tree is killed. Settles at the latest when all bounds have passed.
 */
export async function endProcess(child: ChildProcess, exitEvent: Promise<void>, bounds: EndBounds): Promise<void> {
  if (child.pid === undefined) return;
  const hasExited = await settlesWithin(exitEvent, bounds.exit, systemClock);
  if (!isWindows) {
    // The processes that remain in the group: a launcher can exit before the process that it launched.
    if (sendSignal(-child.pid, "SIGTERM") && !(await isGroupGone(child.pid, bounds.terminate))) {
      sendSignal(-child.pid, "SIGKILL");
      await isGroupGone(child.pid, bounds.kill);
    }
  } else if (!hasExited) {
    const { pid } = child;
    const killer = spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
    killer.on("error", () => sendSignal(pid, "SIGTERM"));
    await settlesWithin(exitEvent, bounds.kill, systemClock);
  }
  // Waits for the exit event, which follows the end of the process.
  await settlesWithin(exitEvent, bounds.kill, systemClock);
}

/** Sends a signal to a process, or with a negative id to all processes of its group. Returns false if there are none. */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Polls, because there is no event for the end of processes that are not our children. */
async function isGroupGone(leader: number, ms: number): Promise<boolean> {
  const end = Date.now() + ms;
  while (sendSignal(-leader, 0)) {
    if (Date.now() >= end) return false;
    // This timer keeps the process alive, because the caller of `close` waits for the result.
    await delay(POLL_MS);
  }
  return true;
}

const live = new Set<number>();
let isListening = false;

/** Ends a child's group when this process exits. Call the returned function when the child has ended. */
export function endWithThisProcess(pid: number): () => void {
  live.add(pid);
  if (!isListening) {
    isListening = true;
    // One listener for all children. An exit listener can only do synchronous work.
    process.on("exit", () => {
      for (const leader of live) sendSignal(isWindows ? leader : -leader, "SIGTERM");
    });
  }
  return () => live.delete(pid);
}
