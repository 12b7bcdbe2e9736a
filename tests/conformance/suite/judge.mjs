// @ts-check
/** @import { Excuse, Failure, Outcome, Run, Scenarios, Verdict } from "./types.ts" */

/** The check that the suite adds to every scenario whose messages it sees: all of them match the schema. */
const everywhere = "wire-schema-valid";

/**
 * Returns the verdict on a scenario. A warning fails it like a failure, and so does a scenario that checked nothing: an
 * empty result, or one with only skipped checks, proves nothing.
 *
 * @param {Run} run
 * @param {string} scenario
 * @param {Outcome} outcome
 * @param {readonly Excuse[]} baseline
 * @returns {Verdict}
 */
export function judge(run, scenario, outcome, baseline) {
  const failures = failuresOf(outcome);
  const excuses = baseline.filter((excuse) => applies(excuse, run));
  const isExcused = failures.every(({ check }) => excuses.some((excuse) => covers(excuse, scenario, check)));
  const state = failures.length === 0 ? "passed" : isExcused ? "baselined" : "failed";
  return { run, scenario, state, failures, checks: outcome.checks ?? [] };
}

/** @param {Outcome} outcome @returns {Failure[]} */
function failuresOf({ checks, trouble }) {
  if (!checks) return [{ check: "(no result)", message: trouble ?? "The suite left no checks.json." }];
  const failures = checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map((check) => ({
      check: check.id,
      message: `${check.status}: ${check.errorMessage ?? check.description ?? ""}`,
    }));
  if (failures.length === 0 && trouble !== undefined) failures.push({ check: "(ended badly)", message: trouble });
  if (failures.length === 0 && !checks.some(({ id, status }) => status === "SUCCESS" && id !== everywhere)) {
    failures.push({
      check: "(nothing checked)",
      message: "None of the scenario's own checks succeeded: all were skipped.",
    });
  }
  return failures;
}

/**
 * Returns the entries of a baseline that are not needed, because their scenario or check passed.
 * Scenarios that did not run are ignored.
 *
 * @param {readonly Excuse[]} baseline
 * @param {readonly Verdict[]} verdicts
 * @returns {string[]}
 */
export function staleEntries(baseline, verdicts) {
  return baseline.flatMap((excuse) =>
    excuse.scenarios.flatMap((entry) => {
      const { scenario, check } = readEntry(entry);
      const passed = verdicts.filter(
        (verdict) => applies(excuse, verdict.run) && verdict.scenario === scenario && !isNeeded(verdict, check),
      );
      return passed.map(({ run }) => `${entry} passes in "${run.id}": take it out of the baseline`);
    }),
  );
}

/** @param {Verdict} verdict @param {string | undefined} check */
function isNeeded({ failures }, check) {
  return failures.some((failure) => check === undefined || failure.check === check);
}

/**
 * The entries of a baseline that no release of the suite knows, such as misspelled ones.
 *
 * @param {readonly Excuse[]} baseline @param {Scenarios} scenarios @returns {string[]}
 */
export function unknownEntries(baseline, scenarios) {
  return baseline.flatMap(({ leg, scenarios: entries }) =>
    entries
      .filter((entry) => !Object.values(scenarios).some((release) => readEntry(entry).scenario in release[leg]))
      .map((entry) => `The baseline names the ${leg} scenario "${entry}", which does not exist.`),
  );
}

/** @param {Excuse} excuse @param {Run} run */
function applies({ leg, releases, runs }, run) {
  return leg === run.leg && (releases?.includes(run.release) ?? true) && (runs?.includes(run.id) ?? true);
}

/** @param {Excuse} excuse @param {string} scenario @param {string} check */
function covers({ scenarios }, scenario, check) {
  return scenarios.includes(scenario) || scenarios.includes(`${scenario}:${check}`);
}

/** @param {string} entry */
function readEntry(entry) {
  const [scenario = "", check] = entry.split(":", 2);
  return { scenario, check };
}
