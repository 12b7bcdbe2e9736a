// @ts-check
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { judge, staleEntries, unknownEntries } from "./suite/judge.mjs";
import { allRuns, narrow } from "./suite/plan.mjs";
import { passedWhenRepeated, repeatFailed } from "./suite/repeat.mjs";
import { failureList, suiteTable, table } from "./suite/report.mjs";
import { listScenarios, runSuites } from "./suite/run.mjs";
import { installTools } from "./suite/tools.mjs";
import { recordConformance } from "../../scripts/failures.mjs";
import { root } from "../../scripts/ready.mjs";
import { NotAvailable, bundle, only, readOptions } from "../support/runner.mjs";

/**
 * @import { Excuse, Leg, Run, Scenarios } from "./suite/types.ts"
 * @import { Tools } from "./suite/tools.mjs"
 */

const usage = `npm run check -- conformance [options]

Runs the official conformance suite against the library, both sides. Fails if anything outside of
tests/conformance/baseline.json fails or warns, and if something in it passes. A scenario that fails is run again alone,
up to two times.

  --only NAME      server, client, or the scenarios of a name, a group (auth) or a pattern (auth/scope-*); may be repeated
  --suite NAME     the scenarios of one of the suite's own suites (active, draft, pending, core, auth, ...)
  --release NAME   one release of the suite (${Object.keys(scenariosOf()).join(", ")})
  --jobs N         scenarios at a time (as many as there are processors, at most 4)
  --require        fail where the suite cannot be installed, too
`;

const work = path.join(root, ".tools/conformance");

const values = readOptions(usage, {
  only,
  suite: { type: "string" },
  release: { type: "string" },
  jobs: { type: "string" },
  require: { type: "boolean" },
});
process.exitCode = await main();

async function main() {
  const scenarios = scenariosOf();
  const baseline = /** @type {Excuse[]} */ (readJson("baseline.json"));
  const runs = narrow(allRuns(scenarios), isWanted(scenarios));
  if (runs.length === 0) return fail("No scenario is called that. See --help.");
  let tools;
  try {
    tools = installTools(work);
  } catch (error) {
    if (!(error instanceof NotAvailable)) throw error;
    process.stdout.write(`conformance: not run. ${error.message}\n`);
    return values.require ? 1 : 0;
  }
  const wrong = [...unknownEntries(baseline, scenarios), ...(await unexpected(scenarios, tools))];
  if (wrong.length > 0) return fail(wrong.join("\n"));
  const plan = { runs, scenarios, baseline };
  return report(plan, await run(plan, tools));
}

/** @typedef {{ runs: readonly Run[]; scenarios: Scenarios; baseline: readonly Excuse[] }} Plan */

/** @param {Plan} plan @param {Tools} tools */
async function run({ runs, scenarios, baseline }, tools) {
  const [server, client] = await Promise.all([fixture("server"), fixture("client")]);
  const jobs = Number(values.jobs ?? Math.min(4, availableParallelism()));
  const setting = { tools, scenarios, server, client, jobs, onProgress };
  /** @param {readonly Run[]} all @param {Partial<typeof setting> & { results: string }} special */
  const verdictsOf = async (all, special) => {
    const outcomes = await runSuites(all, { ...setting, ...special });
    return all.flatMap((one, index) =>
      [...(outcomes[index] ?? [])].map(([scenario, outcome]) => judge(one, scenario, outcome, baseline)),
    );
  };
  const verdicts = await verdictsOf(runs, { results: path.join(work, "results") });
  const repetition = { results: path.join(work, "results-of-repetitions"), jobs: 1 };
  return repeatFailed(verdicts, (failed) => verdictsOf(failed, repetition));
}

/**
 * @param {Plan} plan
 * @param {readonly import("./suite/types.ts").Verdict[]} verdicts
 */
function report({ runs, scenarios, baseline }, verdicts) {
  process.stdout.write(`\n${table(runs, verdicts, scenarios)}\n\n${suiteTable(runs, verdicts, scenarios)}\n`);
  const planned = runs.reduce((sum, { scenarios: names }) => sum + names.length, 0);
  const failures = verdicts.filter(({ state }) => state === "failed");
  const failed = failures.length;
  const passedLater = passedWhenRepeated(verdicts);
  recordConformance(failures.map((verdict) => `${verdict.run.leg} ${verdict.scenario} in ${verdict.run.id}`));
  const stale = staleEntries(baseline, verdicts);
  if (failed > 0) process.stdout.write(`\nFailing checks:\n${failureList(verdicts)}\n`);
  if (passedLater.length > 0) process.stdout.write(`\nPassed when repeated:\n  ${passedLater.join("\n  ")}\n`);
  if (stale.length > 0) process.stdout.write(`\nNot needed in the baseline:\n  ${stale.join("\n  ")}\n`);
  const missing = planned - verdicts.length;
  const summary = `${verdicts.length} of ${planned} scenario runs, ${failed} failed, ${passedLater.length} passed when repeated, ${stale.length} stale baseline entries`;
  process.stdout.write(`\nconformance: ${summary}\n`);
  return failed === 0 && missing === 0 && stale.length === 0 ? 0 : 1;
}

/** Lists the differences from the expected scenarios: without this, a suite that lost some would pass. @param {Scenarios} scenarios @param {Tools} tools */
async function unexpected(scenarios, tools) {
  const found = [];
  for (const [release, legs] of Object.entries(scenarios)) {
    for (const leg of /** @type {Leg[]} */ (["server", "client"])) {
      const expected = Object.keys(legs[leg]);
      const listed = await listScenarios(release, leg, tools);
      const differing = [
        ...expected.filter((name) => !listed.includes(name)),
        ...listed.filter((name) => !(name in legs[leg])),
      ];
      if (differing.length > 0)
        found.push(`The ${leg} scenarios of ${release} are not those expected: ${differing.join(", ")}`);
    }
  }
  return found;
}

/** Bundles a fixture with the library as it is published. @param {Leg} side */
function fixture(side) {
  // A CommonJS package, which esbuild cannot put into an ES module for Node.
  return bundle(`tests/conformance/everything-${side}.ts`, { external: ["yaml"] });
}

/** @param {Scenarios} scenarios @returns {(run: Run, scenario: string) => boolean} */
function isWanted(scenarios) {
  const { only: parts, suite, release } = values;
  const legs = parts.filter(isLeg);
  const names = parts.filter((name) => !isLeg(name)).map(toPattern);
  return (run, scenario) =>
    (legs.length === 0 || legs.includes(run.leg)) &&
    (names.length === 0 || names.some((pattern) => pattern.test(scenario))) &&
    (release === undefined || run.release === release) &&
    (suite === undefined || suite === "all" || suitesOf(scenarios, run, scenario).includes(suite));
}

/** @param {string} name */
function isLeg(name) {
  return name === "server" || name === "client";
}

/** @param {Scenarios} scenarios @param {Run} run @param {string} scenario */
function suitesOf(scenarios, { release, leg }, scenario) {
  return scenarios[release]?.[leg][scenario]?.suites ?? [];
}

/** @param {string} glob */
function toPattern(glob) {
  const parts = glob.split("*").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}(?:/.*)?$`);
}

/** @returns {Scenarios} */
function scenariosOf() {
  return readJson("scenarios.json");
}

/** @param {string} name */
function readJson(name) {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
}

/** @param {number} done @param {number} all */
function onProgress(done, all) {
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${all} `);
  else if (done % 25 === 0 || done === all) process.stderr.write(`${done} of ${all} runs of the suite are done\n`);
}

/** @param {string} message */
function fail(message) {
  process.stderr.write(`${message}\n`);
  return 1;
}
