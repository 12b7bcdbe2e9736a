// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";
import path from "node:path";
import { makeReady, root } from "../../scripts/ready.mjs";

const help = `Tries all properties of the tests with random values: those of tests/fuzz and those beside the sources.

  npm run fuzz                       each property once, then all of them until a minute is over
  npm run fuzz -- --seconds 600      for 600 seconds, all properties together
  npm run fuzz -- --seeds 300        each property with 300 seeds, however long it takes
  npm run fuzz -- --forever          until one fails
  npm run fuzz -- --only NAME        the properties whose names contain this
  npm run fuzz -- PATH               the properties of a folder or file, such as packages/config
  npm run fuzz -- --seed=S --path P  one case again, as a failure prints them
`;

/** The report of the test runner. It has the weight of each property. */
const report = path.join(root, "node_modules", ".mcparley", "fuzz.json");
/** Additional milliseconds for the start, for one run of each property, and for shrinking a failing case. */
const longestPass = 900_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "60" },
    seeds: { type: "string" },
    forever: { type: "boolean" },
    only: { type: "string" },
    seed: { type: "string" },
    path: { type: "string" },
    help: { type: "boolean", short: "h" },
  },
});

if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}
const seconds = Number(values.seconds);
if (!(seconds > 0)) fail(`--seconds ${values.seconds} is no time. Give a number above zero.`);
const seeds = values.seeds === undefined ? undefined : Number(values.seeds);
if (seeds !== undefined && !(Number.isInteger(seeds) && seeds > 0))
  fail(`--seeds ${values.seeds} is no number of seeds.`);
if (values.seed !== undefined && !Number.isInteger(Number(values.seed))) fail(`--seed ${values.seed} is no integer.`);

makeReady();
const start = performance.now();
let status = run(0);
const { weights, names } = readReport();
if (status === 0 && names === 0) fail("No property has such a name or path.");
if (values.seed === undefined && seeds === undefined) {
  const remaining = seconds * 1000 - (performance.now() - start);
  if (status === 0 && remaining > 0) status = run(remaining / weights);
  while (values.forever && status === 0) status = run((seconds * 1000) / weights);
}
process.exit(status);

/**
 * Runs each property once, and repeats it until its share of the time is over. Tests run one after another, because parallel tests
 * falsify timings.
 *
 * @param {number} share milliseconds for a property of weight 1
 */
function run(share) {
  rmSync(report, { force: true });
  const env = { ...process.env, FUZZ_SHARE: String(share), FUZZ_SEEDS: String(seeds ?? 1) };
  if (values.seed !== undefined) Object.assign(env, { FUZZ_SEED: values.seed });
  if (values.path !== undefined) Object.assign(env, { FUZZ_PATH: values.path });
  const reports = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${report}`];
  const only = values.only === undefined ? [] : ["--testNamePattern", escaped(values.only)];
  const args = ["run", ...positionals, "--pool=threads", "--no-file-parallelism", ...reports, ...only];
  // A loop that never yields cannot be interrupted from inside and ignores SIGTERM. Threads end with their process.
  const timeout = (seconds * 1000 + longestPass) * (seeds ?? 1);
  const file = path.join(root, "node_modules/vitest/vitest.mjs");
  const options = {
    cwd: root,
    stdio: /** @type {const} */ ("inherit"),
    env,
    timeout,
    killSignal: /** @type {const} */ ("SIGKILL"),
  };
  const { status, signal } = spawnSync(process.execPath, [file, ...args], options);
  if (signal) fail("A property never came back: it is the first of its file that is not listed above.");
  const passed = readReport();
  process.stdout.write(`${passed.names} properties passed, with ${passed.seeds} seeds together.\n`);
  return status ?? 1;
}

/** Returns the number of properties that passed in the last run, and the sums of their weights and of their seeds. */
function readReport() {
  const sums = { names: 0, weights: 0, seeds: 0 };
  if (!existsSync(report)) return sums;
  /** @type {{ testResults: { assertionResults: { status: string; meta: { weight?: number; seeds?: number } }[] }[] }} */
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  for (const { status, meta } of testResults.flatMap(({ assertionResults }) => assertionResults)) {
    const { weight = 0, seeds = 0 } = meta;
    if (status !== "passed" || seeds === 0) continue;
    sums.names++;
    sums.weights += weight;
    sums.seeds += seeds;
  }
  return sums;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

/** @param {string} message @returns {never} */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
