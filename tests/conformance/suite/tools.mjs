// @ts-check
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The minimum version of Node for the suites. The tested programs run on the current Node. */
const neededNode = 22;
const pinnedNode = "22.23.3";

/** Thrown if a tool cannot be installed, so that no verdict is possible. */
export class NotAvailable extends Error {}

/**
 * The programs that run the suites.
 *
 * @typedef {{ node: string, suite: (release: string) => string }} Tools
 */

/**
 * Installs the suites into a folder, as the lock file pins them, and a Node that can run them, unless they are there.
 * Throws `NotAvailable` if they cannot be installed.
 *
 * @param {string} folder
 * @returns {Tools}
 */
export function installTools(folder) {
  mkdirSync(folder, { recursive: true });
  const node = installNode(folder);
  installSuites(folder);
  const modules = path.join(folder, "node_modules");
  return { node, suite: (release) => path.join(modules, packageOf(release), "dist/index.js") };
}

/** Both releases are one package, so each is installed under another name. @param {string} release */
function packageOf(release) {
  return `conformance-${release.split(".", 2).join(".")}`;
}

/** @param {string} folder */
function installSuites(folder) {
  const lock = "package-lock.json";
  const pinned = path.join(import.meta.dirname, "../tools");
  const marker = path.join(folder, "node_modules/.installed");
  const wanted = readFileSync(path.join(pinned, lock), "utf8");
  if (existsSync(marker) && readFileSync(marker, "utf8") === wanted) return;
  cpSync(pinned, folder, { recursive: true });
  npm(folder, ["ci"]);
  writeFileSync(marker, wanted);
}

/** @param {string} folder @returns {string} */
export function installNode(folder) {
  if (Number(process.versions.node.split(".")[0]) >= neededNode) return process.execPath;
  const place = path.join(folder, "node");
  const program = path.join(place, "node_modules/node/bin/node");
  if (versionOf(program) === `v${pinnedNode}`) return program;
  mkdirSync(place, { recursive: true });
  const platform = process.platform === "win32" ? "win" : process.platform;
  const spec = `npm:node-${platform}-${process.arch}@${pinnedNode}`;
  writeFileSync(path.join(place, "package.json"), JSON.stringify({ private: true, dependencies: { node: spec } }));
  npm(place, ["install", "--no-package-lock"]);
  if (versionOf(program) === `v${pinnedNode}`) return program;
  throw new NotAvailable(`The suite needs Node ${neededNode}, and ${spec} does not run here.`);
}

/** @param {string} program */
function versionOf(program) {
  return spawnSync(program, ["--version"], { encoding: "utf8" }).stdout?.trim();
}

/** @param {string} folder @param {readonly string[]} args */
function npm(folder, args) {
  process.stderr.write("Installing the conformance suite ...\n");
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, stderr } = spawnSync("npm", [...args, ...quiet], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new NotAvailable(`npm ${args.join(" ")} failed: ${(stderr ?? "").trim().slice(-300)}`);
}
