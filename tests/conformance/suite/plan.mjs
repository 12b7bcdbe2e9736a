// @ts-check
/** @import { Leg, Run, Scenario, Scenarios } from "./types.ts" */

const legs = /** @type {const} */ (["server", "client"]);
const requirementSets = ["2025-11-25", "2026-07-28"];
const revisions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/**
 * All that is run: for each release of the suite and each side, the requirement sets, all scenarios with the revision
 * left to the suite, and all scenarios of each revision that has any.
 *
 * @param {Scenarios} scenarios
 * @returns {Run[]}
 */
export function allRuns(scenarios) {
  return Object.keys(scenarios).flatMap((release) => legs.flatMap((leg) => runsOf(scenarios, release, leg)));
}

/** @param {Scenarios} scenarios @param {string} release @param {Leg} leg @returns {Run[]} */
function runsOf(scenarios, release, leg) {
  const known = Object.entries(scenarios[release]?.[leg] ?? {});
  /** @param {(scenario: Scenario) => boolean} isIn */
  const names = (isIn) => known.filter(([, scenario]) => isIn(scenario)).map(([name]) => name);
  /** @type {Run[]} */
  const runs = [
    ...requirementSets.map((requirements) => ({
      id: `${release} ${leg} requirements ${requirements}`,
      release,
      leg,
      requirements,
      scenarios: names(({ sets = {} }) => requirements in sets),
    })),
    { id: `${release} ${leg} all`, release, leg, scenarios: names(() => true) },
    ...revisions.map((version) => ({
      id: `${release} ${leg} all ${version}`,
      release,
      leg,
      version,
      scenarios: names(({ versions }) => versions.includes(version)),
    })),
  ];
  return runs.filter(({ scenarios }) => scenarios.length > 0);
}

/**
 * Returns the runs with only the selected scenarios, and without runs that have no selected scenario.
 *
 * @param {readonly Run[]} runs
 * @param {(run: Run, scenario: string) => boolean} isWanted
 * @returns {Run[]}
 */
export function narrow(runs, isWanted) {
  const narrowed = runs.map((run) => {
    const scenarios = run.scenarios.filter((scenario) => isWanted(run, scenario));
    return { ...run, scenarios, narrowed: scenarios.length < run.scenarios.length };
  });
  return narrowed.filter(({ scenarios }) => scenarios.length > 0);
}

/** The arguments that make the suite run all of a run. @param {Run} run @returns {string[]} */
export function argumentsOfAll({ requirements, version }) {
  if (requirements !== undefined) return ["--requirements", requirements];
  return ["--suite", "all", ...(version === undefined ? [] : ["--spec-version", version])];
}

/**
 * The arguments that make the suite run one scenario as it does within a run. A scenario of an extension belongs to no
 * revision and has to be forced into one.
 *
 * @param {Run} run @param {string} name @param {Scenario} scenario @returns {string[]}
 */
export function argumentsOfOne({ requirements, version = requirements }, name, { versions }) {
  const one = ["--scenario", name];
  if (version === undefined) return one;
  return [...one, "--spec-version", version, ...(versions.includes(version) ? [] : ["--force"])];
}
