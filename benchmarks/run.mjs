// @ts-check
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { root } from "../scripts/ready.mjs";
import { clients } from "./implementations/clients.mjs";
import { floor, implementations, own } from "./implementations/implementations.mjs";
import { Pace, samplesOf } from "./measure/pace.mjs";
import { installPeers, peerVersions } from "./peers.mjs";
import { runWorkload } from "./measure/run-workload.mjs";
import { judge, verdictsTable } from "./report/check.mjs";
import { environmentOf } from "./report/environment.mjs";
import { markdownOf, tableOf } from "./report/markdown.mjs";
import { allWorkloads } from "./workloads/all.mjs";
import { planOf } from "./workloads/plan.mjs";

/** @import { Plan } from "./workloads/plan.mjs" */
/** @import { Results, Target, Workload, WorkloadResult } from "./types.ts" */

const help = `npm run bench [-- options]

Measures this library beside others and beside code without a library, and prints what came out. It is read best on a
machine that does nothing else; benchmarks/README.md says how.

  --only PATTERN   the workloads whose ids contain this; may be given more than once
  --with NAME      the implementations whose names contain this, beside the floor; may be given more than once
  --quick          fewer and shorter samples, in 10 minutes rather than 45
  --check          fail where this library misses a target of targets.json; the others are not run unless named
  --by-cpu         judge throughput by CPU time, on a machine that does other things meanwhile
  --list           the ids of all workloads, and nothing more
  --save NAME      write benchmarks/results/NAME.md
`;

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    with: { type: "string", multiple: true, default: [] },
    quick: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    "by-cpu": { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    save: { type: "string" },
    help: { type: "boolean", short: "h", default: false },
  },
});
/** @type {readonly Target[]} */
const targets = JSON.parse(readFileSync(path.join(import.meta.dirname, "targets.json"), "utf8"));
const peers = new Set(implementations.filter(({ isPeer }) => isPeer).map(({ name }) => name));

if (values.help) process.stdout.write(help);
else process.exitCode = await main();

async function main() {
  const plan = planOf(values.quick, { ...compared(), peers: path.join(root, ".tools/benchmarks") });
  const workloads = allWorkloads(plan).filter(({ id }) => isChosen(id, chosenWorkloads()));
  const isFloorAlone = plan.implementations.length === 1 && plan.clients.length === 1;
  if (isFloorAlone && values.with.length > 0 && !values.with.includes(floor)) {
    const names = new Set([...implementations, ...clients].map(({ name }) => name));
    process.stderr.write(`No implementation has this name. Available: ${[...names].join(", ")}.\n`);
    return 1;
  }
  if (workloads.length === 0) {
    process.stderr.write("No workload has this id. `npm run bench -- --list` prints their ids.\n");
    return 1;
  }
  if (values.list) {
    process.stdout.write(`${workloads.map(({ id }) => id).join("\n")}\n`);
    return 0;
  }
  const needsPeers = workloads.some(({ contenders }) => contenders.some(isPeer));
  const reason = needsPeers ? installPeers(plan.peers) : undefined;
  const results = await measure(
    reason === undefined ? workloads : workloads.map((one) => withoutPeers(one, reason)),
    plan,
  );
  if (values.save !== undefined) save(results, values.save);
  process.stderr.write(`${(results.seconds / 60).toFixed(1)} minutes\n`);
  return values.check ? check(results.workloads) : 0;
}

/** Returns the patterns of `--only`, or with `--check` the workloads that have a target. */
function chosenWorkloads() {
  return values.check && values.only.length === 0
    ? targets.map(({ workload }) => workload.replace("*", ""))
    : values.only;
}

/**
 * Returns the implementations and clients to compare with the floor, and the floor. With `--check` these are mcparley and the clients that a
 * target names, unless others are named.
 */
function compared() {
  const isCheck = values.check && values.with.length === 0;
  const named = isCheck ? [own] : values.with;
  const namedClients = isCheck ? targets.map(({ contender = own }) => contender) : values.with;
  return {
    implementations: implementations.filter(({ name }) => name === floor || isChosen(name, named)),
    clients: clients.filter(({ name }) => name === floor || isChosen(name, namedClients)),
  };
}

/** @param {readonly Workload[]} workloads @param {Plan} plan @returns {Promise<Results>} */
async function measure(workloads, { isQuick, minutes }) {
  const environment = environmentOf(root, versionsOf());
  const started = performance.now();
  const pace = new Pace(minutes * 60);
  /** @type {WorkloadResult[]} */
  const done = [];
  for (const [index, workload] of workloads.entries()) {
    const place = `${index + 1}/${workloads.length} ${workload.id}`;
    const fitted = pace.fit(workload, workloads.slice(index));
    const begun = performance.now();
    const result = await runWorkload(fitted, (name) => progress(`${place}: ${name}`));
    pace.note(samplesOf(fitted), (performance.now() - begun) / 1000);
    progress("");
    process.stdout.write(`${tableOf(result)}\n\n`);
    done.push(result);
  }
  const seconds = (performance.now() - started) / 1000;
  return { environment, depth: isQuick ? "quick" : "full", seconds, workloads: done };
}

/** Returns a workload whose peers are not run, because their packages cannot be installed. @param {Workload} workload @param {string} reason @returns {Workload} */
function withoutPeers(workload, reason) {
  const contenders = workload.contenders.map((one) => (isPeer(one) ? { name: one.name, notRun: reason } : one));
  return { ...workload, contenders };
}

/** @param {import("./types.ts").Contender} contender */
function isPeer({ name, needsPeers = false }) {
  return needsPeers || peers.has(name);
}

/** @param {readonly WorkloadResult[]} done @returns {number} the exit code */
function check(done) {
  const verdicts = judge(targets, done, { byCpu: values["by-cpu"] });
  const missed = verdicts.filter(({ reached }) => !reached).length;
  process.stdout.write(
    `${verdictsTable(verdicts)}\n\n${verdicts.length - missed} of ${verdicts.length} targets reached.\n`,
  );
  return missed === 0 ? 0 : 1;
}

/** @param {string} text */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`);
}

/** @param {string} name @param {readonly string[]} patterns */
function isChosen(name, patterns) {
  return patterns.length === 0 || patterns.some((pattern) => name.includes(pattern));
}

/** @returns {Record<string, string>} */
function versionsOf() {
  const { version } = JSON.parse(readFileSync(path.join(root, "packages/mcparley/package.json"), "utf8"));
  return { mcparley: version, ...peerVersions() };
}

/** @param {Results} results @param {string} name */
function save(results, name) {
  const folder = path.join(root, "benchmarks/results");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${name}.md`), markdownOf(results));
}
