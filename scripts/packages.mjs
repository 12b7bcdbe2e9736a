// @ts-check
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { root } from "./ready.mjs";

/**
 * A package that is published: a workspace that is not private.
 *
 * @typedef {object} Package
 * @property {string} name
 * @property {string} version
 * @property {string} folder relative to the repository, with slashes
 * @property {Manifest} manifest
 *
 * @typedef {object} Manifest the members of `package.json` that scripts read
 * @property {string} name
 * @property {string} version
 * @property {string} [description]
 * @property {boolean} [private]
 * @property {Record<string, string | { types: string; default: string }>} [exports]
 * @property {Record<string, string>} [bin]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {string | { url: string }} [repository]
 */

/**
 * Returns the published packages. Each one comes after the packages that it depends on.
 *
 * @returns {Package[]}
 */
export function publishedPackages() {
  const packages = workspaceFolders().flatMap((folder) => {
    const manifest = readManifest(folder);
    return manifest.private ? [] : [{ name: manifest.name, version: manifest.version, folder, manifest }];
  });
  return inOrder(packages);
}

/** @param {string} folder relative to the repository @returns {Manifest} */
export function readManifest(folder) {
  return JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));
}

/** Returns the file name of a package's committed reports: `mcparley-cli` for `@mcparley/cli`. @param {string} name */
export function fileNameOf(name) {
  return name.replace("@", "").replace("/", "-");
}

/** The entry points of a package with their declaration files, relative to its folder. @param {Manifest} manifest */
export function entryPoints({ name, exports = {} }) {
  return Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === "string" ? [] : [{ specifier: path.posix.join(name, subpath), types: target.types }],
  );
}

/** The workspaces of the root manifest. Patterns end with `/*` or have no star. */
function workspaceFolders() {
  const { workspaces } = /** @type {{ workspaces: string[] }} */ (/** @type {unknown} */ (readManifest(".")));
  return workspaces
    .flatMap((pattern) => {
      if (!pattern.endsWith("/*")) return [pattern];
      const parent = pattern.slice(0, -2);
      return readdirSync(path.join(root, parent)).map((name) => `${parent}/${name}`);
    })
    .filter((folder) => existsSync(path.join(root, folder, "package.json")))
    .toSorted();
}

/** @param {Package[]} packages @returns {Package[]} */
function inOrder(packages) {
  const byName = new Map(packages.map((one) => [one.name, one]));
  /** @type {Set<Package>} */
  const ordered = new Set();
  const visit = (/** @type {Package} */ one) => {
    const { dependencies, peerDependencies } = one.manifest;
    for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
      const needed = byName.get(name);
      if (needed && !ordered.has(needed)) visit(needed);
    }
    ordered.add(one);
  };
  for (const one of packages) visit(one);
  return [...ordered];
}
