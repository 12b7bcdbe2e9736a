// @ts-check
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** The core on which a process runs: that of the servers, or that of the load. @typedef {"server" | "load"} Side */

const hasTaskset = availableParallelism() > 1 && spawnSync("taskset", ["-c", "0", "true"]).status === 0;
/** @type {Readonly<Record<Side, string>>} */
const coreOf = { server: "0", load: "1" };

/** Returns the command that runs a program on the core of its side, if the system has `taskset`. @param {Side} side @param {readonly string[]} command */
export function onCore(side, command) {
  return hasTaskset ? ["taskset", "-c", coreOf[side], ...command] : [...command];
}

/** Describes the assignment of programs to cores on this machine. */
export function pinning() {
  if (hasTaskset) return `servers on core ${coreOf.server}, load on core ${coreOf.load}`;
  return availableParallelism() > 1 ? "not pinned: there is no taskset" : "one core for servers and load";
}
