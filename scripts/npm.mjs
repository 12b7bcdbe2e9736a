// @ts-check
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), manifest);
  return installOnce(folder, "install", manifest) === undefined ? folder : undefined;
}

/**
 * Installs what a lock file pins into a folder, unless it is there. Returns the reason if that is impossible, otherwise undefined.
 * Throws if the lock file is wrong, because that is a defect and not a missing network.
 *
 * @param {string} source the folder with `package.json` and `package-lock.json`
 * @param {string} folder
 */
export function installLocked(source, folder) {
  mkdirSync(folder, { recursive: true });
  if (source !== folder)
    for (const file of ["package.json", "package-lock.json"]) cpSync(path.join(source, file), path.join(folder, file));
  return installOnce(folder, "ci", readFileSync(path.join(source, "package-lock.json"), "utf8"));
}

/** Runs npm in a folder, unless it was run there for the same input. @param {string} folder @param {"install" | "ci"} verb @param {string} input */
function installOnce(folder, verb, input) {
  const marker = path.join(folder, "node_modules/.made-from");
  if (existsSync(marker) && readFileSync(marker, "utf8") === input) return undefined;
  process.stderr.write(`Installing ${path.relative(root, folder)} ...\n`);
  const args = [verb, "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--fetch-retries=1"];
  const { status, error, stderr } = spawnNpm(args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  if (/EUSAGE|EINTEGRITY|EJSONPARSE/.test(stderr)) throw new Error(`${folder}/package-lock.json is wrong. ${stderr}`);
  if (status !== 0) return `npm ${verb} failed: ${(error?.message ?? stderr).trim().slice(-300)}`;
  writeFileSync(marker, input);
  return undefined;
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
