// @ts-check

/** @import { LoadReport, Sample, Turns } from "../types.ts" */
/** @import { Program } from "./program.mjs" */

/**
 * The load and the measured process of a contender.
 *
 * @typedef {object} Parts
 * @property {Program} load that takes turns, as `load/take-turns.mjs` does
 * @property {() => Promise<number>} cpu microseconds that the measured process has used
 * @property {() => Promise<unknown>} end
 */

/** Waits until a load is ready; from then on it works in turns. Ends everything that was started if the start fails. @param {Parts} parts @returns {Promise<Turns>} */
export async function turnsOf({ load, cpu, end }) {
  let spent = 0;
  try {
    expect(await load.message(), "ready");
  } catch (error) {
    await end();
    throw error;
  }
  return { turn, figures, end };

  /** @param {number} milliseconds @param {boolean} isCounted */
  async function turn(milliseconds, isCounted) {
    const before = await cpu();
    load.tell({ turn: milliseconds, isCounted });
    expect(await load.message(), "rested");
    const used = (await cpu()) - before;
    if (isCounted) spent += used;
    return used / 1_000;
  }

  async function figures() {
    load.tell("report");
    return figuresOf(await load.message(), spent);
  }
}

/** @param {any} message @param {string} wanted */
export function expect(message, wanted) {
  if (message !== wanted) throw new Error(message?.failed ?? `The load sent ${JSON.stringify(message)}.`);
}

/** @param {LoadReport} report @param {number} cpu microseconds @returns {Sample} */
function figuresOf({ answers, elapsed, p50, p99, busy }, cpu) {
  return { perSecond: (answers * 1_000) / elapsed, cpu: cpu / answers, p50, p99, busy: busy * 100 };
}
