// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { NotAvailable, installSuite } from "../tests/json-schema/suite/install.mjs";
import { makeReady, root } from "./ready.mjs";

const help = `npm run json-schema-suite [-- options]

Runs the official JSON-Schema-Test-Suite (draft-04, draft-07, 2019-09, 2020-12) against the library's JSON Schema evaluator.
Fails if a required case fails, or if a case listed in tests/json-schema/suite/exclusions.json passes. The suite is downloaded
with pip into .tools/json-schema-suite. If that is impossible, prints "not run" and exits with 0.

  --only PART   the cases whose dialect and file contain this (draft7/ref, optional/format); may be repeated
  --require     fail if the suite cannot be installed
`;

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    require: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) process.stdout.write(help);
else process.exitCode = await main();

async function main() {
  makeReady();
  const tools = path.join(root, ".tools/json-schema-suite");
  let suite;
  try {
    suite = installSuite(tools);
  } catch (error) {
    if (!(error instanceof NotAvailable)) throw error;
    process.stdout.write(`not run: ${error.message}\n`);
    return values.require ? 1 : 0;
  }
  // A bundle of the sources, because the option for other documents is not exported from the package.
  const outfile = path.join(tools, "build/run.mjs");
  await build({
    entryPoints: [path.join(root, "tests/json-schema/suite/run.ts")],
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    target: "node20",
    format: "esm",
    logLevel: "error",
  });
  /** @type {typeof import("../tests/json-schema/suite/run.ts")} */
  const { runSuite } = await import(pathToFileURL(outfile).href);
  const exclusions = JSON.parse(readFileSync(path.join(root, "tests/json-schema/suite/exclusions.json"), "utf8"));
  return runSuite(suite, exclusions, values.only) ? 0 : 1;
}
