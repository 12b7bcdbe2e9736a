// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";
import { staleNotes } from "../matrix/known.mjs";
import { explanation, isWrong, legend, table } from "../matrix/table.mjs";
import { inTemporaryFolder } from "../../support/packed.mjs";
import { root } from "../../../scripts/ready.mjs";
import { only, readOptions } from "../../support/runner.mjs";
import { obtain } from "./obtain.mjs";
import { makeProject } from "./project.mjs";
import { runRuntime } from "./run-runtime.mjs";
import { runtimes } from "./sides.mjs";
import { failedParts, partsOf, summaryTable, writePage } from "./summary.mjs";

/**
 * @import { Known } from "../matrix/types.ts"
 * @import { Runtime } from "./sides.mjs"
 * @import { Result } from "./run-runtime.mjs"
 */

const help = `npm run check -- runtimes [options]

Runs the conversations of the interop suite with the packed packages on each runtime: as client and as server, over HTTP and
stdio, on each revision. The other side is this library on the Node that runs the script. Installs the runtimes into
.tools/runtimes, and reports those that it cannot obtain as not run. Chromium is the installed browser. Also imports each
entry point, and uses the storage in files.

  --only NAME      one runtime: node20, node22, node24, node26, bun, deno, workerd, chromium; node: all versions of Node.
                   May be given more than once.
  --update         write docs/reference/runtime-results.md
  --list           print the names of the runtimes, and whether each can be obtained
`;

const values = readOptions(help, {
  only,
  update: { type: "boolean", default: false },
  list: { type: "boolean", default: false },
});
process.exitCode = await main();

async function main() {
  const unknown = values.only.filter((name) => !runtimes.some((runtime) => isNamed(runtime, name)));
  if (unknown.length > 0 || (values.update && values.only.length > 0)) {
    const names = `node, ${runtimes.map(({ name }) => name).join(", ")}`;
    process.stderr.write(
      unknown.length > 0
        ? `Runtime "${unknown[0]}" is unknown. Use one of: ${names}.\n`
        : "--update writes all runtimes. Remove --only.\n",
    );
    return 1;
  }
  const wanted = runtimes.filter(
    (runtime) => values.only.length === 0 || values.only.some((name) => isNamed(runtime, name)),
  );
  if (values.list) return list(wanted);
  /** @type {Result[]} */
  const results = [];
  await inTemporaryFolder(async (project) => {
    await makeProject(project);
    for (const runtime of wanted) results.push(await runRuntime(runtime, { project, known: readKnown() }));
  });
  return report(results);
}

/** @param {Runtime} runtime @param {string} given */
function isNamed({ name }, given) {
  return name === given || (given === "node" && name.startsWith("node"));
}

/** @param {readonly Runtime[]} wanted */
function list(wanted) {
  for (const { name } of wanted) {
    const { version, reason } = obtain(name);
    process.stdout.write(`${name.padEnd(10)}${version ?? `not run: ${reason}`}\n`);
  }
  return 0;
}

/** @returns {Known[]} */
function readKnown() {
  return JSON.parse(readFileSync(path.join(root, "tests/interop/runtimes/known.json"), "utf8"));
}

/** @param {readonly Result[]} results */
function report(results) {
  const rows = results.flatMap((result) => result.rows);
  const wrong = rows.filter(isWrong);
  for (const row of wrong) process.stdout.write(`\n${explanation(row)}\n`);
  process.stdout.write(`\n${table(rows)}\n\n${legend.replace("matrix", "runtimes")}\n\n${summaryTable(results)}\n\n`);
  const failed = results.flatMap(failedParts);
  const lines = [...partsOf(results), ...failed];
  const stale = staleNotes(readKnown(), rows);
  for (const { peer, features } of stale) {
    lines.push(`known.json excuses ${peer} for ${features.join(", ")}, which work: remove the note.`);
  }
  const run = rows.filter(({ cells }) => cells !== undefined).length;
  lines.push(
    `${rows.length} pairings: ${run} run, ${rows.length - run} not run, ${wrong.length} with failures that are not explained.`,
  );
  process.stdout.write(`${lines.join("\n")}\n`);
  if (wrong.length + stale.length + failed.length > 0) return 1;
  if (values.update) writePage(results);
  return 0;
}
