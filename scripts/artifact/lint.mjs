// @ts-check
import { spawnSync } from "node:child_process";
import path from "node:path";
import { installTools } from "../npm.mjs";

/** @typedef {import("./pack.mjs").Packed} Packed */
/** @typedef {import("./checks.mjs").Checks} Checks */

/**
 * The linters of published packages. They are not development dependencies: `attw` needs an older TypeScript, and both
 * together are 40 MB.
 */
const versions = { "@arethetypeswrong/cli": "0.18.5", publint: "0.3.25" };

/** Runs `publint` and `attw` on each tarball. @param {readonly Packed[]} all @param {Checks} checks */
export function lintTarballs(all, checks) {
  const tools = installTools("artifact", versions);
  if (!tools) return checks.skip("publint and attw", "they cannot be installed");
  const publint = path.join(tools, "node_modules/publint/src/cli.js");
  const attw = path.join(tools, "node_modules/@arethetypeswrong/cli/dist/index.js");
  for (const { name, file, manifest } of all) {
    const linted = run(publint, [file, "--strict"]);
    checks.check(`publint --strict accepts ${name}`, linted.ok, linted.output);
    const hasTypes = Object.values(manifest.exports ?? {}).some((target) => typeof target !== "string");
    if (!hasTypes) continue;
    const typed = run(attw, [file, "--profile", "esm-only", "--format", "ascii", "--no-color"]);
    checks.check(`attw --profile esm-only accepts ${name}`, typed.ok, typed.output);
  }
}

/** @param {string} program @param {readonly string[]} args */
function run(program, args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });
  return { ok: status === 0, output: `\n${stdout}${stderr}` };
}
