// @ts-check
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { measure } from "./house/measures.mjs";
import { isLibraryEntry, parseFolder } from "./house/syntax.mjs";
import { knownWays, runWays } from "./house/ways.mjs";
import { root } from "./ready.mjs";

/**
 * Prints measures of the source of all packages, and the files that a request passes, recorded in real calls. The report is for
 * reviewers: no figure is a limit, and it never fails.
 *
 * Flags: `--since REV` also prints the difference to a commit; without it, to the last release, if there is one. `--json` prints
 * everything as JSON, `--list` also prints the places behind the figures.
 *
 * @typedef {import("./house/measures.mjs").Measures} Measures
 * @typedef {import("./house/ways.mjs").Way} Way
 */
const revision = argumentOf("--since") ?? lastRelease();
const now = measurePackages(root);
const before = revision === undefined ? new Map() : measureRevision(revision);
const ways = runWays(root);

if (process.argv.includes("--json")) print(JSON.stringify({ packages: Object.fromEntries(now), ways }, undefined, 2));
else report();

function report() {
  if (revision !== undefined) print(`In parentheses: the difference to ${revision}.`);
  printTable();
  print("");
  print(
    "Ways of a request: one warm call each. The stack is taken in the tool's handler, or where the request leaves.",
  );
  print("Callers before a callback or an `await` are joined from the stacks at which the continuations were made;");
  print("V8 alone (`at async` frames) would show the figures in parentheses. Reading node:http loses the part before.");
  for (const { key, title, files, calls, touched } of knownWays) {
    const captured = ways[key];
    print("");
    if (!captured || "error" in captured) print(`${title}\n  could not be run: ${captured?.error}`);
    else if (touched !== undefined) printTouched(title, captured, touched);
    else
      printWay(title, captured, files === undefined ? `at most ${calls} calls` : `at most ${files} files, none twice`);
  }
  if (process.argv.includes("--list")) for (const [name, measures] of now) printLists(name, measures);
}

function printTable() {
  const columns = [...now].map(([name, measures]) => {
    const old = before.has(name) ? rowsOf(before.get(name)) : [];
    return [name, ...rowsOf(measures).map(([, figure], row) => withDifference(figure, old[row]?.[1]))];
  });
  const [first] = now.values();
  const names = ["", ...(first ? rowsOf(first) : []).map(([name]) => name)];
  const widths = columns.map((column) => Math.max(...column.map((text) => text.length)));
  const nameWidth = Math.max(...names.map((name) => name.length));
  for (const [row, name] of names.entries())
    print([name.padEnd(nameWidth), ...columns.map((column, at) => column[row]?.padStart(widths[at] ?? 0))].join("  "));
}

/**
 * Returns the rows of the table: a name and a figure.
 *
 * @param {Measures} m
 */
function rowsOf(m) {
  return /** @type {const} */ ([
    ["files", m.files],
    ["lines", m.lines],
    ["lines of code, without comments", m.codeLines],
    ["largest flat folder", m.largestFolder.files],
    ["functions of 2 lines or more per 1,000 lines", m.functionsPerThousand],
    ["lines of a function, median", m.medianFunction],
    ["lines of a function, 90th percentile", m.longestTenth],
    ["private functions called once, %", m.calledOnceShare],
    ["files with one importer, %", m.oneImporterShare],
    ["import()", m.lazyImports],
    ["circles of files, types and import() included", m.circles.length],
    ["files of the largest circle", m.circles[0]?.length ?? 0],
    ["names that are a participle, adverb or preposition, %", m.bareNamesShare],
    ["casts per 1,000 lines", m.castsPerThousand],
    ["any per 1,000 lines", m.anyPerThousand],
  ]);
}

/** @param {number} figure @param {number | undefined} old */
function withDifference(figure, old) {
  const difference = Math.round((figure - (old ?? figure)) * 10) / 10;
  return difference === 0 ? `${figure}` : `${figure} (${difference > 0 ? "+" : ""}${difference})`;
}

/** @param {string} title @param {Way} way @param {string} aim */
function printWay(title, { spine, shownAtEnd, touched }, aim) {
  const functions = touched.reduce((total, file) => total + file.functions, 0);
  print(title);
  print(
    `  spine: ${spine.files} files, ${spine.calls} calls, ${spine.reentries} re-entries ` +
      `(${shownAtEnd.files}, ${shownAtEnd.calls}, ${shownAtEnd.reentries}); aim: ${aim}`,
  );
  print(`  everything that ran: ${touched.length} files, ${functions} functions`);
  const width = Math.max(...spine.steps.map(({ file }) => file.length));
  for (const { file, calls, isReentry } of spine.steps)
    print(`    ${isReentry ? "again" : "     "} ${file.padEnd(width)}  ${calls.join(" > ")}`);
}

/**
 * Prints how many files of each package ran.
 *
 * @param {string} title @param {Way} way @param {number} maximum
 */
function printTouched(title, { touched }, maximum) {
  const names = touched.map(({ file }) => /^(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  print(`${title}\n  everything that ran: ${touched.length} files; aim: at most ${maximum}`);
  for (const name of new Set(names)) print(`    ${name}: ${names.filter((other) => other === name).length}`);
  if (process.argv.includes("--list")) for (const { file, functions } of touched) print(`      ${file} (${functions})`);
}

/** @param {string} name @param {Measures} measures */
function printLists(name, { circles, bareNames, oneImporter, unusedExports, longFunctions, manyParameters }) {
  const lists = { oneImporter, unusedExports, longFunctions, manyParameters, bareNames };
  for (const [title, places] of Object.entries({ circles: circles.map((files) => files.join(" ")), ...lists })) {
    print(`\n${name}, ${title}:`);
    for (const place of places) print(`  ${place}`);
  }
}

/**
 * Measures each package of a work tree.
 *
 * @param {string} folder
 * @returns {Map<string, Measures>}
 */
function measurePackages(folder) {
  const packages = path.join(folder, "packages");
  const names = readdirSync(packages).filter((name) => existsSync(path.join(packages, name, "src")));
  return new Map(
    names.map((name) => [
      name,
      measure(
        parseFolder(path.join(packages, name, "src")),
        name === "mcparley" ? isLibraryEntry : (file) => !file.includes("/"),
      ),
    ]),
  );
}

/** @param {string} commit */
function measureRevision(commit) {
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-house-"));
  try {
    const archive = path.join(folder, "packages.tar");
    execFileSync("git", ["archive", "--output", archive, commit, "packages"], { cwd: root });
    execFileSync("tar", ["-xf", "packages.tar"], { cwd: folder });
    return measurePackages(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the tag of the last release. Undefined if there is none. */
function lastRelease() {
  const tags = execFileSync("git", ["tag", "--merged", "HEAD", "--list", "v*", "--sort", "-v:refname"], { cwd: root });
  return tags.toString().split("\n")[0] || undefined;
}

/** @param {string} name */
function argumentOf(name) {
  const index = process.argv.indexOf(name);
  return index === -1 ? undefined : process.argv[index + 1];
}

/** @param {string} line */
function print(line) {
  process.stdout.write(`${line}\n`);
}
