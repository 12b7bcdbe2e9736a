// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { compileDeclarations, makeProject } from "../tests/types/declaration-project.mjs";
import { makeReady, root } from "./ready.mjs";

/**
 * Compiles programs of users with each supported version of TypeScript: the programs of `tests/types/declarations`, with
 * `declaration: true` and `skipLibCheck: false`. Missing versions are installed into `tests/types/.generated`. A
 * version that cannot be installed is reported as not run, which is no failure.
 *
 * `npm run types -- 5.4.5` runs one version.
 */
const versions = ["5.4.5", "5.5.4", "5.6.3", "5.7.3", "5.8.3", "5.9.3", "6.0.3", "7.0.2"];
const tools = path.join(root, "tests/types/.generated/typescript");

makeReady();
const folder = path.join(root, "tests/types/.generated/versions");
const entries = makeProject(folder).map(({ entry }) => entry);
const wanted = process.argv.slice(2);
let failures = 0;

for (const version of wanted.length > 0 ? wanted : versions) {
  const tsc = install(version);
  if (!tsc) {
    console.log(`not run  TypeScript ${version}: it cannot be installed`);
    continue;
  }
  const errors = ["nodenext", "bundler"].flatMap((resolution) => {
    const given = { folder, entries, resolution: /** @type {"nodenext" | "bundler"} */ (resolution) };
    return compileDeclarations(tsc, given)
      .split("\n")
      .filter((line) => line !== "");
  });
  console.log(`${errors.length === 0 ? "ok     " : "failed "}  TypeScript ${version}`);
  for (const error of errors) console.log(`         ${error}`);
  if (errors.length > 0) failures++;
}

rmSync(folder, { recursive: true, force: true });
process.exitCode = failures > 0 ? 1 : 0;

/** Returns the compiler of a version, or undefined. @param {string} version */
function install(version) {
  const own = path.join(root, "node_modules/typescript");
  if (JSON.parse(readFileSync(path.join(own, "package.json"), "utf8")).version === version) {
    return path.join(own, "bin/tsc");
  }
  const home = path.join(tools, version);
  const tsc = path.join(home, "node_modules/typescript/bin/tsc");
  if (existsSync(tsc)) return tsc;
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, "package.json"), JSON.stringify({ private: true }));
  const args = ["install", "--no-audit", "--no-fund", "--silent", `typescript@${version}`];
  spawnSync("npm", args, { cwd: home, stdio: "ignore", shell: process.platform === "win32" });
  return existsSync(tsc) ? tsc : undefined;
}
