// @ts-check
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const source = path.join(import.meta.dirname, "peers");

/**
 * Installs the pinned packages of the peers into a folder outside the workspaces, and copies their programs there. Returns the reason if that fails, otherwise undefined.
 *
 * @param {string} folder
 * @returns {string | undefined}
 */
export function installPeers(folder) {
  mkdirSync(folder, { recursive: true });
  const reason = installPackages(folder);
  if (reason === undefined) copyPrograms(folder);
  return reason;
}

/** @param {string} folder @returns {string | undefined} */
function installPackages(folder) {
  const lock = readFileSync(path.join(source, "package-lock.json"), "utf8");
  const marker = path.join(folder, ".made-from");
  if (existsSync(marker) && readFileSync(marker, "utf8") === lock) return undefined;
  process.stderr.write("Installing the peers ...\n");
  for (const file of ["package.json", "package-lock.json"]) cpSync(path.join(source, file), path.join(folder, file));
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const shell = process.platform === "win32";
  const { status, error, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8", shell });
  if (error || status !== 0) return `npm ci failed: ${(error?.message ?? stderr).trim().slice(-300)}`;
  writeFileSync(marker, lock);
  return undefined;
}

/** @param {string} folder */
function copyPrograms(folder) {
  for (const file of ["content.mjs", "settings.mjs"]) {
    cpSync(path.join(import.meta.dirname, file), path.join(folder, file));
  }
  const place = path.join(folder, "peers");
  rmSync(place, { recursive: true, force: true });
  for (const part of readdirSync(source)) {
    if (!part.endsWith(".json")) cpSync(path.join(source, part), path.join(place, part), { recursive: true });
  }
}

/** The versions of the packages that are compared, as they are pinned. @returns {Record<string, string>} */
export function peerVersions() {
  return JSON.parse(readFileSync(path.join(source, "package.json"), "utf8")).dependencies;
}
