// @ts-check
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import path from "node:path";
import { makeReady, root } from "./ready.mjs";

const help = `Tries the parsers and the calls with random values.

  npm run fuzz                       for a minute
  npm run fuzz -- --seconds 600      for as long as is wanted, all properties together
  npm run fuzz -- --forever          until one fails
  npm run fuzz -- --only NAME        the properties whose names contain this
  npm run fuzz -- --seed S --path P  one case again, as a failure prints them
`;

/** Additional milliseconds for the start, and for shrinking a failing case. */
const shrinkingAndStarting = 300_000;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
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
if (values.seed !== undefined && !Number.isInteger(Number(values.seed))) fail(`--seed ${values.seed} is no integer.`);

makeReady();
const shares = countShares();
if (shares === 0) fail(`No property has ${JSON.stringify(values.only)} in its name.`);
let status = 0;
do status = run();
while (values.forever && status === 0);
process.exit(status);

/** Runs all properties once, each for its share of the time. Tests run one after another, because parallel tests falsify timings. */
function run() {
  const env = { ...process.env, FUZZ_SHARE: String((seconds * 1000) / shares) };
  if (values.seed !== undefined) Object.assign(env, { FUZZ_SEED: values.seed });
  if (values.path !== undefined) Object.assign(env, { FUZZ_PATH: values.path });
  const { status, signal } = vitest(
    ["run", "--pool=threads", "--no-file-parallelism", "--reporter=verbose"],
    "inherit",
    env,
  );
  if (signal) fail("A property never came back: it is the first of its file that is not listed above.");
  return status ?? 1;
}

/** Returns the number of shares of the time. The properties of calls and of schemas have a weight of 3, as in their tests. */
function countShares() {
  const { stdout } = vitest(["list", "--json"], ["ignore", "pipe", "inherit"], process.env);
  /** @type {{ name: string }[]} */
  const listed = JSON.parse(stdout.slice(stdout.indexOf("[")));
  return listed.reduce((sum, { name }) => sum + (/^calls,|agrees with ajv/.test(name) ? 3 : 1), 0);
}

/**
 * @param {readonly string[]} args
 * @param {import("node:child_process").StdioOptions} stdio
 * @param {NodeJS.ProcessEnv} env
 */
function vitest([command = "run", ...args], stdio, env) {
  const only = values.only === undefined ? [] : ["--testNamePattern", escaped(values.only)];
  const file = path.join(root, "node_modules/vitest/vitest.mjs");
  const all = [file, command, "tests/fuzz", "tests/json-schema/against-ajv.test.ts", ...args, ...only];
  // A loop that never yields cannot be interrupted from inside and ignores SIGTERM. Threads end with their process.
  const timeout = seconds * 1000 + shrinkingAndStarting;
  return spawnSync(process.execPath, all, { cwd: root, stdio, env, encoding: "utf8", timeout, killSignal: "SIGKILL" });
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
