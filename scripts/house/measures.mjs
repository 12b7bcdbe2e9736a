// @ts-check
import path from "node:path";
import { linesOfCode, listFunctions } from "./functions.mjs";
import { publicNames } from "./public-names.mjs";
import { walk } from "./syntax.mjs";

/**
 * @typedef {import("./syntax.mjs").Source} Source
 * @typedef {ReturnType<typeof measure>} Measures
 */

/**
 * Measures a folder of source files.
 *
 * @param {readonly Source[]} sources without tests
 * @param {(name: string) => boolean} isEntry whether a file is used from outside of the folder
 */
export function measure(sources, isEntry) {
  const lengths = sources.map(({ text }) => text.split("\n").length - (text.endsWith("\n") ? 1 : 0));
  const lines = sum(lengths);
  const perThousand = (/** @type {number} */ count) => round((count * 1000) / Math.max(1, lines));
  const functions = sources.flatMap((source) =>
    listFunctions(source).map((facts) => ({ ...facts, file: source.name })),
  );
  // A callback on one line is read as part of its statement, so only functions of two lines or more are counted.
  const counted = functions.filter(({ span }) => span > 1);
  const named = functions.filter(({ isPrivate }) => isPrivate);
  const once = named.filter(({ uses }) => uses === 1);
  const nodes = countNodes(sources);
  const flattest = largestFolder(sources);
  return {
    files: sources.length,
    lines,
    codeLines: sum(sources.map((source) => linesOfCode(source).length)),
    medianFile: median(lengths),
    largestFolder: flattest,
    functions: counted.length,
    functionsPerThousand: perThousand(counted.length),
    privateFunctions: named.length,
    calledOnce: once.length,
    calledOnceShare: round((once.length * 100) / Math.max(1, named.length)),
    classes: nodes.classes,
    casts: nodes.casts,
    castsPerThousand: perThousand(nodes.casts),
    anyPerThousand: perThousand(nodes.anys),
    oneImporter: filesWithOneImporter(sources, isEntry),
    unusedExports: exportsUsedNowhereElse(sources, isEntry),
    examples: publicNames(sources, isEntry).reduce((total, { doc }) => total + doc.split("@example").length - 1, 0),
    lazyImports: nodes.lazy,
    lazyModules: new Set(sources.flatMap((source) => importsOfKind(source, "lazy"))).size,
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
  const counts = { classes: 0, casts: 0, anys: 0, lazy: 0 };
  for (const { program } of sources) {
    walk(program, (node) => {
      if (/^Class(Declaration|Expression)$/.test(node.type)) counts.classes++;
      else if (node.type === "TSAnyKeyword") counts.anys++;
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

/** @param {Source} source @param {"lazy"} kind */
function importsOfKind({ imports }, kind) {
  return imports.filter((one) => one.kind === kind && one.from.endsWith(".ts")).map(({ from }) => from);
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

/** @param {readonly number[]} values */
function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle] ?? 0;
  return Math.round(((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2);
}
