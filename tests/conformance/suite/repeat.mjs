// @ts-check
/** @import { Run, Verdict } from "./types.ts" */

/** Maximum number of times that a failed scenario is run again. */
const repeats = 2;

/** If more scenarios than this fail, the library is defective and not the machine busy. Nothing is repeated. */
const tooMany = 20;

/**
 * Runs failed scenarios again, because the suite has fixed time limits that a busy machine exceeds: `sse-retry` for
 * example warns if a client needs 700 ms instead of 500 ms. A scenario fails if it fails every time.
 *
 * @param {readonly Verdict[]} verdicts
 * @param {(runs: readonly Run[]) => Promise<readonly Verdict[]>} again runs one scenario per run, in this order and one at a time
 * @returns {Promise<readonly Verdict[]>}
 */
export async function repeatFailed(verdicts, again) {
  let latest = verdicts;
  for (let repeated = 1; repeated <= repeats; repeated++) {
    const failed = latest.filter(({ state }) => state === "failed");
    if (failed.length === 0 || failed.length > tooMany) break;
    const runs = failed.map(({ run, scenario }) => ({ ...run, scenarios: [scenario], narrowed: true }));
    const outcomes = await again(runs);
    const replaced = new Map(failed.map((verdict, index) => [verdict, outcomes[index]]));
    latest = latest.map((verdict) => {
      const outcome = replaced.get(verdict);
      return outcome ? { ...outcome, run: verdict.run, repeated } : verdict;
    });
  }
  return latest;
}

/** Lists the scenarios that failed at first and then passed. @param {readonly Verdict[]} verdicts @returns {string[]} */
export function passedWhenRepeated(verdicts) {
  return verdicts
    .filter(({ state, repeated = 0 }) => state !== "failed" && repeated > 0)
    .map(({ run, scenario, repeated }) => `${run.leg} ${scenario} in ${run.id} (repetition ${repeated})`);
}
