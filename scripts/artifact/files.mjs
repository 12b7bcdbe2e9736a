// @ts-check
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { declaredEntries, unreachable } from "../declarations.mjs";
import { isExternal, linksIn } from "../../site/scripts/markdown.mjs";
import { shippedTexts } from "../guides.mjs";
import { fileNameOf } from "../packages.mjs";
import { root } from "../ready.mjs";
import { placeholdersIn } from "../release/project.mjs";

/** @typedef {import("./pack.mjs").Packed} Packed */
/** @typedef {import("./checks.mjs").Checks} Checks */

const snapshots = path.join(root, "tests/artifact/files");

/** Checks the files of a tarball. @param {Packed} packed @param {Checks} checks */
export function checkFiles(packed, checks) {
  const { name, files } = packed;
  const own = files.filter((file) => !file.startsWith("templates/"));
  const stray = own.filter((file) => /\.test\.|\.test-d\.|fixtures|\.tsbuildinfo|^src\/.*\.ts$/.test(file));
  checks.check(`${name} packs no tests and no sources`, stray.length === 0, stray.join(", "));
  const maps = files.filter((file) => file.endsWith(".map"));
  checks.check(`${name} packs no source maps`, maps.length === 0, maps.join(", "));
  const missing = ["package.json", "README.md", "LICENSE"].filter((file) => !files.includes(file));
  checks.check(`${name} packs its manifest, README and license`, missing.length === 0, missing.join(", "));
  const texts = files.filter((file) => /\.(md|json|m?[jt]s|ya?ml|cjs)$/.test(file));
  const addresses = texts.flatMap((file) => placeholdersIn(readFileSync(path.join(root, packed.folder, file), "utf8")));
  checks.check(`${name} packs no placeholder of an address`, addresses.length === 0, addresses.join(", "));
  checkDeclarations(packed, checks);
  compareList(packed, checks);
}

/** Writes the file list of a tarball to its snapshot. @param {Packed} packed */
export function writeList({ name, files }) {
  mkdirSync(snapshots, { recursive: true });
  writeFileSync(snapshotOf(name), listOf(files));
}

/** Checks that a package packs the current guides, examples and index. @param {Packed} packed @param {Checks} checks */
export function checkGuides({ name, folder, files }, checks) {
  const texts = shippedTexts(name);
  const packed = files.filter((file) => /^(docs|examples)\/|^llms\.txt$/.test(file));
  const missing = [...texts.keys()].filter((file) => !packed.includes(file));
  checks.check(`${name} packs all guides and examples, and their index`, missing.length === 0, missing.join(", "));
  const stale = packed.filter((file) => readFileSync(path.join(root, folder, file), "utf8") !== texts.get(file));
  checks.check(`${name} packs the current text of them`, stale.length === 0, stale.join(", "));
}

/**
 * Checks that the links of a package lead to files of the package. Those of a template lead to files of a project, or of a package
 * that is installed in it.
 *
 * @param {Packed} packed
 * @param {{ all: readonly Packed[]; checks: Checks }} context
 */
export function checkLinks({ name, folder, files }, { all, checks }) {
  const installed = new Set(all.flatMap(({ name, files }) => files.map((file) => `node_modules/${name}/${file}`)));
  const leadsNowhere = (/** @type {string} */ page, /** @type {string} */ target) => {
    const [file = ""] = target.split("#");
    if (isExternal(target) || file === "" || target.includes("{{")) return false;
    if (page.startsWith("templates/"))
      return !installed.has(file) && !files.some((packed) => packed.replace(/^templates\/[^/]+\//, "") === file);
    return !files.includes(path.posix.join(path.posix.dirname(page), file));
  };
  const dead = files
    .filter((file) => file.endsWith(".md") || file === "llms.txt")
    .flatMap((page) =>
      linksIn(readFileSync(path.join(root, folder, page), "utf8"))
        .filter((target) => leadsNowhere(page, target))
        .map((target) => `${page}: ${target}`),
    );
  checks.check(`${name} links only files that it packs`, dead.length === 0, dead.join(", "));
}

/** @param {Packed} packed @param {Checks} checks */
function checkDeclarations({ name, folder, files }, checks) {
  const entries = declaredEntries(path.join(root, folder));
  const missing = entries.filter((file) => !files.includes(`dist/${file}`));
  checks.check(`${name} packs the declarations of its entry points`, missing.length === 0, missing.join(", "));
  if (entries.length === 0) return;
  const unused = unreachable(path.join(root, folder, "dist"), entries);
  const packed = unused.filter((file) => files.includes(`dist/${file}`));
  checks.check(`${name} packs only declarations that an entry point reaches`, packed.length === 0, packed.join(", "));
}

/** @param {Packed} packed @param {Checks} checks */
function compareList({ name, files }, checks) {
  const what = `${name} packs exactly the files of ${path.relative(root, snapshotOf(name)).split(path.sep).join("/")}`;
  if (!existsSync(snapshotOf(name)))
    return checks.check(what, false, "the list is missing. Run npm run check -- artifact --update");
  const expected = readFileSync(snapshotOf(name), "utf8").trimEnd().split("\n");
  const actual = listOf(files).trimEnd().split("\n");
  const difference = [
    ...without(actual, expected).map((file) => `+ ${file}`),
    ...without(expected, actual).map((file) => `- ${file}`),
  ];
  checks.check(
    what,
    difference.length === 0,
    `\n${difference.join("\n")}\nReview them, and run npm run check -- artifact --update`,
  );
}

/**
 * The lines of a snapshot. The hash in the name of a chunk changes with each line of code, so the list has a placeholder for it.
 * Two chunks of one name are two lines.
 *
 * @param {readonly string[]} files
 */
function listOf(files) {
  const lines = files.map((file) => file.replace(/^(dist\/chunks\/.+)-[\w-]{8}\.js$/, "$1-[hash].js"));
  return `${lines.toSorted().join("\n")}\n`;
}

/** Returns the elements of a list that remain after those of another are taken away one by one. @param {string[]} list @param {string[]} taken */
function without(list, taken) {
  const left = [...taken];
  return list.filter((element) => {
    const index = left.indexOf(element);
    if (index !== -1) left.splice(index, 1);
    return index === -1;
  });
}

/** @param {string} name */
function snapshotOf(name) {
  return path.join(snapshots, `${fileNameOf(name)}.txt`);
}
