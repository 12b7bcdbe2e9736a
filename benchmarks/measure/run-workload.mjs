// @ts-check
import { summarise } from "./statistics.mjs";

/** @import { Contender, Row, Sample, Workload, WorkloadResult } from "../types.ts" */

/**
 * Takes the samples of a workload: in every round one of each contender, every other round in the opposite order, so
 * that what changes on the machine meanwhile meets all alike. A contender that fails once is not asked again.
 *
 * @param {Workload} workload @param {(name: string) => void} [onSample] told before each
 * @returns {Promise<WorkloadResult>}
 */
export async function runWorkload(workload, onSample = () => {}) {
  const { id, section, title, reference, measures, rounds, contenders } = workload;
  const taken = new Map(contenders.map(({ name }) => [name, /** @type {Sample[]} */ ([])]));
  const reasons = new Map(contenders.map(({ name, notRun }) => [name, notRun]));
  for (let round = 0; round < rounds; round++) {
    for (const contender of inTurn(contenders, round)) {
      const { name, rounds: own = rounds } = contender;
      if (reasons.get(name) !== undefined || round >= own) continue;
      onSample(name);
      const sample = await take(contender);
      if (typeof sample === "string") reasons.set(name, sample);
      else taken.get(name)?.push(sample);
    }
  }
  const samplesOf = (/** @type {string} */ name) => (reasons.get(name) === undefined ? (taken.get(name) ?? []) : []);
  const base = reference === undefined ? [] : samplesOf(reference);
  const rows = contenders.map(({ name }) => rowOf(name, reasons.get(name), samplesOf(name), base));
  return { id, section, title, ...(reference !== undefined && { reference }), measures, rows };
}

/** @param {readonly Contender[]} contenders @param {number} round */
export function inTurn(contenders, round) {
  return round % 2 === 0 ? contenders : contenders.toReversed();
}

/** @param {Contender} contender @returns {Promise<Sample | string>} */
async function take({ name, sample }) {
  if (!sample) return "There is nothing to run.";
  try {
    return await sample();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`\n${name} is left out: ${reason}\n`);
    return reason.slice(0, 400);
  }
}

/** @param {string} name @param {string | undefined} notRun @param {readonly Sample[]} samples @param {readonly Sample[]} base @returns {Row} */
function rowOf(name, notRun, samples, base) {
  const [first] = samples;
  if (notRun !== undefined || !first)
    return { name, notRun: notRun ?? "No sample was taken.", samples: [], figures: {}, ratios: {} };
  const keys = Object.keys(first);
  const column = (/** @type {string} */ key) => samples.map((sample) => sample[key] ?? NaN);
  const figures = Object.fromEntries(keys.map((key) => [key, summarise(column(key))]));
  if (base.length < samples.length) return { name, samples, figures, ratios: {} };
  const ratios = keys.map((key) => [
    key,
    summarise(column(key).map((value, round) => value / (base[round]?.[key] ?? NaN))),
  ]);
  return { name, samples, figures, ratios: Object.fromEntries(ratios) };
}
