// @ts-check
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import path from "node:path";
import { root } from "../../scripts/ready.mjs";
import { only, readOptions } from "../support/runner.mjs";
import { measure } from "./benchmarks/measure.mjs";
import { good, report, runChaos } from "./chaos/run.mjs";
import { install } from "./install.mjs";

const help = `npm run check -- cluster [options]

Runs what needs more than one process and real servers: redis-server (one, a cluster of three, Sentinel), Valkey, and nginx
with plain round robin before three processes. redis-server and nginx are installed from Debian's packages where they are
missing and this may install them; Valkey into .tools/cluster. What cannot be had is reported as not run.

  --only PART            store, conversations, chaos or benchmarks; may be given more than once
  --seed N               the seed of the chaos run, as an earlier one printed it
  --conversations N      of the chaos run (2,000)
  --at-once N            conversations at a time (100)
  --break KIND           node, redis, connections, reply, reach, speed, pace or step, and nothing else; may be given more than once
`;

const parts = ["store", "conversations", "chaos", "benchmarks"];

const values = readOptions(help, {
  only,
  seed: { type: "string" },
  conversations: { type: "string", default: "2000" },
  "at-once": { type: "string", default: "100" },
  break: { type: "string", multiple: true },
});
process.exitCode = await main();

async function main() {
  const unknown = values.only.find((part) => !parts.includes(part));
  if (unknown !== undefined) return complain(`There is no part "${unknown}". There are: ${parts.join(", ")}.`);
  const { redis, nginx, valkey, missing } = install(path.join(root, ".tools/cluster"));
  for (const what of missing) process.stdout.write(`not run, for want of a server: ${what}\n`);
  const isWanted = (/** @type {string} */ part) => values.only.length === 0 || values.only.includes(part);
  /** @type {Record<string, boolean>} */
  const passed = {};
  if (redis !== undefined && isWanted("store")) passed.store = runTests("tests/cluster/store", valkey);
  if (redis !== undefined && nginx !== undefined) {
    if (isWanted("conversations")) passed.conversations = runTests("tests/cluster/with-nginx", valkey);
    if (isWanted("chaos")) passed.chaos = await chaos();
    if (isWanted("benchmarks")) passed.benchmarks = await benchmarks();
  }
  process.stdout.write("\n");
  for (const part of parts.filter(isWanted)) {
    const outcome = passed[part] === undefined ? "not run" : passed[part] ? "passed" : "failed";
    process.stdout.write(`${part.padEnd(14)} ${outcome}\n`);
  }
  return Object.values(passed).every(Boolean) ? 0 : 1;
}

/** @param {string} where @param {string | undefined} valkey */
function runTests(where, valkey) {
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--config", "tests/cluster/vitest.config.ts", where];
  const env = { ...process.env, ...(valkey !== undefined && { MCPARLEY_VALKEY: valkey }) };
  return spawnSync(process.execPath, args, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] }).status === 0;
}

async function chaos() {
  const seed = values.seed === undefined ? randomInt(2 ** 32) : Number(values.seed);
  process.stdout.write(`chaos: seed ${seed}\n`);
  const size = { conversations: Number(values.conversations), atOnce: Number(values["at-once"]) };
  const run = await runChaos({ seed, ...size, ...(values.break && { kinds: values.break }) });
  process.stdout.write(`${report(run, seed)}\n`);
  const isClean = run.crossings.found.length === 0 && run.tasks.taken.length === 0;
  return run.outcomes.every(({ verdict }) => good.includes(verdict)) && isClean;
}

/** No figure fails, because the figures depend on the machine. */
async function benchmarks() {
  process.stdout.write(`\n${await measure()}\n`);
  return true;
}

/** @param {string} message */
function complain(message) {
  process.stderr.write(`${message}\n`);
  return 1;
}
