// @ts-check
import path from "node:path";
import { installTools, npm } from "../npm.mjs";
import { root } from "../ready.mjs";
import { runProgram } from "../run-program.mjs";

/**
 * Runs Changesets with the given words, and returns its exit code. `version` also updates the lock file and formats the files.
 *
 * Changesets is installed outside the workspaces, because it is 100 packages that only a change of versions needs.
 *
 * @param {readonly string[]} words
 */
export async function runChangesets(words) {
  const tools = installTools("changesets", { "@changesets/cli": "2.31.1" });
  if (tools === undefined) {
    process.stderr.write("Changesets could not be installed. Check the network with npm ping.\n");
    return 1;
  }
  // Changesets looks for its default changelog in the packages of the repository, or in NODE_PATH.
  const modules = path.join(tools, "node_modules");
  const env = { ...process.env, NODE_PATH: modules };
  const code = await runProgram([path.join(modules, "@changesets/cli/bin.js"), ...words], { env });
  if (code !== 0 || words[0] !== "version") return code;
  npm(["install", "--package-lock-only", "--no-audit", "--no-fund"], { cwd: root });
  return runProgram(["node_modules/oxfmt/bin/oxfmt", "packages", "examples", "tests/package.json"]);
}
