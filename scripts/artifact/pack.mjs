// @ts-check
import path from "node:path";
import { npm } from "../npm.mjs";
import { publishedPackages } from "../packages.mjs";
import { root } from "../ready.mjs";

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
    const out = npm(["pack", "--json", "--pack-destination", folder], {
      cwd: path.join(root, published.folder),
      quiet: true,
    });
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
