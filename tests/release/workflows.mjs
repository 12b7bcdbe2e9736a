// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { root } from "../../scripts/ready.mjs";

/**
 * Checks the workflow files with `actionlint`, which is installed into `.tools` with Go. Reports "not run" if Go or the linter is
 * unavailable. The tests check what needs no linter: pinned actions, permissions, and steps that are scripts of this project.
 */
const version = "1.7.12";
const folder = path.join(root, ".tools/actionlint", version);
const program = path.join(folder, process.platform === "win32" ? "actionlint.exe" : "actionlint");

process.exitCode = main();

function main() {
  if (!existsSync(program) && !install()) {
    process.stdout.write(`not run: actionlint ${version} could not be installed with Go\n`);
    return 0;
  }
  const workflows = path.join(root, ".github/workflows");
  const files = readdirSync(workflows).map((file) => path.join(workflows, file));
  // Without the checkers of scripts, which may be missing: the steps are npm scripts.
  const args = ["-shellcheck=", "-pyflakes=", ...files];
  const { status } = spawnSync(program, args, { cwd: root, stdio: ["ignore", 1, 2] });
  process.stdout.write(`${status === 0 ? "ok" : "failed"}: ${files.length} workflows with actionlint ${version}\n`);
  return status === 0 ? 0 : 1;
}

function install() {
  mkdirSync(folder, { recursive: true });
  const source = `github.com/rhysd/actionlint/cmd/actionlint@v${version}`;
  const env = { ...process.env, GOBIN: folder, GOFLAGS: "" };
  return spawnSync("go", ["install", source], { cwd: folder, env, stdio: ["ignore", "ignore", 2] }).status === 0;
}
