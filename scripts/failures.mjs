// @ts-check
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./ready.mjs";

/**
 * Lists the failures of the last runs of the suites again, at the end of a long log. `node scripts/failures.mjs` prints them.
 */

const folder = path.join(root, "node_modules", ".mcparley");

/** The suites of the test runner: `npm test` and `npm run check -- programs`. @typedef {"tests" | "programs"} Suite */

/** The file to which the test runner writes the report of a suite. @param {Suite} suite */
function testReport(suite) {
  return path.join(folder, `${suite}.json`);
}

/** The projects of `vitest.config.ts` by their suite. @type {Readonly<Record<Suite, readonly string[]>>} */
const projects = { tests: ["own process", "shared process"], programs: ["programs", "programs, own process"] };

/** Returns the arguments of the test runner for a suite. @param {Suite} suite */
export function testArguments(suite) {
  const chosen = projects[suite].map((name) => `--project=${name}`);
  return ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${testReport(suite)}`, ...chosen];
}

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

/** Deletes the report of the last run of a suite. If the next run ends early, its report is missing instead of old. @param {Suite} suite */
export function forgetTests(suite) {
  rmSync(testReport(suite), { force: true });
}

/** Stores the failures of a conformance run. @param {readonly string[]} failures */
export function recordConformance(failures) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(conformanceReport, JSON.stringify(failures));
}

/** Returns the failed tests of the last runs of suites, and the files that could not be run. @param {readonly Suite[]} suites */
export function failedTests(suites) {
  return suites.flatMap((suite) => {
    const report = readReport(suite);
    return report ? failuresIn(report) : [`the suite "${suite}" ended before it wrote its report`];
  });
}

/** Returns the line with the counts of the last runs of suites. A suite without a report counts as one failed test. @param {readonly Suite[]} suites */
export function testCounts(suites) {
  return countsIn(suites.map((suite) => readReport(suite)));
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

/** Returns the counts in one line. A file that could not be run, and a missing report, count as one failed test. @param {readonly (TestReport | undefined)[]} reports */
export function countsIn(reports) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const report of reports) {
    counts.passed += report?.numPassedTests ?? 0;
    counts.failed += report ? Math.max(report.numFailedTests, failuresIn(report).length) : 1;
    counts.skipped += report?.numPendingTests ?? 0;
  }
  return `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
}

/** @param {Suite} suite @returns {TestReport | undefined} */
function readReport(suite) {
  const file = testReport(suite);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  /** @type {string[]} */
  const scenarios = existsSync(conformanceReport) ? JSON.parse(readFileSync(conformanceReport, "utf8")) : [];
  /** @type {readonly Suite[]} */
  const suites = ["tests", "programs"];
  for (const suite of suites) {
    const report = readReport(suite);
    if (report) for (const error of errorsIn(report)) process.stdout.write(`${error}\n`);
  }
  for (const name of failedTests(suites)) process.stdout.write(`failed: ${name}\n`);
  for (const name of scenarios) process.stdout.write(`failed: conformance ${name}\n`);
  process.stdout.write(`${testCounts(suites)}\n`);
}
