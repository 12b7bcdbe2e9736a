// @ts-check
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../scripts/ready.mjs";
import { load, readOptions } from "../support/runner.mjs";

/** @typedef {import("./command.ts").Cell} Cell */

const help = `Runs the client under each fault, and prints what it must do.

  npm run check -- faults                                       the whole matrix
  npm run check -- faults --cell call/503/http/2026-07-28       one cell: expected, observed, and the differences
  npm run check -- faults --update                              writes client-under-faults.md and client-states.md of docs/internals
`;

/** Replaces the test runner, which the cells of the state tables use in their tests. No test runs here. */
const withoutTests = {
  name: "without-tests",
  setup: (/** @type {import("esbuild").PluginBuild} */ bundler) => {
    bundler.onResolve({ filter: /^vitest$/ }, () => ({ path: "vitest", namespace: "no-tests" }));
    bundler.onLoad({ filter: /.*/, namespace: "no-tests" }, () => ({
      contents:
        "const none = new Proxy(function () {}, { get: () => none, apply: () => none }); module.exports = none;",
    }));
  },
};

const values = readOptions(help, { cell: { type: "string" }, update: { type: "boolean" } });
/** @type {typeof import("./command.ts")} */
const matrix = await load("tests/faults/command.ts", { plugins: [withoutTests] });
if (values.update) writePages();
else if (values.cell === undefined) await runMatrix();
else await runOne(values.cell);

function writePages() {
  const pages = { "client-under-faults.md": matrix.renderPage(), "client-states.md": matrix.renderStatesPage() };
  for (const [name, text] of Object.entries(pages)) {
    if (text === undefined) continue;
    const file = path.join(root, "docs/internals", name);
    writeFileSync(file, text);
    spawnSync(process.execPath, [path.join(root, "node_modules/oxfmt/bin/oxfmt"), file], { stdio: "inherit" });
    print(`docs/internals/${name} is written.\n`);
  }
}

async function runMatrix() {
  const cells = matrix.allCells().filter((cell) => typeof matrix.expectedOf(cell) !== "string");
  const observed = await matrix.runCells(cells);
  const failed = [];
  let known = 0;
  for (const [cell, result] of observed) {
    const expected = matrix.expectedOf(cell);
    const found = typeof expected === "string" ? [] : matrix.differences(cell, expected, result);
    if (found.length === 0) continue;
    if (isPending(cell)) known++;
    else failed.push(`${matrix.nameOf(cell)}: ${found.join(" ")}`);
  }
  for (const transport of matrix.transports) print(`${matrix.renderText(transport)}\n\n`);
  for (const line of failed) print(`FAILED ${line}\n`);
  print(`${cells.length} cells, ${failed.length} failed, ${known} known defects\n`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}

/** @param {string} name */
async function runOne(name) {
  const cell = matrix.allCells().find((one) => matrix.nameOf(one) === name);
  if (!cell) {
    print(
      `There is no cell "${name}". Its form is OPERATION/FAULT/TRANSPORT/REVISION, such as call/503/http/2026-07-28.\n`,
    );
    process.exit(2);
  }
  const expected = matrix.expectedOf(cell);
  if (typeof expected === "string") {
    print(`${name} cannot occur: ${expected}\n`);
    return;
  }
  const observed = await matrix.runCell(cell);
  const found = matrix.differences(cell, expected, observed);
  print(`expected ${JSON.stringify(expected, undefined, 2)}\nobserved ${JSON.stringify(observed, undefined, 2)}\n`);
  print(found.length === 0 ? "The cell does what it must.\n" : found.map((line) => `FAILED ${line}\n`).join(""));
  if (found.length > 0 && isPending(cell)) print("This is a known defect.\n");
  process.exitCode = found.length > 0 && !isPending(cell) ? 1 : 0;
}

/** @param {Cell} cell */
function isPending(cell) {
  return matrix.pending.some(({ cells }) => cells.some((name) => matrix.pendingFor(name)(cell)));
}

/** @param {string} text */
function print(text) {
  process.stdout.write(text);
}
