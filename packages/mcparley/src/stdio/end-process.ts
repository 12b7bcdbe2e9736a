import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../rpc/clock.ts";
import { within } from "./within.ts";

/** Milliseconds that each step of ending a process may take before the next, harder one. */
export interface EndBounds {
  /** From the end of its input to its exit. */
  exit: number;
  /** From SIGTERM to its exit. */
  terminate: number;
  /** From SIGKILL to its exit, and to that of the processes that it started. */
  kill: number;
}

export const defaultBounds: EndBounds = { exit: 2_000, terminate: 2_000, kill: 500 };

const isWindows = process.platform === "win32";
const POLL_MS = 20;

/**
 * Ends a child and the processes that it started, after its input was ended: waits for it, then asks, then forces.
 *
 * On POSIX the child leads a process group, which the signals go to; on Windows its tree is killed. Settles at the
 * latest when all bounds have passed.
 */
export async function endProcess(child: ChildProcess, exited: Promise<void>, bounds: EndBounds): Promise<void> {
  if (child.pid === undefined) return;
  const hasExited = await within(exited, bounds.exit, systemClock);
  if (!isWindows) await endGroup(child.pid, bounds);
  else if (!hasExited) await killTree(child.pid, exited, bounds);
  // Its exit code arrives after its end.
  await within(exited, bounds.kill, systemClock);
}

/** Ends what is left of a group: the child, or what it started, since a launcher may go without what it launched. */
async function endGroup(leader: number, { terminate, kill }: EndBounds): Promise<void> {
  if (!signalGroup(leader, "SIGTERM") || (await isGroupGone(leader, terminate))) return;
  signalGroup(leader, "SIGKILL");
  await isGroupGone(leader, kill);
}

/** Signals all processes of a group. Returns false where there is none any more. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  return sendSignal(-leader, signal);
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Nothing tells of the end of processes that are not our children, so that one has to look. */
async function isGroupGone(leader: number, ms: number): Promise<boolean> {
  const end = Date.now() + ms;
  while (signalGroup(leader, 0)) {
    if (Date.now() >= end) return false;
    // A timer that keeps this process alive: nothing else may, and whoever closes waits for the answer.
    await delay(POLL_MS);
  }
  return true;
}

async function killTree(pid: number, exited: Promise<void>, { kill }: EndBounds): Promise<void> {
  const killer = spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
  killer.on("error", () => sendSignal(pid, "SIGTERM"));
  await within(exited, kill, systemClock);
}

const live = new Set<number>();
let isListening = false;

/** Ends a child's group when this process exits before it; the function it returns is for a child that has ended. */
export function endWithThisProcess(pid: number): () => void {
  live.add(pid);
  if (!isListening) {
    isListening = true;
    // One listener for all children. Only what is synchronous still happens in it.
    process.on("exit", () => {
      for (const leader of live) sendSignal(isWindows ? leader : -leader, "SIGTERM");
    });
  }
  return () => live.delete(pid);
}
