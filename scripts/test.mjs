// @ts-check
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { makeReady, root } from "./ready.mjs";

makeReady();

const bin = (/** @type {string} */ file) => path.join(root, "node_modules", file);

/** The file to which the test runner writes its counts. */
const counts = path.join(root, "node_modules", ".mcparley", "counts.json");

/** What `npm test` consists of, the quickest first. */
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
  {
    name: "tests",
    file: bin("vitest/vitest.mjs"),
    args: ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${counts}`, ...process.argv.slice(2)],
  },
];

for (const { name, file, args } of steps) {
  const started = Date.now();
  const { status } = spawnSync(process.execPath, [file, ...args], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  if (status !== 0) {
    process.stderr.write(`\n${name}: failed after ${seconds} s\n`);
    process.exit(1);
  }
  process.stdout.write(`${name}: ok (${seconds} s)\n`);
}

const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(counts, "utf8"));
process.stdout.write(`\n${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped\n`);
