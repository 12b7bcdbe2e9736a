// @ts-check
import { cpSync, readFileSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { installLocked } from "../scripts/npm.mjs";

const source = path.join(import.meta.dirname, "peers");

/**
 * Installs the pinned packages of the peers into a folder outside the workspaces, and copies their programs there. Returns the reason if that fails, otherwise undefined.
 *
 * @param {string} folder
 * @returns {string | undefined}
 */
export function installPeers(folder) {
  const reason = installLocked(source, folder);
  if (reason === undefined) copyPrograms(folder);
  return reason;
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
