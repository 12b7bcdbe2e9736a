// @ts-check
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { compilePrograms } from "../support/compile-programs.mjs";
import { build } from "esbuild";
import { installLocked } from "../../scripts/npm.mjs";
import { root } from "../../scripts/ready.mjs";
import { converse } from "./conversations.mjs";
import { featuresOf } from "./features.mjs";
import { measureSums } from "./sums.mjs";

/*
 * Compares the library with others: compiles and runs the five programs of `docs/servers/cookbook.md` and the same servers
 * written with other libraries, counts their lines, finds out what servers of all compared libraries do, and compiles the
 * samples of the migration guides against the packages that they migrate from. It fails if `docs/start/why-mcparley.md` has
 * other numbers or facts. The packages are installed into `.tools/comparison`; if that fails, it reports that nothing was
 * run and fails nothing.
 */

const sources = path.join(root, "tests/comparison");
const tools = path.join(root, ".tools/comparison");
const programs = path.join(tools, "programs");
const modern = "2026-07-28";
const legacy = "2025-11-25";

/** The libraries, and the revisions on which their servers are run. @type {Record<string, string[]>} */
const libraries = { mcparley: [legacy, modern], "sdk-v2": [legacy, modern], fastmcp: [legacy] };
/** The columns of the table of features. */
const compared = ["mcparley", "sdk-v1", "sdk-v2", "fastmcp", "mcp-lite", "tmcp"];
const servers = ["hello", "weather", "travel", "restaurant", "whoami"];

/** The cells of a row of a table. @typedef {string[]} Row */

process.exitCode = await main();

async function main() {
  // The same libraries as in the benchmarks.
  const reason = installLocked(path.join(root, "benchmarks/peers"), tools);
  if (reason !== undefined) {
    console.log(`not run  ${reason}`);
    return 0;
  }
  writePrograms();
  const compiles = compile();
  const failures = await runServers();
  const rows = [...countLines(), ...(await findFeatures()), ...(await measureSums({ programs, tools }))];
  const stale = staleRows(rows);
  return compiles && failures === 0 && stale === 0 ? 0 : 1;
}

/** Writes the servers of all libraries, and the samples of the migration guides, below the installed packages. */
function writePrograms() {
  rmSync(programs, { recursive: true, force: true });
  cpSync(path.join(sources, "servers"), programs, { recursive: true });
  const ours = path.join(programs, "mcparley");
  // The other samples of the page export a server, and are no programs.
  for (const { name, code } of fences("servers/cookbook.md", ""))
    if (name && !code.includes("export const server")) writeFileSync(path.join(ours, name), code);
  const readme = readFileSync(path.join(root, "README.md"), "utf8");
  const [, code = ""] = /^```ts\n(\/\/ server\.ts\n[\s\S]*?)^```$/m.exec(readme) ?? [];
  writeFileSync(path.join(ours, "sums.ts"), code);
  for (const page of readdirSync(path.join(root, "docs/migrate"))) {
    const folder = path.join(programs, `migrate-${page.replace(/\.md$/, "")}`);
    mkdirSync(folder);
    for (const [index, { name, code }] of fences(`migrate/${page}`, " other").entries()) {
      writeFileSync(path.join(folder, name ?? `sample-${index + 1}.ts`), code);
    }
  }
}

/**
 * The blocks of TypeScript of a page, and the file names in their first lines.
 *
 * @param {string} page
 * @param {"" | " other"} mark
 */
function fences(page, mark) {
  const text = readFileSync(path.join(root, "docs", page), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`ts${mark}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(([, code = ""]) => {
    return { name: /^\/\/ ([\w-]+\.ts)\n/.exec(code)?.[1], code };
  });
}

/** Compiles all programs. Returns whether there are no errors. */
function compile() {
  const { errors } = compilePrograms(programs);
  const count = readdirSync(programs, { recursive: true }).filter((name) => String(name).endsWith(".ts")).length;
  console.log(
    errors.length === 0
      ? `ok       ${count} programs compile`
      : `failed   The programs do not compile.\n${errors.join("\n")}`,
  );
  return errors.length === 0;
}

/** Runs the five servers of each library, and returns the number of failures. */
async function runServers() {
  let failures = 0;
  for (const [library, revisions] of Object.entries(libraries)) {
    for (const server of servers) {
      const program = path.join(programs, library, `${server}.mjs`);
      const entryPoints = [program.replace(/\.mjs$/, ".ts")];
      await build({
        entryPoints,
        outfile: program,
        bundle: true,
        platform: "node",
        format: "esm",
        packages: "external",
      });
      for (const revision of revisions) {
        const error = await converse(server, { program, revision }).catch((caught) => caught);
        console.log(`${error ? "failed " : "ok     "}  ${library} ${server} ${revision}`);
        if (error) console.log(error);
        if (error) failures++;
      }
    }
  }
  return failures;
}

/** The lines of each server that are neither empty nor comments, formatted at 100 columns. @returns {Row[]} */
function countLines() {
  // Outside the repository, whose ignored files the formatter leaves out.
  const copies = mkdtempSync(path.join(tmpdir(), "mcparley-compare-"));
  for (const library of Object.keys(libraries)) {
    mkdirSync(path.join(copies, library));
    for (const server of servers) {
      const file = path.join(library, `${server}.ts`);
      cpSync(path.join(programs, file), path.join(copies, file));
    }
  }
  writeFileSync(path.join(copies, ".oxfmtrc.json"), '{ "printWidth": 100 }');
  const oxfmt = path.join(root, "node_modules/oxfmt/bin/oxfmt");
  const { status, stderr } = spawnSync(process.execPath, [oxfmt, "."], { cwd: copies, encoding: "utf8" });
  if (status !== 0) throw new Error(`oxfmt failed. ${stderr}`);
  const rows = servers.map((server) => {
    const counts = Object.keys(libraries).map((library) => linesOf(path.join(copies, library, `${server}.ts`)));
    return [`\`${server}.ts\``, ...counts.map(String)];
  });
  rmSync(copies, { recursive: true });
  return rows;
}

/** @param {string} file */
function linesOf(file) {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => !/^\s*(\/\/.*)?$/.test(line)).length;
}

/** The features of all libraries, found by using a server of each. @returns {Promise<Row[]>} */
async function findFeatures() {
  /** @type {Record<string, string>[]} */
  const found = [];
  for (const library of compared) found.push(await featuresOf(path.join(programs, library, "features.mjs")));
  return Object.keys(found[0] ?? {}).map((name) => [name, ...found.map((features) => features[name] ?? "")]);
}

/** Prints the rows, and the ones that `docs/start/why-mcparley.md` does not have. Returns the number of the latter. @param {Row[]} rows */
function staleRows(rows) {
  const page = readFileSync(path.join(root, "docs/start/why-mcparley.md"), "utf8");
  const published = new Set(page.split("\n").map((line) => line.replaceAll(/\s+/g, " ").trim()));
  let stale = 0;
  for (const row of rows) {
    const line = `| ${row.join(" | ")} |`;
    if (!published.has(line)) stale++;
    console.log(published.has(line) ? line : `${line}  <- docs/start/why-mcparley.md has no such row`);
  }
  return stale;
}
