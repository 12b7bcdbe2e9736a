// @ts-check
import { createHistogram, performance } from "node:perf_hooks";

/** @import { LoadReport } from "../types.ts" */

const nanoseconds = 1e6;
/** A sample of a slow server is longer, this many times at most, until there are some answers. */
const longest = 8;
const fewest = 50;

/** Counts answers, and how long each took, for as long as it is told to. */
export class Counting {
  #latencies = createHistogram({ figures: 3 });
  #answers = 0;
  #isOn = false;

  /** @param {number} milliseconds */
  add(milliseconds) {
    if (!this.#isOn) return;
    this.#answers++;
    this.#latencies.record(Math.max(1, Math.round(milliseconds * nanoseconds)));
  }

  /** Counts for some milliseconds, and says what came. @param {number} duration @returns {Promise<LoadReport>} */
  async during(duration) {
    const before = performance.eventLoopUtilization();
    const started = performance.now();
    this.#isOn = true;
    for (let time = 1; time === 1 || (time <= longest && this.#answers < fewest); time++) {
      await new Promise((resolve) => setTimeout(resolve, duration));
    }
    this.#isOn = false;
    return {
      answers: this.#answers,
      elapsed: performance.now() - started,
      p50: this.#at(50),
      p99: this.#at(99),
      busy: performance.eventLoopUtilization(before).utilization,
    };
  }

  /** @param {number} percentile */
  #at(percentile) {
    return this.#latencies.percentile(percentile) / nanoseconds;
  }
}
