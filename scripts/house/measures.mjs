// @ts-check
import path from "node:path";
import { circlesOfFiles } from "./circles.mjs";
import { linesOfCode, listFunctions } from "./functions.mjs";
import { declaredNames, isBare } from "./names.mjs";
import { walk } from "./syntax.mjs";

/**
 * @typedef {import("./syntax.mjs").Source} Source
 * @typedef {ReturnType<typeof measure>} Measures
 */

/**
 * Measures a folder of source files. The lists name the places behind the figures.
 *
 * @param {readonly Source[]} sources without tests
 * @param {(name: string) => boolean} isEntry whether a file is used from outside of the folder
 */
export function measure(sources, isEntry) {
  const lines = sum(sources.map(({ text }) => text.split("\n").length - (text.endsWith("\n") ? 1 : 0)));
  const perThousand = (/** @type {number} */ count) => round((count * 1000) / Math.max(1, lines));
  const functions = sources.flatMap((source) =>
    listFunctions(source).map((facts) => ({ ...facts, file: source.name })),
  );
  // A callback on one line is read as part of its statement, so only functions of two lines or more are counted.
  const counted = functions.filter(({ span }) => span > 1);
  const spans = counted.map(({ span }) => span).toSorted((one, other) => one - other);
  const named = functions.filter(({ isPrivate }) => isPrivate);
  const nodes = countNodes(sources);
  const oneImporter = filesWithOneImporter(sources, isEntry);
  const names = sources.flatMap((source) => declaredNames(source).map((name) => ({ name, file: source.name })));
  const bareNames = names.filter(({ name }) => isBare(name)).map(({ name, file }) => `${file} ${name}`);
  return {
    files: sources.length,
    lines,
    codeLines: sum(sources.map((source) => linesOfCode(source).length)),
    largestFolder: largestFolder(sources),
    functionsPerThousand: perThousand(counted.length),
    medianFunction: spans[spans.length >> 1] ?? 0,
    longestTenth: spans[Math.floor(spans.length * 0.9)] ?? 0,
    calledOnceShare: share(named.filter(({ uses }) => uses === 1).length, named.length),
    castsPerThousand: perThousand(nodes.casts),
    anyPerThousand: perThousand(nodes.anys),
    lazyImports: nodes.lazy,
    oneImporterShare: share(oneImporter.length, sources.length),
    bareNamesShare: share(bareNames.length, names.length),
    circles: circlesOfFiles(sources),
    oneImporter,
    bareNames,
    unusedExports: exportsUsedNowhereElse(sources, isEntry),
    longFunctions: functions.filter((facts) => facts.lines > 60).map(describe),
    manyParameters: functions.filter(({ parameters }) => parameters > 3).map(describe),
  };
}

/** @param {{ file: string; line: number; name: string }} facts */
function describe({ file, line, name }) {
  return `${file}:${line}${name === "" ? "" : ` ${name}`}`;
}

/** @param {readonly Source[]} sources */
function countNodes(sources) {
  const counts = { casts: 0, anys: 0, lazy: 0 };
  for (const { program } of sources) {
    walk(program, (node) => {
      if (node.type === "TSAnyKeyword") counts.anys++;
      else if (node.type === "ImportExpression") counts.lazy++;
      else if (/^TS(AsExpression|TypeAssertion)$/.test(node.type) && !isConst(node)) counts.casts++;
    });
  }
  return counts;
}

/** @param {import("./syntax.mjs").Node} node whether it is `as const` */
function isConst({ typeAnnotation }) {
  return typeAnnotation?.type === "TSTypeReference" && typeAnnotation.typeName.name === "const";
}

/** @param {readonly Source[]} sources */
function largestFolder(sources) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { name } of sources) {
    const folder = path.posix.dirname(name);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const [name = "", files = 0] = [...counts].toSorted((one, other) => other[1] - one[1])[0] ?? [];
  return { name, files };
}

/** @param {readonly Source[]} sources @param {(name: string) => boolean} isEntry */
function filesWithOneImporter(sources, isEntry) {
  /** @type {Map<string, Set<string>>} */
  const importers = new Map();
  for (const { name, imports } of sources) {
    for (const { from } of imports) importers.set(from, (importers.get(from) ?? new Set()).add(name));
  }
  return sources.map(({ name }) => name).filter((name) => importers.get(name)?.size === 1 && !isEntry(name));
}

/**
 * Exports that no other file of the source imports. Tests do not count as users.
 *
 * @param {readonly Source[]} sources @param {(name: string) => boolean} isEntry
 */
function exportsUsedNowhereElse(sources, isEntry) {
  const used = new Set();
  const usedWhole = new Set();
  for (const { imports, exports } of sources) {
    for (const { from, names } of imports) {
      if (names === "all") usedWhole.add(from);
      else for (const name of names) used.add(`${from} ${name}`);
    }
    for (const { name, from } of exports) if (name === "*" && from) usedWhole.add(from);
  }
  return sources
    .filter(({ name }) => !isEntry(name) && !usedWhole.has(name))
    .flatMap(({ name, exports }) => exports.map((exported) => `${name} ${exported.name}`))
    .filter((exported) => !used.has(exported));
}

const sum = (/** @type {readonly number[]} */ values) => values.reduce((total, value) => total + value, 0);
const round = (/** @type {number} */ value) => Math.round(value * 10) / 10;
const share = (/** @type {number} */ count, /** @type {number} */ total) => round((count * 100) / Math.max(1, total));
