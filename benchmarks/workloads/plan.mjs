// @ts-check

/** @import { Implementation, LoadJob } from "../types.ts" */

/**
 * How much is measured.
 *
 * @typedef {object} Plan
 * @property {boolean} isQuick
 * @property {number} rounds samples of each contender
 * @property {Pick<LoadJob, "warmup" | "warmupAnswers" | "duration">} amount of load in a sample
 * @property {readonly Implementation[]} implementations that are compared
 * @property {string} peers the folder of what was installed
 */

/** @param {boolean} isQuick @param {Pick<Plan, "implementations" | "peers">} what @returns {Plan} */
export function planOf(isQuick, what) {
  const amount = isQuick
    ? { warmup: 300, warmupAnswers: 5_000, duration: 500 }
    : { warmup: 500, warmupAnswers: 10_000, duration: 1_000 };
  return { isQuick, rounds: 3, amount, ...what };
}
