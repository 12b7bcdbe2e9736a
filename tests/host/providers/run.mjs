// @ts-check
import { spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import path from "node:path";
import { installTools } from "../../../scripts/npm.mjs";
import { root } from "../../../scripts/ready.mjs";
import { readOptions } from "../../support/runner.mjs";
import { obtain } from "../../interop/runtimes/obtain.mjs";

const help = `npm run check -- host-providers

Runs the conversations of the host with models of packages of the AI SDK, of versions 3 and 4 of the specification of language models, on
Node 22: @ai-sdk/openai-compatible, openai, anthropic and google. It also compiles a program that passes a model of version 4 to a host.
The endpoints are scripted and run on loopback. Installs Node 22 and the packages into .tools, and reports "not run" if it cannot obtain
them. The tests of the workspace run some of the conversations with @ai-sdk/openai-compatible of version 3.
`;

/** The packages with models of each version of the specification. */
const packages = {
  v3: {
    "@ai-sdk/anthropic": "3.0.140",
    "@ai-sdk/google": "3.0.141",
    "@ai-sdk/openai": "3.0.141",
    "@ai-sdk/openai-compatible": "2.0.92",
  },
  v4: {
    "@ai-sdk/anthropic": "4.0.105",
    "@ai-sdk/google": "4.0.121",
    "@ai-sdk/openai": "4.0.118",
    "@ai-sdk/openai-compatible": "3.0.92",
  },
};

readOptions(help, {});
process.exitCode = main();

function main() {
  const { program, reason } = obtain("node22");
  if (program === undefined) return notRun(reason);
  let isPassed = true;
  for (const [version, versions] of Object.entries(packages)) {
    const folder = installTools(path.join("host-providers", version), versions);
    if (folder === undefined) return notRun(`The packages of version ${version} cannot be installed.`);
    if (version === "v4" && !acceptsTypes(folder)) isPassed = false;
    const conversations = path.join(import.meta.dirname, "converse.mjs");
    const { status } = spawnSync(program, [conversations, folder], { cwd: root, stdio: "inherit" });
    if (status !== 0) isPassed = false;
  }
  return isPassed ? 0 : 1;
}

/** Compiles a program with the types of the installed specification. @param {string} folder */
function acceptsTypes(folder) {
  const program = path.join(folder, "accepted-models.ts");
  copyFileSync(path.join(import.meta.dirname, "accepted-models.ts"), program);
  const compiler = path.join(root, "node_modules", "typescript", "bin", "tsc");
  const options = [
    "--ignoreConfig",
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "nodenext",
    "--target",
    "es2022",
  ];
  const { status } = spawnSync(process.execPath, [compiler, ...options, program], { cwd: folder, stdio: "inherit" });
  process.stdout.write(status === 0 ? "ok: the types of version 4 are accepted\n" : "failed: the types of version 4\n");
  return status === 0;
}

/** @param {string} reason */
function notRun(reason) {
  process.stdout.write(`not run: ${reason}\n`);
  return 0;
}
