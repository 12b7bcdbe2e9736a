// @ts-check
import { spawnSync } from "node:child_process";
import path from "node:path";
import { parseArgs } from "node:util";
import { installTools } from "./npm.mjs";
import { makeReady, root } from "./ready.mjs";
import { obtain } from "./runtimes/obtain.mjs";

const help = `node scripts/host-providers.mjs

Runs the conversations of the host with a model of @ai-sdk/openai-compatible 3.x, which has version 4 of the specification of
language models and needs Node 22. The endpoint is scripted and runs on loopback. Installs Node 22 and the package into .tools,
and reports "not run" if it cannot obtain them. The tests of the workspace run the same conversations with version 3.
`;

const provider = { "@ai-sdk/openai-compatible": "3.0.92" };

const { values } = parseArgs({ options: { help: { type: "boolean", short: "h", default: false } } });
if (values.help) process.stdout.write(help);
else process.exitCode = main();

function main() {
  makeReady();
  const { program, reason } = obtain("node22");
  if (program === undefined) return notRun(reason);
  const folder = installTools("host-providers", provider);
  if (folder === undefined) return notRun("@ai-sdk/openai-compatible 3.x cannot be installed.");
  const conversations = path.join(root, "scripts", "host-providers", "converse.mjs");
  const { status } = spawnSync(program, [conversations, folder], { cwd: root, stdio: "inherit" });
  return status ?? 1;
}

/** @param {string} reason */
function notRun(reason) {
  process.stdout.write(`not run: ${reason}\n`);
  return 0;
}
