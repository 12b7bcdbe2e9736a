// @ts-check
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Milliseconds for which a killed process may still be listed. */
const limit = 10_000;

/** Returns the ids of the processes that a process has started, and those that they have started. @param {number} pid */
export function descendantsOf(pid) {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const rows = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const found = [pid];
  for (const parent of found) {
    found.push(...rows.flatMap(([child = 0, its]) => (its === parent ? [child] : [])));
  }
  return found.slice(1);
}

/** Returns the ids of the processes with a home folder. Empty on other systems than Linux. @param {string} home */
export function processesOfHome(home) {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => variablesOf(pid).includes(`HOME=${home}`)).map(Number);
}

/** @param {string} pid */
function variablesOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    // Another user's process, or one that has ended.
    return [];
  }
}

/** Returns whether a process exists that has not ended. @param {number} pid */
export function isRunning(pid) {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return process.platform !== "linux";
  }
}

/** Kills those of the processes that run, and waits for their end. @param {readonly number[]} pids */
export async function endProcesses(pids) {
  const begin = performance.now();
  for (const pid of pids) sendSignal(pid, "SIGKILL");
  // The processes are no children of this one, so that there is no event of their end.
  while (pids.some(isRunning)) {
    if (performance.now() - begin > limit) throw new Error(`Processes remain: ${pids.filter(isRunning).join(", ")}.`);
    await pause(10);
  }
}

/** Sends a signal to a process, or with a negative id to a group. Does nothing if it has ended. @param {number} pid @param {NodeJS.Signals} signal */
export function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH") throw error;
  }
}
