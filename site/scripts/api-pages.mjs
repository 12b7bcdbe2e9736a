// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./pages.mjs";

/**
 * A page of the API reference: one entry point of a package.
 *
 * @typedef {object} ApiPage
 * @property {string} package its folder in `packages`
 * @property {string} name the specifier that users import: `mcparley/server`
 * @property {string} path path on the site: `api/server.md`
 * @property {string} source path of its source file from the root of the repository
 */

/** The entry points of the packages that programs import, in the order of their manifests. @type {readonly ApiPage[]} */
export const apiPages = ["mcparley", "redis", "config", "host"].flatMap(entryPoints);

/** @param {string} folder a folder of `packages` @returns {ApiPage[]} */
function entryPoints(folder) {
  const manifest = JSON.parse(readFileSync(path.join(root, "packages", folder, "package.json"), "utf8"));
  return Object.entries(manifest.exports).flatMap(([key, conditions]) => {
    if (key === "./package.json") return [];
    const name = path.posix.join(manifest.name, key);
    const source = `packages/${folder}/${conditions.default.replace("./dist/", "src/").replace(/\.js$/, ".ts")}`;
    return [{ package: folder, name, path: `api/${path.posix.basename(name)}.md`, source }];
  });
}
