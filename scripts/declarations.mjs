// @ts-check
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Finds the declaration files that no entry point of a package reaches, and excludes them from the package.
 *
 * The files are not deleted, because the compiler needs all of them for an incremental build.
 */

const specifiers = /(?:from|import)\s*\(?\s*["'](\.[^"']+)["']/g;

/**
 * Returns the declaration files of a `dist` folder that the entries do not import, directly or through others.
 *
 * @param {string} dist
 * @param {readonly string[]} entries declaration files, relative to `dist`
 */
export function unreachable(dist, entries) {
  const reached = new Set(entries);
  // The set grows while it is walked.
  for (const file of reached) {
    const text = readFileSync(path.join(dist, file), "utf8");
    for (const [, specifier = ""] of text.matchAll(specifiers)) {
      const imported = path.posix.join(path.posix.dirname(file), specifier);
      reached.add(imported.replace(/\.[jt]s$/, ".d.ts"));
    }
  }
  return declarations(dist).filter((file) => !reached.has(file));
}

/**
 * Writes the `.npmignore` of a `dist` folder. npm reads it also if the package has a list of `files`.
 *
 * @param {string} dist
 * @param {readonly string[]} entries declaration files, relative to `dist`
 */
export function excludeUnreachable(dist, entries) {
  const files = unreachable(dist, entries);
  writeFileSync(path.join(dist, ".npmignore"), files.map((file) => `/${file}\n`).join(""));
}

/** @param {string} dist */
function declarations(dist) {
  return readdirSync(dist, { recursive: true, encoding: "utf8" })
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => file.endsWith(".d.ts"))
    .toSorted();
}

/**
 * The declaration files of the subpaths that a package exports, relative to its `dist` folder.
 *
 * @param {string} folder the folder of the package
 */
export function declaredEntries(folder) {
  const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const targets = /** @type {(string | { types: string })[]} */ (Object.values(manifest.exports ?? {}));
  return targets.flatMap((target) => (typeof target === "string" ? [] : [target.types.replace("./dist/", "")]));
}
