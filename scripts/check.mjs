// @ts-check
import { listing, planOf, suites } from "./checks.mjs";
import { incompleteness, recordOption, runAndRecord } from "./last-runs.mjs";
import { failedTests, forgetTests, testCounts } from "./failures.mjs";
import { makeReady } from "./ready.mjs";
import { runProgram } from "./run-program.mjs";

/** Runs checks by their names, and `npm test`. Without a name, lists them. */
const isRecorded = process.argv.includes(recordOption);
const words = process.argv.slice(2).filter((word) => word !== recordOption);
if (words.length === 0 || words[0]?.startsWith("-")) process.stdout.write(listing());
else process.exitCode = await main();

async function main() {
  const plan = read();
  if (plan === undefined) return 1;
  makeReady();
  const chosen = suites.filter((suite) => plan.some(({ name }) => name === suite));
  for (const suite of chosen) forgetTests(suite);
  const failed = [];
  for (const { name, programs } of plan) {
    const started = Date.now();
    const isOk = isRecorded ? await runAndRecord(`npm run check -- ${name}`, programs) : await runAll(programs);
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    if (plan.length > 1) process.stdout.write(`${name}: ${isOk ? "ok" : "failed"} (${seconds} s)\n`);
    if (!isOk) failed.push(name);
  }
  // The last lines name the failures, because the beginning of a long log may be cut off.
  const lines = [...(plan.length > 1 ? failed : []), ...failedTests(chosen)].map((name) => `failed: ${name}`);
  if (chosen.length > 0) lines.push(testCounts(chosen));
  if (lines.length > 0) process.stdout.write(`\n${lines.join("\n")}\n`);
  return failed.length === 0 ? 0 : 1;
}

/** Runs programs one after the other. Returns false if one of them failed. @param {string[][]} programs */
async function runAll(programs) {
  let isOk = true;
  for (const program of programs) if ((await runProgram(program)) !== 0) isOk = false;
  return isOk;
}

function read() {
  try {
    const problem = isRecorded && incompleteness(words);
    if (problem) throw new Error(problem);
    return planOf(words);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return undefined;
  }
}
