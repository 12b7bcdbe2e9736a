// @ts-check
import { rmSync } from "node:fs";
import path from "node:path";
import { argumentsOfAll, argumentsOfOne } from "./plan.mjs";
import { inParallel, runToEnd, withServer } from "./processes.mjs";
import { readChecks } from "./read-checks.mjs";

/**
 * @import { Leg, Outcome, Run, Scenarios } from "./types.ts"
 * @import { Tools } from "./tools.mjs"
 */

/**
 * @typedef {object} Setting
 * @property {Tools} tools
 * @property {Scenarios} scenarios
 * @property {string} server the server's bundled file
 * @property {string} client the client's bundled file
 * @property {string} results the folder for the output of the suite; emptied first
 * @property {number} jobs number of scenarios that may run at a time
 * @property {(done: number, all: number) => void} onProgress
 */

/** @typedef {Map<string, Outcome>} Outcomes by scenario */

/**
 * Executes the runs. Returns the outcomes of their scenarios in the same order.
 *
 * The suite runs the scenarios of a server one after another, so a whole run is one call of it. Those of a client it
 * starts all at once, which a small machine does not survive: they are run one by one here. What runs with the same
 * arguments in two runs is run once.
 *
 * @param {readonly Run[]} runs
 * @param {Setting} setting
 * @returns {Promise<Outcomes[]>}
 */
export async function runSuites(runs, setting) {
  rmSync(setting.results, { recursive: true, force: true });
  /** @type {Map<string, () => Promise<Outcomes>>} */
  const tasks = new Map();
  const wanted = runs.map((run) => tasksOf(run, setting));
  for (const [key, task] of wanted.flat()) if (!tasks.has(key)) tasks.set(key, task);
  let done = 0;
  const counted = [...tasks.values()].map((task) => async () => {
    const outcomes = await task();
    setting.onProgress(++done, tasks.size);
    return outcomes;
  });
  const results = await inParallel(counted, setting.jobs);
  const byKey = new Map([...tasks.keys()].map((key, index) => [key, results[index]]));
  return wanted.map((keys) => new Map(keys.flatMap(([key]) => [...(byKey.get(key) ?? [])])));
}

/** @param {Run} run @param {Setting} setting @returns {[string, () => Promise<Outcomes>][]} */
function tasksOf(run, setting) {
  const { release, leg, scenarios } = run;
  const known = setting.scenarios[release]?.[leg] ?? {};
  if (leg === "server" && !run.narrowed) {
    const args = argumentsOfAll(run);
    return [[keyOf(run, args), () => runOnce(run, args, scenarios, setting)]];
  }
  return scenarios.map((name) => {
    const scenario = known[name];
    if (!scenario) throw new Error(`The suite ${release} has no ${leg} scenario "${name}".`);
    const args = argumentsOfOne(run, name, scenario);
    return [keyOf(run, args), () => runOnce(run, args, [name], setting)];
  });
}

/** @param {Run} run @param {readonly string[]} args */
function keyOf({ release, leg }, args) {
  return [release, leg, ...args].join(" ");
}

/** @param {Run} run @param {readonly string[]} args @param {readonly string[]} names @param {Setting} setting */
async function runOnce(run, args, names, setting) {
  const folder = path.join(setting.results, keyOf(run, args).replaceAll(/[^\w.-]+/g, "_"));
  const { code, output } = await callSuite(run, [...args, "--output-dir", folder], setting);
  const found = readChecks(folder, run.leg);
  /** @type {Outcomes} */
  const outcomes = new Map();
  for (const name of names) {
    const one = found.get(name);
    const ending = (one?.stderr || output).trim().slice(-600);
    if (!one) outcomes.set(name, { checks: undefined, trouble: ending });
    else if (names.length === 1 && code !== 0) outcomes.set(name, { checks: one.checks, trouble: ending });
    else outcomes.set(name, { checks: one.checks });
  }
  return outcomes;
}

/** @param {Run} run @param {readonly string[]} args @param {Setting} setting */
function callSuite({ release, leg }, args, { tools, server, client }) {
  const call = (/** @type {string[]} */ target) =>
    runToEnd(tools.node, [tools.suite(release), leg, ...target, ...args], path.dirname(client));
  if (leg === "server") return withServer(server, (url) => call(["--url", url]));
  // The suite passes the command to a shell. The path is relative, because the name of the folder may contain special characters.
  return call(["--command", `${JSON.stringify(process.execPath)} ${path.basename(client)}`]);
}

/**
 * Returns the scenarios that a release of the suite lists, for the comparison with the expected ones.
 *
 * @param {string} release @param {Leg} leg @param {Tools} tools @returns {Promise<string[]>}
 */
export async function listScenarios(release, leg, { node, suite }) {
  const { output } = await runToEnd(node, [suite(release), "list", `--${leg}`], process.cwd());
  return [...output.matchAll(/^ {2}- (\S+)/gm)].map(([, name = ""]) => name);
}
