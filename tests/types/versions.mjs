// @ts-check
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { compileDeclarations, makeProject } from "./declaration-project.mjs";
import { installTools } from "../../scripts/npm.mjs";
import { root } from "../../scripts/ready.mjs";
import { only, readOptions } from "../support/runner.mjs";

const help = `npm run check -- typescript [options]

Compiles programs of users with each supported version of TypeScript: the programs of tests/types/declarations, with
"declaration": true and "skipLibCheck": false. Missing versions are installed into .tools/typescript. A version that
cannot be installed is reported as not run, which is no failure.

  --only VERSION   one version, such as 5.4.5; may be given more than once
`;
const versions = ["5.4.5", "5.5.4", "5.6.3", "5.7.3", "5.8.3", "5.9.3", "6.0.3", "7.0.2"];
const values = readOptions(help, { only });
const folder = path.join(root, "tests/types/.generated/versions");
const entries = makeProject(folder).map(({ entry }) => entry);
let failures = 0;

for (const version of values.only.length > 0 ? values.only : versions) {
  const tsc = install(version);
  if (!tsc) {
    console.log(`not run  TypeScript ${version}: it cannot be installed`);
    continue;
  }
  const errors = ["nodenext", "bundler"].flatMap((resolution) => {
    const given = { folder, entries, resolution: /** @type {"nodenext" | "bundler"} */ (resolution) };
    return compileDeclarations(tsc, given)
      .split("\n")
      .filter((line) => line !== "");
  });
  console.log(`${errors.length === 0 ? "ok     " : "failed "}  TypeScript ${version}`);
  for (const error of errors) console.log(`         ${error}`);
  if (errors.length > 0) failures++;
}

rmSync(folder, { recursive: true, force: true });
process.exitCode = failures > 0 ? 1 : 0;

/** Returns the compiler of a version, or undefined. @param {string} version */
function install(version) {
  const own = path.join(root, "node_modules/typescript");
  if (JSON.parse(readFileSync(path.join(own, "package.json"), "utf8")).version === version) {
    return path.join(own, "bin/tsc");
  }
  const folder = installTools(path.join("typescript", version), { typescript: version });
  return folder && path.join(folder, "node_modules/typescript/bin/tsc");
}
