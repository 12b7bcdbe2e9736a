// @ts-check
import path from "node:path";
import { anchors } from "./house/anchors.mjs";
import { measure } from "./house/measures.mjs";
import { isLibraryEntry, parseFolder } from "./house/syntax.mjs";
import { knownWays, runWays } from "./house/ways.mjs";
import { root } from "./ready.mjs";

/**
 * Prints measures of the library's source beside those of other codebases, and the files that a request passes, recorded in
 * real calls. The report is for reviewers: no figure is a limit, and it never fails.
 *
 * Flags: `--json` prints everything as JSON, `--list` also prints the places behind the figures.
 *
 * @typedef {import("./house/anchors.mjs").Anchor} Anchor
 * @typedef {import("./house/ways.mjs").Way} Way
 */
const measures = measure(parseFolder(path.join(root, "packages/mcparley/src")), isLibraryEntry);
const ways = runWays(root);
const way = (/** @type {string} */ key) => /** @type {Partial<Way>} */ (ways[key] ?? {});

if (process.argv.includes("--json")) print(JSON.stringify({ measures, ways, anchors }, undefined, 2));
else report();

function report() {
  printTable();
  print("");
  print(
    "Ways of a request: one warm call each. The stack is taken in the tool's handler, or where the request leaves.",
  );
  print("Callers before a callback or an `await` are joined from the stacks at which the continuations were made;");
  print("V8 alone (`at async` frames) would show the figures in parentheses. Reading node:http loses the part before.");
  for (const { key, title, files, calls } of knownWays) {
    const captured = ways[key];
    print("");
    if (!captured || "error" in captured) print(`${title}\n  could not be run: ${captured?.error}`);
    else
      printWay(title, captured, files === undefined ? `at most ${calls} calls` : `at most ${files} files, none twice`);
  }
  if (process.argv.includes("--list")) printLists();
}

function printTable() {
  const m = measures;
  const { touched } = way("httpModern");
  const functions = (touched ?? []).reduce((total, file) => total + file.functions, 0);
  /** @type {[string, string, Anchor][]} */
  const rows = [
    ["files / lines", `${m.files} / ${(m.lines / 1000).toFixed(1)}k`, anchors.size],
    ["lines of code, without comments", `${(m.codeLines / 1000).toFixed(1)}k`, anchors.none],
    ["median file", `${m.medianFile}`, anchors.medianFile],
    [`largest flat folder (${m.largestFolder.name})`, `${m.largestFolder.files}`, anchors.largestFolder],
    ["functions per 1,000 lines (2 lines or more)", `${m.functionsPerThousand}`, anchors.functions],
    ["private functions called once", `${m.calledOnceShare} %`, anchors.calledOnce],
    ["classes", `${m.classes}`, anchors.classes],
    ["casts / any per 1,000 lines", `${m.castsPerThousand} / ${m.anyPerThousand}`, anchors.casts],
    ["files with exactly one importer", `${m.oneImporter.length}`, anchors.oneImporter],
    ["exports used nowhere else", `${m.unusedExports.length}`, anchors.unusedExports],
    ["docstring examples on public names", `${m.examples}`, anchors.examples],
    ["lazy imports / own modules loaded so", `${m.lazyImports} / ${m.lazyModules}`, anchors.none],
    ["functions over 60 lines of code", `${m.longFunctions.length}`, anchors.none],
    ["functions with over three parameters", `${m.manyParameters.length}`, anchors.none],
    ["files / functions of a warm tools/call, HTTP", `${touched?.length} / ${functions}`, anchors.touched],
    ["files of its spine", `${way("httpModern").spine?.files}`, anchors.serverSpine],
    ["nested calls of client callTool, HTTP", `${way("clientHttp").spine?.calls}`, anchors.clientSpine],
  ];
  const heads = ["connect-es", "hono", "jose", "go-sdk", "official v2"];
  const table = [
    ["measure", "here", "suggested", ...heads],
    ...rows.map(([name, figure, { suggested, connectEs, hono, jose, goSdk, officialV2 }]) => {
      return [name, figure, suggested, connectEs, hono, jose, goSdk, officialV2];
    }),
  ];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const [name = "", ...figures] of table)
    print([name.padEnd(widths[0] ?? 0), ...figures.map((text, at) => text.padStart(widths[at + 1] ?? 0))].join("  "));
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

function printLists() {
  const { oneImporter, unusedExports, longFunctions, manyParameters } = measures;
  for (const [title, places] of Object.entries({ oneImporter, unusedExports, longFunctions, manyParameters })) {
    print(`\n${title}:`);
    for (const place of places) print(`  ${place}`);
  }
}

/** @param {string} line */
function print(line) {
  process.stdout.write(`${line}\n`);
}
