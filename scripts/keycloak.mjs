// @ts-check
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { install } from "../tests/interop/matrix/install.mjs";
import { makeReady, root } from "./ready.mjs";

const help = `npm run keycloak [-- options]

Runs both sides of the library, the command and the host with real authorization servers: Keycloak, which Maven downloads into
.tools/keycloak, and oidc-provider. The official clients sign in to a server of this library, and this client to servers of
FastMCP. Compares the table of docs/issuers.md with the results. Parts that lack Java, Maven or Python are reported as not run.

  --only NAME   the checks whose names contain this; may be given more than once
  --update      write the table into docs/issuers.md
`;

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    update: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) process.stdout.write(help);
else process.exitCode = await main();

async function main() {
  // Everything that runs ends with this process, and its files are deleted.
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-issuers-"));
  process.env.TMPDIR = folder;
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
  makeReady();
  const { runIssuers } = await load();
  const { only, update: isUpdate } = values;
  const code = await runIssuers({ root, python: installPython(), only, isUpdate });
  if (isUpdate) format("docs/issuers.md");
  return code;
}

/** Bundles the checks, because they are written in TypeScript. @returns {Promise<typeof import("../tests/issuers/run.ts")>} */
async function load() {
  const outfile = path.join(root, "node_modules/.mcparley/issuers.mjs");
  await build({
    entryPoints: [path.join(root, "tests/issuers/run.ts")],
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    outfile,
    logLevel: "error",
  });
  return import(pathToFileURL(outfile).href);
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
