// @ts-check
import { CycleLane } from "./cycle-lane.mjs";
import { job as given, fail } from "./job.mjs";
import { Lane } from "./lane.mjs";
import { takeTurns } from "./take-turns.mjs";

/** @import { LoadJob } from "../types.ts" */

/* Sends requests to a server from a separate process. The parent process sends the job, then the turns. */

/** @type {LoadJob} */
const job = given;
const Kind = job.sessions === "each" ? CycleLane : Lane;
const lanes = Array.from({ length: job.connections }, () => new Kind(job));

try {
  await Promise.all(lanes.map((lane) => lane.open()));
  takeTurns((end, onAnswer) => Promise.all(lanes.map((lane) => lane.run(end, onAnswer))));
} catch (error) {
  fail(error);
}
