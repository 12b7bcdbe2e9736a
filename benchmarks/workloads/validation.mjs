// @ts-check
import { readers } from "../../tests/hostile/readers.mjs";
import { hostileCases } from "../../tests/json-schema/hostile-cases.mjs";
import { own } from "../implementations/implementations.mjs";
import { hostileSample, textSample, validationTurns } from "../measure/validation.mjs";
import { validationCases } from "./validation-cases.mjs";

/** @import { Contender, Workload } from "../types.ts" */
/** @import { Plan } from "./plan.mjs" */

const section = "Validation";
const reference = "@cfworker/json-schema";

/** Validation of usual tool arguments beside other validators, and of hostile values and texts. @param {Plan} plan @returns {Workload[]} */
export function validationWorkloads(plan) {
  const usual = Object.keys(validationCases).flatMap((name) => [
    usualWorkload({ name, isValid: true }, plan),
    usualWorkload({ name, isValid: false }, plan),
  ]);
  return [
    ...usual,
    ...hostileCases.map(({ name }) => hostileWorkload(name, plan)),
    ...readers.map(({ name }) => textWorkload(name, plan)),
  ];
}

/** @param {{ name: string, isValid: boolean }} validation @param {Plan} plan @returns {Workload} */
function usualWorkload({ name, isValid }, plan) {
  const verdict = isValid ? "valid" : "invalid";
  /** @type {(name: string, peer?: string) => Contender} */
  const contender = (title, peer) => ({
    name: title,
    needsPeers: peer !== undefined,
    start: () => validationTurns({ peer, name, isValid }, plan.peers),
  });
  return {
    id: `validation/${name}/${verdict}`,
    section,
    title: `Validate tool arguments: ${name}, ${verdict}`,
    reference,
    measures: [
      { key: "cpu", title: "CPU, µs", better: "lower", digits: 2, ratio: "CPU × cfworker" },
      { key: "perSecond", title: "validations/s", better: "higher", digits: 0, ratio: "× cfworker" },
    ],
    // A validation is short and runs in one process, so that less load than for a server is enough.
    amount: { warmup: plan.amount.warmup / 2, duration: plan.amount.duration / 2 },
    rounds: Math.min(2, plan.rounds.own),
    // No target is compared with ajv.
    contenders: [contender(reference, "cfworker.mjs"), contender(own), { ...contender("ajv", "ajv.mjs"), rounds: 1 }],
  };
}

/** @param {string} name @param {Plan} plan @returns {Workload} */
function hostileWorkload(name, plan) {
  return {
    id: `validation/hostile/${idOf(name)}`,
    section,
    title: `Validate a hostile value once: ${name}`,
    measures: [
      { key: "cpu", title: "CPU, ms", better: "lower", digits: 1 },
      { key: "heap", title: "peak memory, MiB", better: "lower", digits: 1 },
      { key: "exhausted", title: "out of steps", better: "lower", digits: 0 },
    ],
    rounds: plan.sideRounds.own,
    contenders: [{ name: own, sample: () => hostileSample(name) }],
  };
}

/** @param {string} name @param {Plan} plan @returns {Workload} */
function textWorkload(name, plan) {
  return {
    id: `validation/text/${idOf(name)}`,
    section,
    title: `Read hostile texts of up to 8 MiB: ${name}`,
    measures: [
      { key: "cpu", title: "CPU, ms", better: "lower", digits: 1 },
      { key: "half", title: "1/2 length", better: "lower", digits: 1 },
      { key: "quarter", title: "1/4 length", better: "lower", digits: 1 },
      { key: "eighth", title: "1/8 length", better: "lower", digits: 1 },
      { key: "heap", title: "peak memory, MiB", better: "lower", digits: 1 },
    ],
    rounds: plan.sideRounds.others,
    contenders: [{ name: own, sample: () => textSample(name) }],
  };
}

/** @param {string} name */
function idOf(name) {
  return name.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase();
}
