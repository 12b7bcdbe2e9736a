// @ts-check
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { install } from "../interop/matrix/install.mjs";
import { root } from "../../scripts/ready.mjs";
import { load, only, readOptions } from "../support/runner.mjs";

const help = `npm run check -- keycloak [options]

Runs both sides of the library, the command and the host with real authorization servers: Keycloak, which Maven downloads into
.tools/keycloak, and oidc-provider. The official clients sign in to a server of this library, and this client to servers of
FastMCP. Compares the table of docs/reference/issuers.md with the results. Parts that lack Java, Maven or Python are reported as not run.

  --only NAME   the checks whose names contain this; may be given more than once
  --update      write the table into docs/reference/issuers.md
`;

const values = readOptions(help, { only, update: { type: "boolean", default: false } });
process.exitCode = await main();

async function main() {
  // Everything that runs ends with this process, and its files are deleted.
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-issuers-"));
  process.env.TMPDIR = folder;
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
  // The checks are written in TypeScript.
  /** @type {typeof import("./run-issuers.ts")} */
  const { runIssuers } = await load("tests/issuers/run-issuers.ts", { packages: "external" });
  const { only: parts, update: isUpdate } = values;
  const code = await runIssuers({ root, python: installPython(), only: parts, isUpdate });
  if (isUpdate) format("docs/reference/issuers.md");
  return code;
}

/** Returns the Python with FastMCP, or the reason why it is unavailable. */
function installPython() {
  const tools = path.join(root, ".tools/interop");
  const { reason } = install("python-fastmcp", tools);
  const program = process.platform === "win32" ? "Scripts/python.exe" : "bin/python";
  return reason === undefined ? { program: path.join(tools, "python-fastmcp", program) } : { reason };
}

/** @param {string} file */
function format(file) {
  spawnSync(process.execPath, [path.join(root, "node_modules/oxfmt/bin/oxfmt"), file], { cwd: root, stdio: "inherit" });
}
