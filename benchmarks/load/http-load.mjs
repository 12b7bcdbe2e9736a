// @ts-check
import { Counting } from "./counting.mjs";
import { CycleLane } from "./cycle-lane.mjs";
import { job as given, fail } from "./job.mjs";
import { Lane } from "./lane.mjs";

/** @import { LoadJob } from "../types.ts" */

/*
 * The program that asks a server, in a process of its own: it is told its job, asks from the start, begins to
 * count when it is told to, and ends with its report.
 */

/** @type {LoadJob} */
const job = given;
const counting = new Counting();
const Kind = job.sessions === "each" ? CycleLane : Lane;
const lanes = Array.from({ length: job.connections }, () => new Kind(job));

process.once("message", () => {
  counting.during(job.duration).then((report) => process.send?.(report), giveUp);
});
try {
  await Promise.all(lanes.map((lane) => lane.open()));
  for (const lane of lanes) lane.run((milliseconds) => counting.add(milliseconds), giveUp);
  process.send?.("running");
} catch (error) {
  giveUp(error);
}

/** @param {unknown} error */
function giveUp(error) {
  for (const lane of lanes) lane.stop();
  fail(error);
}
