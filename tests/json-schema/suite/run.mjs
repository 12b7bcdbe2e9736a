// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../../scripts/ready.mjs";
import { NotAvailable, load, only, readOptions } from "../../support/runner.mjs";
import { installSuite } from "./install.mjs";

const help = `npm run check -- json-schema-suite [options]

Runs the official JSON-Schema-Test-Suite (draft-04, draft-07, 2019-09, 2020-12) against the library's JSON Schema evaluator.
Fails if a required case fails, or if a case listed in tests/json-schema/suite/exclusions.json passes. The suite is downloaded
with pip into .tools/json-schema-suite. If that is impossible, prints "not run" and exits with 0.

  --only PART   the cases whose dialect and file contain this (draft7/ref, optional/format); may be repeated
  --require     fail if the suite cannot be installed
`;

const values = readOptions(help, { only, require: { type: "boolean", default: false } });
process.exitCode = await main();

async function main() {
  let suite;
  try {
    suite = installSuite(path.join(root, ".tools/json-schema-suite"));
  } catch (error) {
    if (!(error instanceof NotAvailable)) throw error;
    process.stdout.write(`not run: ${error.message}\n`);
    return values.require ? 1 : 0;
  }
  // A bundle of the sources, because the option for other documents is not exported from the package.
  /** @type {typeof import("./run-suite.ts")} */
  const { runSuite } = await load("tests/json-schema/suite/run-suite.ts", { packages: "external" });
  const exclusions = JSON.parse(readFileSync(path.join(import.meta.dirname, "exclusions.json"), "utf8"));
  return runSuite(suite, exclusions, values.only) ? 0 : 1;
}
