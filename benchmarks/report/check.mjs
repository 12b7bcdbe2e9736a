// @ts-check
import { own } from "../implementations/implementations.mjs";
import { ratiosOf } from "../measure/statistics.mjs";
import { alignedTable } from "./markdown.mjs";

/** @import { Row, Summary, Target, WorkloadResult } from "../types.ts" */

/** What became of a target. @typedef {{ target: Target, reached: boolean, got: Summary | undefined, notRun?: string }} Verdict */

/**
 * Compares results with the targets. A target is omitted if its workload was not requested, and missed if its workload failed
 * to run.
 *
 * With `byCpu`, throughput is compared by the server's CPU time per answer, because other work of the machine affects it
 * less.
 *
 * @param {readonly Target[]} targets @param {readonly WorkloadResult[]} results @param {{ byCpu?: boolean }} [options]
 * @returns {Verdict[]}
 */
export function judge(targets, results, { byCpu = false } = {}) {
  return targets.flatMap((target) =>
    results
      .filter((result) => appliesTo(target, result, targets))
      .map((result) => {
        const { contender = own, to = contender, atLeast = -Infinity, atMost = Infinity } = target;
        const [row, other] = [contender, to].map((wanted) => result.rows.find(({ name }) => name === wanted));
        if (!row || row.notRun !== undefined || !other || other.notRun !== undefined) {
          const notRun = (row?.notRun ?? other?.notRun) || "It was not compared.";
          return { target: { ...target, workload: result.id }, reached: false, got: undefined, notRun };
        }
        const got = valueOf(target, valuesOf(target, row, other), byCpu);
        const reached = got !== undefined && got.median >= atLeast && got.median <= atMost;
        return { target: { ...target, workload: result.id }, reached, got };
      }),
  );
}

/**
 * Whether a target applies to a workload. A target of all workloads whose ids begin with a text does not apply to one that has a target of
 * its own for the measure.
 *
 * @param {Target} target @param {Pick<WorkloadResult, "id">} result @param {readonly Target[]} targets
 */
export function appliesTo({ workload, measure }, { id }, targets) {
  if (!workload.endsWith("*")) return workload === id;
  const hasOwn = targets.some((other) => other.workload === id && other.measure === measure);
  return id.startsWith(workload.slice(0, -1)) && !hasOwn;
}

/** The figures or ratios to which a target applies. @param {Target} target @param {Row} row @param {Row} other @returns {Readonly<Record<string, Summary>>} */
function valuesOf({ of, to }, row, other) {
  if (of === "figure") return row.figures;
  return to === undefined ? row.ratios : ratiosOf(row.samples, other.samples);
}

/** @param {Target} target @param {Readonly<Record<string, Summary>>} values @param {boolean} byCpu @returns {Summary | undefined} */
function valueOf({ measure, of }, values, byCpu) {
  const cpu = values.cpu;
  if (!byCpu || measure !== "perSecond" || of !== "ratio" || !cpu) return values[measure];
  return { median: 1 / cpu.median, lowest: 1 / cpu.highest, highest: 1 / cpu.lowest, spread: cpu.spread };
}

/** The verdicts as a table. @param {readonly Verdict[]} verdicts */
export function verdictsTable(verdicts) {
  const rows = verdicts.map(({ target, reached, got, notRun }) => {
    const { workload, contender, measure, of, to, atLeast, atMost } = target;
    const wanted = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
    const name = contender === undefined ? workload : `${workload}, ${contender}`;
    const range = got ? `${got.lowest.toFixed(2)} to ${got.highest.toFixed(2)}` : (notRun ?? "not measured");
    const what = to === undefined ? `${measure}, ${of}` : `${measure}, ${of} to ${to}`;
    return [
      name,
      what,
      wanted,
      got ? got.median.toFixed(2) : "–",
      range,
      reached ? "ok" : notRun === undefined ? "MISSED" : "not run",
    ];
  });
  return alignedTable([["target", "of", "wanted", "got", "range", ""], ...rows]).join("\n");
}
