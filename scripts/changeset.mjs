// @ts-check
import { spawnSync } from "node:child_process";
import path from "node:path";
import { installTools, npm } from "./npm.mjs";
import { makeReady, root } from "./ready.mjs";

/**
 * Runs Changesets with the given words: without a word it asks for a new changeset, `version` raises the versions and writes the
 * changelogs, `status` lists what the next release contains. `version` also updates the lock file and formats the files.
 *
 * Changesets is installed outside the workspaces, because it is 100 packages that only a change of versions needs.
 */
const versions = { "@changesets/cli": "2.31.1" };
const words = process.argv.slice(2);

makeReady();
const tools = installTools("changesets", versions);
if (tools) {
  run("node_modules/@changesets/cli/bin.js", { within: tools, args: words });
  if (words[0] === "version") {
    npm(["install", "--package-lock-only", "--no-audit", "--no-fund"], { cwd: root });
    run("node_modules/oxfmt/bin/oxfmt", { within: root, args: ["packages", "examples", "tests/package.json"] });
  }
} else {
  process.stderr.write("Changesets could not be installed. Check the network with npm ping.\n");
  process.exitCode = 1;
}

/** @param {string} file @param {{ within: string; args: readonly string[] }} program */
function run(file, { within, args }) {
  // Changesets looks for its default changelog in the packages of the repository, or in NODE_PATH.
  const env = { ...process.env, NODE_PATH: path.join(within, "node_modules") };
  const { status } = spawnSync(process.execPath, [path.join(within, file), ...args], {
    cwd: root,
    env,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}
