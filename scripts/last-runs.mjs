// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "./ready.mjs";
import { runProgram } from "./run-program.mjs";

/** The word that records a run. */
export const recordOption = "--record";
const file = path.join(root, "tests/last-runs.md");
const head = `# Last runs

Each row is the last complete run of a suite that \`npm test\` does not contain. A run with the option \`--record\` writes the row of its
suite. "In part" means that a program or a network was missing. The table is not edited by hand.

| Suite | Date | Commit | Duration | Result |
| ----- | ---- | ------ | -------- | ------ |
`;

/**
 * Runs the programs of a suite, and writes the date and the result to `tests/last-runs.md`. Returns false if one of them failed.
 *
 * @param {string} command the command of the suite, such as `npm run check -- cluster`
 * @param {readonly (readonly string[])[]} programs
 */
export async function runAndRecord(command, programs) {
  const commit = git("rev-parse", "--short", "HEAD");
  const isChanged = git("status", "--porcelain", "--", `:!${path.relative(root, file)}`) !== "";
  const started = Date.now();
  let output = "";
  let isOk = true;
  for (const program of programs) {
    const code = await runProgram(program, { onOutput: (text) => (output += text) });
    if (code !== 0) isOk = false;
  }
  const row = {
    suite: `\`${command}\``,
    date: new Date(started).toISOString().slice(0, 10),
    commit: isChanged ? `${commit}, with changes` : commit,
    duration: `${Math.ceil((Date.now() - started) / 60_000)} min`,
    result: resultOf(isOk, output),
  };
  writeFileSync(file, withRow(existsSync(file) ? readFileSync(file, "utf8") : head, row));
  spawnSync(process.execPath, [path.join(root, "node_modules/oxfmt/bin/oxfmt"), file], { stdio: "ignore" });
  return isOk;
}

/** Returns why a run with these words is not complete. Undefined if it is. @param {readonly string[]} words */
export function incompleteness(words) {
  const option = words.find((word) => word.startsWith("-"));
  return option && `${recordOption} records complete runs only. Leave out ${option}.`;
}

/** Returns the result of a run. A suite prints "not run" for each part that lacks a program or a network. @param {boolean} isOk @param {string} output */
export function resultOf(isOk, output) {
  if (!isOk) return "failed";
  return /\bnot run\b/.test(output) ? "passed in part" : "passed";
}

/**
 * Returns the table with a row in place of the earlier one of its suite.
 *
 * @param {string} text
 * @param {{ suite: string, date: string, commit: string, duration: string, result: string }} row
 */
export function withRow(text, row) {
  const others = text.split("\n").filter((line) => line.startsWith("| `") && !line.startsWith(`| ${row.suite} `));
  const rows = [...others, `| ${Object.values(row).join(" | ")} |`].toSorted();
  return [head.trimEnd(), ...rows, ""].join("\n");
}

/** @param {readonly string[]} args */
function git(...args) {
  return spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout.trim();
}
