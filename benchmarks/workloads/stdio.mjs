// @ts-check
import { floor } from "../implementations/implementations.mjs";
import { stdioTurns } from "../measure/stdio-turns.mjs";
import { measures, modeNames } from "./http.mjs";
import { echo, echoLarge } from "./operations.mjs";
import { roundsOf } from "./plan.mjs";

/** @import { Measure, Operation, Workload } from "../types.ts" */
/** @import { Plan } from "./plan.mjs" */

/** @type {readonly Measure[]} */
const largeMeasures = [
  { key: "p50", title: "ms", better: "lower", digits: 1, ratio: "× floor" },
  { key: "cpu", title: "server CPU, µs", better: "lower", digits: 0, ratio: "CPU × floor" },
  { key: "busy", title: "load busy, %", better: "lower", digits: 0 },
];

/**
 * @typedef {object} Variant
 * @property {string} id
 * @property {string} title
 * @property {Operation} operation
 * @property {"session" | "modern"} mode
 * @property {number} atOnce
 * @property {readonly Measure[]} [measures]
 */

/** Returns the workloads on stdio. @param {Plan} plan @returns {Workload[]} */
export function stdioWorkloads(plan) {
  const large = echoLarge();
  /** @type {Variant[]} */
  const variants = /** @type {const} */ (["session", "modern"]).flatMap((mode) => [
    { id: `stdio/one/${mode}`, title: "one after another", operation: echo, mode, atOnce: 1 },
    { id: `stdio/1000/${mode}`, title: "1,000 at once", operation: echo, mode, atOnce: 1_000 },
  ]);
  variants.push({
    id: "stdio/10m",
    title: "10 MiB there and back",
    operation: large,
    mode: "session",
    atOnce: 1,
    measures: largeMeasures,
  });
  return variants.map((variant) => workloadOf(variant, plan));
}

/** @param {Variant} variant @param {Plan} plan @returns {Workload} */
function workloadOf({ id, title, operation, mode, atOnce, measures: own = measures }, plan) {
  const { rounds, amount, peers } = plan;
  return {
    id,
    section: "stdio",
    title: `tools/call echo, ${modeNames[mode]}, ${title}`,
    reference: floor,
    measures: own,
    amount,
    rounds: rounds.own,
    contenders: plan.implementations.map((one) => {
      if (!one.stdio?.modes.includes(mode)) return { name: one.name, notRun: `It has no ${modeNames[mode]} on stdio.` };
      const lacking = one.lacks?.[id];
      if (lacking !== undefined) return { name: one.name, notRun: lacking };
      const start = () => stdioTurns(one, { mode, operation, atOnce }, peers);
      return { name: one.name, start, rounds: roundsOf(one.name, rounds) };
    }),
  };
}
