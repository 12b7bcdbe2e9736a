// @ts-check
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { median } from "../measure/statistics.mjs";

/** @import { Finding } from "../soak/judge.mjs" */

/** Memory of the chat in megabytes: its heap after a collection, and its resident memory. @typedef {{ heap: number, rss: number }} Moment */

/** Milliseconds for an answer to the signal. */
const patience = 60_000;

/**
 * The growth that is allowed from the second third of the run to the last one.
 *
 * A collected heap is compared as in the other soaks. Resident memory also contains free pages that are not returned to the system,
 * and native memory of pictures and sockets, so that it varies more.
 */
export const allowed = { heap: { share: 0.1, megabytes: 1 }, rss: { share: 0.15, megabytes: 5 } };

/** Measures a process that has loaded `memory-on-signal.mjs`. @param {number} pid @param {string} file its MEMORY_FILE @returns {Promise<Moment>} */
export async function measure(pid, file) {
  const before = (await linesOf(file)).length;
  process.kill(pid, "SIGUSR2");
  const begin = performance.now();
  for (;;) {
    const line = (await linesOf(file))[before];
    if (line !== undefined) return { heap: JSON.parse(line).heapUsed / 1e6, rss: residentOf(pid) };
    if (performance.now() - begin > patience) throw new Error("The chat does not report its memory.");
    await pause(20);
  }
}

/** Returns the complete lines. @param {string} file */
async function linesOf(file) {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").slice(0, -1);
}

/** @param {number} pid */
function residentOf(pid) {
  const { stdout } = spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return (Number(stdout) * 1024) / 1e6;
}

/**
 * Compares the median of the last third of the moments with that of the second third. In the first third memory grows while
 * code is compiled and lists are stored.
 *
 * @param {keyof Moment} kind @param {readonly Moment[]} moments at least three @returns {Finding}
 */
export function judgeGrowth(kind, moments) {
  const third = Math.floor(moments.length / 3);
  const values = moments.map((moment) => moment[kind]);
  const [early, late] = [median(values.slice(third, third * 2)), median(values.slice(-third))];
  const { share, megabytes } = allowed[kind];
  return {
    what: `${kind} of the chat`,
    isGood: late - early <= early * share + megabytes,
    found: `${early.toFixed(1)} MB in the second third, ${late.toFixed(1)} MB in the last`,
  };
}
