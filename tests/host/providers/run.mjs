// @ts-check
import { spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import path from "node:path";
import { installTools } from "../../../scripts/npm.mjs";
import { root } from "../../../scripts/ready.mjs";
import { readOptions } from "../../support/runner.mjs";
import { obtain } from "../../interop/runtimes/obtain.mjs";

const help = `npm run check -- host-providers

Runs the conversations of the host with a model of @ai-sdk/openai-compatible 3.x, which has version 4 of the specification of
language models and needs Node 22, and compiles a program that passes such a model to a host. The endpoint is scripted and runs on loopback. Installs Node 22 and the package into .tools,
and reports "not run" if it cannot obtain them. The tests of the workspace run the same conversations with version 3.
`;

const provider = { "@ai-sdk/openai-compatible": "3.0.92" };

readOptions(help, {});
process.exitCode = main();

function main() {
  const { program, reason } = obtain("node22");
  if (program === undefined) return notRun(reason);
  const folder = installTools("host-providers", provider);
  if (folder === undefined) return notRun("@ai-sdk/openai-compatible 3.x cannot be installed.");
  if (!acceptsTypes(folder)) return 1;
  const conversations = path.join(import.meta.dirname, "converse.mjs");
  const { status } = spawnSync(program, [conversations, folder], { cwd: root, stdio: "inherit" });
  return status ?? 1;
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
