// @ts-check
import { createHistogram, performance } from "node:perf_hooks";

/** @import { LoadReport, Work } from "../types.ts" */

const nanoseconds = 1e6;

/** Counts the answers of all turns, and their times. */
export class Counting {
  #latencies = createHistogram({ figures: 3 });
  #answers = 0;
  #elapsed = 0;
  #active = 0;

  /** Counts one more turn: all that is asked in it, until the last is answered. @param {Work} work @param {number} milliseconds */
  async turn(work, milliseconds) {
    const before = performance.eventLoopUtilization();
    const started = performance.now();
    await work(started + milliseconds, (took) => this.#add(took));
    this.#elapsed += performance.now() - started;
    this.#active += performance.eventLoopUtilization(before).active;
  }

  /** @param {number} milliseconds */
  #add(milliseconds) {
    this.#answers++;
    this.#latencies.record(Math.max(1, Math.round(milliseconds * nanoseconds)));
  }

  /** Returns the figures of all turns. @returns {LoadReport} */
  report() {
    return {
      answers: this.#answers,
      elapsed: this.#elapsed,
      p50: this.#at(50),
      p99: this.#at(99),
      busy: this.#active / this.#elapsed,
    };
  }

  /** @param {number} percentile */
  #at(percentile) {
    return this.#latencies.percentile(percentile) / nanoseconds;
  }
}
