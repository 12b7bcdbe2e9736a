// @ts-check
import { createHistogram, performance } from "node:perf_hooks";
import { Lane } from "./lane.mjs";

/** @import { LoadJob, LoadReport } from "../types.ts" */

/*
 * The program that asks a server, in a process of its own: its job is its argument, it asks from the start, begins to
 * count when it is told to, and ends with its report.
 */

/** @type {LoadJob} */
const job = JSON.parse(process.argv[2] ?? "");
const nanoseconds = 1e6;

const lanes = Array.from({ length: job.connections }, () => new Lane(job));
const latencies = createHistogram({ figures: 3 });
let isCounting = false;
let answers = 0;

await Promise.all(lanes.map((lane) => lane.open()));
for (const lane of lanes) lane.run(onAnswer, fail);
tell("running");
process.once("message", count);
process.once("disconnect", () => process.exit());

/** @param {number} milliseconds */
function onAnswer(milliseconds) {
  answers++;
  if (isCounting) latencies.record(Math.max(1, Math.round(milliseconds * nanoseconds)));
}

function count() {
  const started = performance.now();
  const before = performance.eventLoopUtilization();
  answers = 0;
  isCounting = true;
  setTimeout(() => {
    const elapsed = performance.now() - started;
    const counted = answers;
    isCounting = false;
    const busy = performance.eventLoopUtilization(before).utilization;
    /** @type {LoadReport} */
    const report = { answers: counted, elapsed, p50: latencyAt(50), p99: latencyAt(99), busy };
    tell(report);
    process.once("message", () => {
      for (const lane of lanes) lane.stop();
      process.disconnect();
    });
  }, job.duration);
}

/** @param {number} percentile */
function latencyAt(percentile) {
  return latencies.percentile(percentile) / nanoseconds;
}

/** @param {unknown} message */
function tell(message) {
  process.send?.(message);
}

/** @param {Error} error */
function fail(error) {
  process.send?.({ failed: error.message });
  process.disconnect();
}
