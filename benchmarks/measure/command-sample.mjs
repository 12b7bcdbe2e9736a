// @ts-check
import { spawnSync } from "node:child_process";
import { onCore } from "./cores.mjs";
import { median } from "./statistics.mjs";

/** @import { Sample } from "../types.ts" */

/** The number of runs of one sample, which is their median. */
const times = 12;

/**
 * Measures the time of a program from its start to its end. Throws if it fails, or if its output does not contain the expected text.
 *
 * @param {readonly string[]} args of Node
 * @param {string} expected
 * @returns {Sample}
 */
export function commandSample(args, expected) {
  // Node reads these certificates at each start, which can take longer than the measured program.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const [command = "", ...rest] = onCore("server", [process.execPath, ...args]);
  const taken = Array.from({ length: times }, () => {
    const begun = performance.now();
    const { status, stdout, stderr } = spawnSync(command, rest, { encoding: "utf8", env });
    const took = performance.now() - begun;
    if (status !== 0) throw new Error(stderr.trim().slice(-300));
    if (!stdout.includes(expected)) throw new Error(`Printed ${JSON.stringify(stdout.slice(0, 300))}.`);
    return took;
  });
  return { time: median(taken) };
}
