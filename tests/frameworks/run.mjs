// @ts-check
import { alignedTable } from "../../benchmarks/report/markdown.mjs";
import { programs } from "./programs.mjs";
import { installProgram, packLibrary, startProgram } from "./start.mjs";
import { checkStop, checks, runCheck } from "./checks.mjs";
import { overHttp1, overHttp2 } from "./wire.mjs";
import { NotAvailable, only, readOptions } from "../support/runner.mjs";

/** @import { Program } from "./programs.mjs" */

const help = `npm run check -- frameworks [options]

Installs each framework of examples/frameworks and the packed library into .tools/frameworks, compiles its program, starts the program, and uses it with
clients of three revisions. Prints a table of the results. Frameworks and runtimes that cannot be installed are reported as not run.

  --only NAME      the programs whose names contain this; may be given more than once
  --verbose        show the output of the programs
`;

const values = readOptions(help, { only, verbose: { type: "boolean", default: false } });

const revisions = ["2026-07-28", "2025-11-25", "2025-06-18"];

const legend =
  "ok: works. -: the platform or the revision does not have it; see docs/serve/frameworks.md and docs/serve/runtimes.md.";

/** @typedef {{ name: string; revision: string; cells: Record<string, string>; }} Row */

process.exitCode = await main();

async function main() {
  const wanted = programs.filter(
    ({ name }) => values.only.length === 0 || values.only.some((part) => name.includes(part)),
  );
  if (wanted.length === 0) {
    process.stderr.write(`No program has this name. Available: ${programs.map(({ name }) => name).join(", ")}.\n`);
    return 1;
  }
  const tarball = packLibrary();
  /** @type {Row[]} */
  const rows = [];
  /** @type {string[]} */
  const failures = [];
  for (const program of wanted) {
    try {
      rows.push(...(await runProgram(program, tarball, failures)));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof NotAvailable) process.stdout.write(`not run ${program.name}: ${reason}\n`);
      else failures.push(`${program.name}: ${reason}`);
    }
  }
  for (const failure of failures) process.stdout.write(`failed  ${failure}\n`);
  const columns = [...Object.keys(checks), "stop"];
  const lines = rows.map(({ name, revision, cells }) => [name, revision, ...columns.map((name) => cells[name] ?? "")]);
  process.stdout.write(`\n${alignedTable([["program", "revision", ...columns], ...lines]).join("\n")}\n\n${legend}\n`);
  return failures.length > 0 ? 1 : 0;
}

/** Installs a program, and runs its checks with each revision. @param {Program} program @param {string} tarball @param {string[]} failures */
async function runProgram(program, tarball, failures) {
  process.stderr.write(`${program.name} ...\n`);
  const folder = installProgram(program, tarball);
  const rows = [];
  for (const revision of revisions) {
    const { cells, reasons, output } = await runRevision(program, folder, revision);
    rows.push({ name: program.name, revision, cells });
    failures.push(...reasons);
    if (values.verbose || reasons.length > 0) process.stderr.write(output);
  }
  return rows;
}

/** Starts a program, runs all checks with one revision, and ends it. @param {Program} program @param {string} folder @param {string} revision */
async function runRevision(program, folder, revision) {
  const { origin, ca, output, stop } = await startProgram(program, folder);
  const wire = ca === undefined ? overHttp1(origin) : overHttp2(origin, ca);
  const isModern = revision === revisions[0];
  const { compresses = false } = program;
  const target = { url: `${origin}${program.path ?? "/mcp"}`, wire, revision, isModern, compresses };
  const lacking = new Set(program.lacks?.[isModern ? "modern" : "legacy"]);
  for (const name of isModern ? ["end", "detach"] : ["gzip"]) lacking.add(name);
  if (!compresses) lacking.add("gzip");
  /** @type {Record<string, string>} */
  const cells = {};
  /** @type {string[]} */
  const reasons = [];
  try {
    const last = { stop: () => checkStop(target, stop, program.status) };
    for (const [name, check] of Object.entries({ ...checks, ...last })) {
      const reason = lacking.has(name) ? undefined : await runCheck(check, target);
      cells[name] = lacking.has(name) ? "-" : reason === undefined ? "ok" : "FAIL";
      if (reason !== undefined) reasons.push(`${program.name}, ${revision}, ${name}: ${reason}`);
    }
  } finally {
    wire.close();
    await stop();
  }
  return { cells, reasons, output: output() };
}
