// @ts-check
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { makeReady, root } from "../scripts/ready.mjs";
import { implementations } from "./implementations/implementations.mjs";
import { installPeers, peerVersions } from "./peers.mjs";
import { runWorkload } from "./measure/run-workload.mjs";
import { environmentOf } from "./report/environment.mjs";
import { markdownOf, tableOf } from "./report/markdown.mjs";
import { allWorkloads } from "./workloads/all.mjs";
import { planOf } from "./workloads/plan.mjs";

/** @import { Results, Workload, WorkloadResult } from "./types.ts" */

const help = `npm run bench [-- options]

Measures this library beside others and beside code without a library, and prints what came out. It is read best on a
machine that does nothing else; benchmarks/README.md says how.

  --only PATTERN   the workloads whose ids contain this; may be given more than once
  --with NAME      the implementations whose names contain this, beside the floor; may be given more than once
  --quick          fewer and shorter samples, in 6 minutes rather than 25
  --list           the ids of all workloads, and nothing more
  --save NAME      write benchmarks/results/NAME.md and .json
`;

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    with: { type: "string", multiple: true, default: [] },
    quick: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    save: { type: "string" },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) process.stdout.write(help);
else process.exitCode = await main();

async function main() {
  const peers = path.join(root, ".tools/benchmarks");
  const compared = implementations.filter(({ name }, index) => index === 0 || isChosen(name, values.with));
  const plan = planOf(values.quick, { implementations: compared, peers });
  const workloads = allWorkloads(plan).filter(({ id }) => isChosen(id, values.only));
  if (workloads.length === 0) {
    process.stderr.write("No workload is called that. `npm run bench -- --list` prints their ids.\n");
    return 1;
  }
  if (values.list) {
    process.stdout.write(`${workloads.map(({ id }) => id).join("\n")}\n`);
    return 0;
  }
  makeReady();
  const reason = compared.some(({ isPeer }) => isPeer) ? installPeers(peers) : undefined;
  if (reason !== undefined) process.stderr.write(`The peers are not compared. ${reason}\n`);
  const environment = environmentOf(root, versionsOf());
  const started = performance.now();
  const done = await runAll(workloads);
  const seconds = (performance.now() - started) / 1000;
  /** @type {Results} */
  const results = { environment, depth: values.quick ? "quick" : "full", seconds, workloads: done };
  if (values.save !== undefined) save(results, values.save);
  process.stderr.write(`${(seconds / 60).toFixed(1)} minutes\n`);
  return 0;
}

/** @param {readonly Workload[]} workloads */
async function runAll(workloads) {
  /** @type {WorkloadResult[]} */
  const done = [];
  for (const [index, workload] of workloads.entries()) {
    const place = `${index + 1}/${workloads.length} ${workload.id}`;
    const result = await runWorkload(workload, (name) => progress(`${place}: ${name}`));
    progress("");
    process.stdout.write(`${tableOf(result)}\n\n`);
    done.push(result);
  }
  return done;
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
  writeFileSync(path.join(folder, `${name}.json`), `${JSON.stringify(results, undefined, 2)}\n`);
}
