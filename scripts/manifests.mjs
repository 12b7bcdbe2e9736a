// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { root } from "./ready.mjs";

/**
 * Checks the Kubernetes manifest of the deployed example against the schemas of Kubernetes, with a validator that is
 * installed into .tools. Reports "not run" if the validator or Python is unavailable.
 */
const validator = "kubernetes-validate==1.37.0";
const folder = path.join(root, ".tools/manifests");
const program = path.join(folder, "bin/kubernetes-validate");
const manifest = "examples/deployed/kubernetes.yaml";

process.exitCode = main();

function main() {
  if (!existsSync(program) && !install()) {
    process.stdout.write(`not run: ${validator} could not be installed\n`);
    return 0;
  }
  const { status } = spawnSync(program, ["--strict", manifest], { cwd: root, stdio: ["ignore", 1, 1] });
  process.stdout.write(status === 0 ? `ok: ${manifest}\n` : `failed: ${manifest}\n`);
  return status === 0 ? 0 : 1;
}

function install() {
  return run("python3", "-m", "venv", folder) && run(path.join(folder, "bin/pip"), "install", "--quiet", validator);
}

/** @param {string} command @param {string[]} args */
function run(command, ...args) {
  return spawnSync(command, args, { stdio: ["ignore", "ignore", 2] }).status === 0;
}
