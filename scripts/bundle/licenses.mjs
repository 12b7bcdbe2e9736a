// @ts-check
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";

/**
 * Returns the licenses of the packages that modules of a bundle belong to, as one text.
 *
 * @param {readonly string[]} modules the paths of the modules
 */
export function licensesOf(modules) {
  const folders = new Set(modules.flatMap((file) => packageFolder(file) ?? []));
  const packages = [...folders].toSorted().map((folder) => ({ folder, manifest: manifestOf(folder) }));
  const texts = packages.map(({ folder, manifest }) => {
    const { name, version, license } = manifest;
    return [`${name} ${version}, license ${license}`, licenseIn(folder)].filter(Boolean).join("\n\n");
  });
  // The packages under this license name its address. The license itself requires a copy.
  const needsCopy = packages.some(({ manifest }) => manifest.license === "Apache-2.0");
  const copies = needsCopy ? [readFileSync(new URL("apache-2.0.txt", import.meta.url), "utf8").trim()] : [];
  const head = "The file beside this one contains parts of these packages, bundled and minified.";
  return `${[head, ...texts, ...copies].join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

/**
 * Returns the folder of the package that a module belongs to, or undefined for a module of this repository.
 *
 * @param {string} file
 */
function packageFolder(file) {
  const [, folder] = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(file) ?? [];
  return folder;
}

/**
 * @param {string} folder
 * @returns {{ name: string; version: string; license: string }}
 */
function manifestOf(folder) {
  return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
}

/**
 * Returns the text of a package's license. Some packages of a repository have none of their own.
 *
 * @param {string} folder
 */
function licenseIn(folder) {
  const file = readdirSync(folder).find((name) => /^licen[cs]e(?:\.(?:md|txt))?$/i.test(name));
  return file === undefined ? "" : readFileSync(path.join(folder, file), "utf8").trim();
}
