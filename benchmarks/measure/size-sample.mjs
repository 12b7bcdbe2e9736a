// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { root } from "../../scripts/ready.mjs";
import { helloOf, own } from "../implementations/implementations.mjs";

/** @import { Implementation, Sample } from "../types.ts" */

const kilo = 1_000;

/** Measures the packages of a server on stdio, with all dependencies. @param {Implementation} implementation @param {string} peers @returns {Sample} */
export function installSample({ isPeer, packages = [] }, peers) {
  const from = isPeer ? peers : path.join(root, "benchmarks");
  /** @type {Set<string>} */
  const folders = new Set();
  for (const name of packages) gather(name, from, folders);
  const sizes = [...folders].map((folder) => (isOurs(folder) ? packedSize(folder) : sizeOf(folder)));
  return { installed: sizes.reduce((sum, size) => sum + size, 0) / kilo, packages: folders.size };
}

/** @param {string} folder */
function isOurs(folder) {
  return folder === realpathSync(path.join(root, "packages", own));
}

/** @param {string} name @param {string} from @param {Set<string>} folders */
function gather(name, from, folders) {
  const folder = findPackage(name, from);
  if (folder === undefined || folders.has(folder)) return;
  folders.add(folder);
  const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  const needed = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional);
  for (const dependency of [...Object.keys(dependencies), ...needed]) gather(dependency, folder, folders);
}

/** Where Node finds a package. @param {string} name @param {string} from @returns {string | undefined} */
function findPackage(name, from) {
  const folder = path.join(from, "node_modules", name);
  if (existsSync(path.join(folder, "package.json"))) return realpathSync(folder);
  const above = path.dirname(from);
  return above === from ? undefined : findPackage(name, above);
}

/** @param {string} folder @returns {number} */
function sizeOf(folder) {
  let size = 0;
  for (const name of readdirSync(folder)) {
    if (name === "node_modules") continue;
    const full = path.join(folder, name);
    const stat = lstatSync(full);
    size += stat.isDirectory() ? sizeOf(full) : stat.size;
  }
  return size;
}

/** The size of what would be published of a package. @param {string} folder @returns {number} */
function packedSize(folder) {
  const shell = process.platform === "win32";
  const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json"], { cwd: folder, encoding: "utf8", shell });
  return JSON.parse(stdout)[0].unpackedSize;
}

/** The least server on stdio, in one file. @param {Implementation} implementation @param {string} peers @returns {Promise<Sample>} */
export async function bundleSample(implementation, peers) {
  const result = await build({
    entryPoints: [helloOf(implementation, peers)],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20",
    // Optional packages that a dependency of FastMCP imports. They are not installed.
    external: ["effect", "sury"],
    logLevel: "silent",
  });
  const [file] = result.outputFiles;
  if (!file) throw new Error("esbuild returned no file.");
  return { gzip: gzipSync(file.contents).length / kilo, minified: file.contents.length / kilo };
}
