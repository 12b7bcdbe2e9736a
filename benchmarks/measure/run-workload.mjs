// @ts-check
import { ratiosOf, summarise } from "./statistics.mjs";
import { inTurn, takeRound } from "./take-round.mjs";

/** @import { Row, Sample, Workload, WorkloadResult } from "../types.ts" */

/**
 * Takes the samples of a workload. Each round takes one sample of each contender, so that changes of the machine affect all. A contender that fails once is not run again.
 *
 * @param {Workload} workload @param {(what: string) => void} [onStep] called before each sample
 * @returns {Promise<WorkloadResult>}
 */
export async function runWorkload(workload, onStep = () => {}) {
  const { id, section, title, reference, measures, rounds, contenders } = workload;
  const taken = new Map(contenders.map(({ name }) => [name, /** @type {Sample[]} */ ([])]));
  const reasons = new Map(contenders.map(({ name, notRun }) => [name, notRun]));
  for (let round = 0; round < rounds; round++) {
    const taking = contenders.filter(
      ({ name, rounds: own = rounds }) => reasons.get(name) === undefined && round < own,
    );
    const outcomes = await takeRound(inTurn(taking, round), workload.amount, onStep);
    for (const [name, outcome] of outcomes) {
      if (typeof outcome === "string") reasons.set(name, outcome);
      else taken.get(name)?.push(outcome);
    }
  }
  const samplesOf = (/** @type {string} */ name) => (reasons.get(name) === undefined ? (taken.get(name) ?? []) : []);
  const base = reference === undefined ? [] : samplesOf(reference);
  const rows = contenders.map(({ name }) => rowOf(name, { notRun: reasons.get(name), samples: samplesOf(name), base }));
  return { id, section, title, ...(reference !== undefined && { reference }), measures, rows };
}

/** @param {string} name @param {{ notRun: string | undefined; samples: readonly Sample[]; base: readonly Sample[] }} measured @returns {Row} */
function rowOf(name, { notRun, samples, base }) {
  const [first] = samples;
  if (notRun !== undefined || !first)
    return { name, notRun: notRun ?? "No sample was taken.", samples: [], figures: {}, ratios: {} };
  const keys = Object.keys(first);
  const column = (/** @type {string} */ key) => samples.map((sample) => sample[key] ?? NaN);
  const figures = Object.fromEntries(keys.map((key) => [key, summarise(column(key))]));
  return { name, samples, figures, ratios: ratiosOf(samples, base) };
}
