// @ts-check
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import path from "node:path";

/** Programs and paths of Chromium and Chrome on the systems of developers. */
const programs = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge"];
const applications = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  String.raw`C:\Program Files\Google\Chrome\Application\chrome.exe`,
  String.raw`C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe`,
];

/** A browser that runs as root needs this. The pages are those of this repository. */
export const chromiumArguments = process.getuid?.() === 0 ? ["--no-sandbox"] : [];

/**
 * Returns the program of a browser: the one in `CHROMIUM`, an installed one, or the package of Debian, which is installed if
 * this process may install packages. Undefined if there is none.
 *
 * @returns {string | undefined}
 */
export function findChromium() {
  return process.env.CHROMIUM ?? find() ?? (installFromDebian() ? find() : undefined);
}

function find() {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const inPath = programs.flatMap((program) => folders.map((folder) => path.join(folder, program)));
  return [...inPath, ...applications].find((file) => existsSync(file) && isExecutable(file));
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function installFromDebian() {
  if (process.getuid?.() !== 0 || spawnSync("apt-get", ["--version"]).status !== 0) return false;
  process.stderr.write("Installing Chromium ...\n");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const run = (/** @type {string[]} */ args) => spawnSync("apt-get", args, { env, stdio: "ignore" }).status === 0;
  return run(["update", "-qq"]) && run(["install", "-y", "-qq", "--no-install-recommends", "chromium"]);
}
