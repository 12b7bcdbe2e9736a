// @ts-check
import { floor, own } from "../implementations/implementations.mjs";

/** @import { Amount, ClientImplementation, Implementation } from "../types.ts" */

/** The number of samples of the floor and this library, and of each other implementation. @typedef {{ own: number, others: number }} Rounds */

/**
 * The extent of a run.
 *
 * @typedef {object} Plan
 * @property {boolean} isQuick
 * @property {Rounds} rounds of workloads with a target
 * @property {Rounds} sideRounds of all other workloads
 * @property {Amount} amount of load in a sample
 * @property {number} minutes that the run may take
 * @property {readonly Implementation[]} implementations of servers that are compared
 * @property {readonly ClientImplementation[]} clients that are compared
 * @property {string} peers the folder of the installed packages
 */

/** @param {boolean} isQuick @param {Pick<Plan, "implementations" | "clients" | "peers">} what @returns {Plan} */
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
