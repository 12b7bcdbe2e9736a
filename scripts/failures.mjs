// @ts-check
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./ready.mjs";

/**
 * Lists the failures of the last runs of the suites again, at the end of a long log. `node scripts/failures.mjs` prints them.
 */

const folder = path.join(root, "node_modules", ".mcparley");

/** The file to which the test runner writes its report. */
export const testReport = path.join(folder, "tests.json");

const conformanceReport = path.join(folder, "conformance.json");

/**
 * The part of the test runner's report that is used here.
 *
 * @typedef {object} TestReport
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {{ name: string; status: string; message: string; assertionResults: { status: string; title: string; ancestorTitles: string[]; failureMessages?: string[] }[] }[]} testResults
 */

/** Deletes the report of the last test run. If the next run ends early, its report is missing instead of old. */
export function forgetTests() {
  rmSync(testReport, { force: true });
}

/** Stores the failures of a conformance run. @param {readonly string[]} failures */
export function recordConformance(failures) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(conformanceReport, JSON.stringify(failures));
}

/** Returns the failed tests of the last run, and the files that could not be run. */
export function failedTests() {
  if (!existsSync(testReport)) return ["the test run ended before it wrote its report"];
  return failuresIn(read(testReport));
}

/** Returns the line with the counts of the last test run. */
export function testCounts() {
  return existsSync(testReport) ? countsIn(read(testReport)) : "0 passed, 1 failed, 0 skipped";
}

/** Returns failed tests as `file > suite > test`, and files that could not be run with their error. @param {TestReport} report */
export function failuresIn({ testResults }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = path.relative(root, name).replaceAll(path.sep, "/");
    const failed = assertionResults.filter((test) => test.status === "failed");
    if (failed.length === 0 && status === "failed") return [`${file}: ${message.trim().split("\n")[0] ?? ""}`];
    return failed.map(({ ancestorTitles, title }) => [file, ...ancestorTitles, title].join(" > "));
  });
}

/** Returns the first lines of the error of each failed test, for a log of which only the end is kept. @param {TestReport} report */
export function errorsIn({ testResults }) {
  return testResults.flatMap(({ assertionResults }) =>
    assertionResults.flatMap(({ status, title, failureMessages = [] }) =>
      status === "failed" ? [`${title}\n${firstLines(failureMessages.join("\n"))}`] : [],
    ),
  );
}

/** @param {string} text */
function firstLines(text) {
  const lines = text.split("\n").slice(0, 12);
  return lines.map((line) => `    ${line.slice(0, 300)}`).join("\n");
}

/** Returns the counts in one line. A file that could not be run counts as one failed test. @param {TestReport} report */
export function countsIn(report) {
  const { numPassedTests, numFailedTests, numPendingTests } = report;
  const failed = Math.max(numFailedTests, failuresIn(report).length);
  return `${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped`;
}

/** @param {string} file @returns {TestReport} */
function read(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  /** @type {string[]} */
  const scenarios = existsSync(conformanceReport) ? JSON.parse(readFileSync(conformanceReport, "utf8")) : [];
  if (existsSync(testReport)) for (const error of errorsIn(read(testReport))) process.stdout.write(`${error}\n`);
  for (const name of failedTests()) process.stdout.write(`failed: ${name}\n`);
  for (const name of scenarios) process.stdout.write(`failed: conformance ${name}\n`);
  process.stdout.write(`${testCounts()}\n`);
}
