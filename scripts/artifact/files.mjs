// @ts-check
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { declaredEntries, unreachable } from "../declarations.mjs";
import { shippedGuides } from "../guides.mjs";
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

/** Checks that a package packs the current guides. @param {Packed} packed @param {Checks} checks */
export function checkGuides({ name, folder, files }, checks) {
  const guides = shippedGuides(name);
  const packed = files.flatMap((file) => (file.startsWith("docs/") ? [file.slice("docs/".length)] : []));
  const missing = [...guides.keys()].filter((file) => !packed.includes(file));
  checks.check(`${name} packs all guides`, missing.length === 0, missing.join(", "));
  const stale = packed.filter(
    (file) => readFileSync(path.join(root, folder, "docs", file), "utf8") !== guides.get(file),
  );
  checks.check(`${name} packs the current text of the guides`, stale.length === 0, stale.join(", "));
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
