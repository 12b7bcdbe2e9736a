// @ts-check
import { spawnSync } from "node:child_process";
import path from "node:path";
import { failedTests, forgetTests, testArguments, testCounts } from "./failures.mjs";
import { makeReady, root } from "./ready.mjs";

makeReady();

const bin = (/** @type {string} */ file) => path.join(root, "node_modules", file);

/** The steps of `npm test`, the quickest first. All of them are run, even if one fails. */
const steps = [
  { name: "types", file: bin("typescript/bin/tsc"), args: ["-b"] },
  {
    name: "types without Node's",
    file: bin("typescript/bin/tsc"),
    args: ["-p", "packages/mcparley/tsconfig.web.json"],
  },
  { name: "types of tests and examples", file: bin("typescript/bin/tsc"), args: ["-p", "tsconfig.test.json"] },
  { name: "lint", file: bin("oxlint/bin/oxlint"), args: ["--type-aware", "--deny-warnings"] },
  { name: "format", file: bin("oxfmt/bin/oxfmt"), args: ["--check"] },
  { name: "nothing unused", file: bin("knip/bin/knip.js"), args: ["--no-progress"] },
  { name: "tests", file: bin("vitest/vitest.mjs"), args: testArguments("tests", process.argv.slice(2)) },
];

forgetTests("tests");
/** @type {string[]} */
const failed = [];
for (const { name, file, args } of steps) {
  const started = Date.now();
  const { status } = spawnSync(process.execPath, [file, ...args], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${name}: ${status === 0 ? "ok" : "failed"} (${seconds} s)\n`);
  if (status !== 0) failed.push(name);
}

// The last lines name the failures, because the beginning of a long log may be cut off.
process.stdout.write("\n");
for (const name of failed) process.stdout.write(`failed: ${name}\n`);
for (const name of failedTests(["tests"])) process.stdout.write(`failed: ${name}\n`);
process.stdout.write(`${testCounts(["tests"])}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
