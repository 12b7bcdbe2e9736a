// @ts-check
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { npm } from "../npm.mjs";
import { publishedPackages, readManifest } from "../packages.mjs";
import { root } from "../ready.mjs";
import { projectMembers, publishedReadme, repository } from "../release/project.mjs";

/**
 * A published package and its tarball.
 *
 * @typedef {import("../packages.mjs").Package & {
 *   file: string;
 *   files: string[];
 *   packedSize: number;
 *   unpackedSize: number;
 * }} Packed
 */

/** Packs every published package into a folder. @param {string} folder @returns {Packed[]} */
export function packAll(folder) {
  return publishedPackages().map((published) => {
    const copy = copyForRelease(published, { into: path.join(folder, "packed"), address: repository });
    const out = npm(["pack", "--json", "--pack-destination", folder], { cwd: copy, quiet: true });
    const [packed] = JSON.parse(out);
    return {
      ...published,
      file: path.join(folder, packed.filename),
      files: packed.files.map((/** @type {{ path: string }} */ file) => file.path).toSorted(),
      packedSize: packed.size,
      unpackedSize: packed.unpackedSize,
    };
  });
}

/**
 * Copies a package, and writes the address of the repository into the manifest and the README of the copy. Returns its folder.
 *
 * @param {import("../packages.mjs").Package} published
 * @param {{ into: string; address: string | undefined }} options
 */
export function copyForRelease({ name, version, folder }, { into, address }) {
  const copy = path.join(into, name);
  const source = path.join(root, folder);
  cpSync(source, copy, { recursive: true, filter: (file) => path.relative(source, file) !== "node_modules" });
  const manifest = { ...readManifest(folder), ...projectMembers(folder, address) };
  writeFileSync(path.join(copy, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const readme = readFileSync(path.join(source, "README.md"), "utf8");
  writeFileSync(path.join(copy, "README.md"), publishedReadme(readme, { version, address }));
  return copy;
}

/**
 * Returns the tarballs that a user of a package installs: its own, and those of the packages of this repository that it depends on.
 * Optional peers are not among them.
 *
 * @param {readonly Packed[]} all
 * @param {string} name
 * @returns {string[]}
 */
export function tarballsOf(all, name) {
  const own = all.find((packed) => packed.name === name);
  if (!own) return [];
  const needed = Object.keys(own.manifest.dependencies ?? {}).flatMap((dependency) => tarballsOf(all, dependency));
  return [...new Set([own.file, ...needed])];
}
