// @ts-check
import { floor, own } from "../implementations/implementations.mjs";

/** @import { Amount, Implementation } from "../types.ts" */

/** Samples of what the targets are about, which is the floor and this library, and of the others. @typedef {{ own: number, others: number }} Rounds */

/**
 * How much is measured.
 *
 * @typedef {object} Plan
 * @property {boolean} isQuick
 * @property {Rounds} rounds of what there is a target for
 * @property {Rounds} sideRounds of everything else
 * @property {Amount} amount of load in a sample
 * @property {number} minutes that all of it may take
 * @property {readonly Implementation[]} implementations that are compared
 * @property {string} peers the folder of what was installed
 */

/** @param {boolean} isQuick @param {Pick<Plan, "implementations" | "peers">} what @returns {Plan} */
export function planOf(isQuick, what) {
  const quick = {
    rounds: { own: 1, others: 1 },
    sideRounds: { own: 1, others: 1 },
    amount: { warmup: 600, duration: 400 },
    minutes: 10,
  };
  const full = {
    rounds: { own: 5, others: 2 },
    sideRounds: { own: 2, others: 1 },
    amount: { warmup: 1_200, duration: 600 },
    minutes: 35,
  };
  return { isQuick, ...(isQuick ? quick : full), ...what };
}

/** How many samples of a contender are taken. @param {string} name @param {Rounds} rounds */
export function roundsOf(name, rounds) {
  return name === floor || name === own ? rounds.own : rounds.others;
}
