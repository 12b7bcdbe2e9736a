// @ts-check
import { CycleLane } from "./cycle-lane.mjs";
import { job as given, fail } from "./job.mjs";
import { Lane } from "./lane.mjs";
import { takeTurns } from "./take-turns.mjs";

/** @import { LoadJob } from "../types.ts" */

/* The program that asks a server, in a process of its own: it is told its job, and then its turns. */

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
