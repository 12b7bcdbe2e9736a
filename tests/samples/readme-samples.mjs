// @ts-check
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { installInto } from "../../scripts/artifact/install.mjs";
import { root } from "../../scripts/ready.mjs";
import { compilePrograms } from "../support/compile-programs.mjs";
import { startServer } from "../support/packed.mjs";
import { importedPackages, typescriptSamples } from "./read-readme.mjs";

/** @typedef {import("./read-readme.mjs").Sample} Sample */
/** @typedef {import("../../scripts/artifact/checks.mjs").Checks} Checks */

/** Makes a program listen on a free port. */
const onLoopback = new URL("../frameworks/on-loopback.mjs", import.meta.url).href;

/** A client of a URL or of a program on stdio. It lists and prints the server's tools. */
const client = `import { connect } from "mcparley/client";
const [target] = process.argv.slice(2);
const client = await connect(target.startsWith("http") ? target : { command: process.execPath, args: [target] });
for await (const { name } of client.listTools()) console.log(name);
await client.close();
`;

/**
 * Installs the tarballs into an empty project, and compiles and runs the samples of a README there. A client calls each server over
 * its transport.
 *
 * @param {{ readme: string; project: string; tarballs: readonly string[]; checks: Checks }} options
 */
export async function runSamples({ readme, project, tarballs, checks }) {
  const samples = typescriptSamples(readme);
  if (samples.length === 0) return;
  const versions = lockedVersions([...importedPackages(samples), "@types/node"]);
  installInto(project, [...tarballs, ...versions]);
  mkdirSync(path.join(project, "src"));
  for (const { file, code } of samples) writeFileSync(path.join(project, "src", file), code);
  const { errors } = compilePrograms(path.join(project, "src"));
  checks.check(`${readme}: the samples compile`, errors.length === 0, `\n${errors.join("\n")}`);
  writeFileSync(path.join(project, "client.mjs"), client);
  for (const sample of samples) {
    if (sample.compilesOnly) continue;
    const program = await bundle(path.join(project, "src", sample.file));
    const what = `${readme}: ${sample.file}`;
    if (sample.code.includes("serveStdio("))
      checkTools(`${what} serves a client over stdio`, { project, target: program, checks });
    else if (sample.code.includes("listen(")) await runHttpServer(what, { project, program, checks });
    else runProgram(what, { sample, program, checks });
  }
}

/** Removes the types, because Node 20 runs JavaScript only. Returns the program. @param {string} file */
async function bundle(file) {
  const outfile = file.replace(/\.ts$/, ".mjs");
  await build({ entryPoints: [file], outfile, bundle: true, platform: "node", format: "esm", packages: "external" });
  return outfile;
}

/** @param {string} what @param {{ sample: Sample; program: string; checks: Checks }} run */
function runProgram(what, { sample, program, checks }) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], { encoding: "utf8", timeout: 60_000 });
  const lines = stdout.split("\n");
  const missing = sample.printed.filter((line) => !lines.includes(line));
  const stated = sample.printed.length > 0 ? " and prints what it states" : "";
  checks.check(`${what} runs${stated}`, status === 0 && missing.length === 0, `${stdout}${stderr}`);
}

/** @param {string} what @param {{ project: string; program: string; checks: Checks }} run */
async function runHttpServer(what, { project, program, checks }) {
  const command = [process.execPath, "--import", onLoopback, program];
  const { first, stop } = await startServer(command, { cwd: project, env: process.env });
  try {
    const port = /The port is (\d+)/.exec(first)?.[1];
    checks.check(`${what} listens`, port !== undefined, first);
    checkTools(`${what} serves a client over HTTP`, { project, target: `http://127.0.0.1:${port}/mcp`, checks });
  } finally {
    await stop();
  }
}

/** @param {string} what @param {{ project: string; target: string; checks: Checks }} run */
function checkTools(what, { project, target, checks }) {
  const args = [path.join(project, "client.mjs"), target];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
  checks.check(what, status === 0 && stdout.trim() !== "", `${stdout}${stderr}`);
}

/** The specifiers of packages with their versions in the lock file of this repository. @param {readonly string[]} names */
function lockedVersions(names) {
  const { packages } = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8"));
  return names.map((name) => `${name}@${packages[`node_modules/${name}`].version}`);
}
