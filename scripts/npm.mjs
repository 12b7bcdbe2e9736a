// @ts-check
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "./ready.mjs";

/**
 * Runs npm and returns its output. Throws if it fails.
 *
 * @param {readonly string[]} args
 * @param {{ cwd: string; quiet?: boolean }} options `quiet` hides what npm writes to stderr
 */
export function npm(args, { cwd, quiet = false }) {
  const { file, before, shell } = program();
  const stdio = /** @type {const} */ (["ignore", "pipe", quiet ? "ignore" : "inherit"]);
  return execFileSync(file, [...before, ...args], { cwd, shell, stdio: [...stdio], encoding: "utf8" });
}

/**
 * Installs exact versions of packages into a folder of `.tools`, unless they are there. Returns the folder, or undefined if they
 * cannot be installed.
 *
 * @param {string} name the folder in `.tools`
 * @param {Record<string, string>} versions
 */
export function installTools(name, versions) {
  const folder = path.join(root, ".tools", name);
  const manifest = `${JSON.stringify({ private: true, dependencies: versions }, undefined, 2)}\n`;
  const marker = path.join(folder, "installed.json");
  if (existsSync(marker) && readFileSync(marker, "utf8") === manifest) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), manifest);
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1"];
  const { status } = spawnNpm(args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) return undefined;
  writeFileSync(marker, manifest);
  return folder;
}

/**
 * Runs npm, and returns its exit code and output also if it fails.
 *
 * @param {readonly string[]} args
 * @param {{ cwd: string; env?: NodeJS.ProcessEnv; stdio?: import("node:child_process").StdioOptions }} options
 */
export function spawnNpm(args, options) {
  const { file, before, shell } = program();
  return spawnSync(file, [...before, ...args], { ...options, shell, encoding: "utf8" });
}

/**
 * How npm is started. `npm run` names its own program, which Node runs on every system. Without it, `npm.cmd` of Windows needs a
 * shell.
 */
function program() {
  const own = process.env.npm_execpath;
  if (own && /npm-cli\.[cm]?js$/.test(own)) return { file: process.execPath, before: [own], shell: false };
  const isWindows = process.platform === "win32";
  return { file: isWindows ? "npm.cmd" : "npm", before: [], shell: isWindows };
}
