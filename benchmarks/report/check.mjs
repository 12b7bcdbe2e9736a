// @ts-check
import { own } from "../implementations/implementations.mjs";
import { alignedTable } from "./markdown.mjs";

/** @import { Summary, Target, WorkloadResult } from "../types.ts" */

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
  return targets.flatMap((target) => {
    const result = results.find(({ id }) => id === target.workload);
    if (!result) return [];
    const row = result.rows.find(({ name }) => name === (target.contender ?? own));
    if (!row || row.notRun !== undefined) {
      return [{ target, reached: false, got: undefined, notRun: row?.notRun ?? "It was not compared." }];
    }
    const { atLeast = -Infinity, atMost = Infinity } = target;
    const got = valueOf(target, target.of === "ratio" ? row.ratios : row.figures, byCpu);
    const reached = got !== undefined && got.median >= atLeast && got.median <= atMost;
    return [{ target, reached, got }];
  });
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
    const { workload, contender, measure, of, atLeast, atMost } = target;
    const wanted = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
    const name = contender === undefined ? workload : `${workload}, ${contender}`;
    const range = got ? `${got.lowest.toFixed(2)} to ${got.highest.toFixed(2)}` : (notRun ?? "not measured");
    return [name, `${measure}, ${of}`, wanted, got ? got.median.toFixed(2) : "–", range, reached ? "ok" : "MISSED"];
  });
  return alignedTable([["target", "of", "wanted", "got", "range", ""], ...rows]).join("\n");
}
