// @ts-check
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { npm, spawnNpm } from "../npm.mjs";
import { entryPoints } from "../packages.mjs";
import { root } from "../ready.mjs";
import { installInto } from "./install.mjs";
import { tarballsOf } from "./pack.mjs";

const isWindows = process.platform === "win32";

/** @typedef {import("./pack.mjs").Packed} Packed */
/** @typedef {import("./checks.mjs").Checks} Checks */

/**
 * Imports every entry point of a package in a project that lacks its optional peers. An entry point may fail if the error names an
 * optional peer.
 *
 * @param {Packed} packed
 * @param {string} project
 * @param {Checks} checks
 */
export function importEntryPoints({ manifest }, project, checks) {
  for (const { specifier } of entryPoints(manifest)) {
    const { status, stderr } = importOne(specifier, project);
    const peer = Object.keys(manifest.peerDependencies ?? {}).find((name) =>
      stderr.includes(`Cannot find package '${name}'`),
    );
    checks.check(
      peer ? `${specifier} names its peer ${peer}` : `${specifier} can be imported`,
      status === 0 || !!peer,
      stderr,
    );
  }
}

/** Imports every entry point in a project that has the optional peers. @param {Packed} packed @param {string} project @param {Checks} checks */
export function importWithPeers({ name, manifest }, project, checks) {
  const failed = entryPoints(manifest).filter(({ specifier }) => importOne(specifier, project).status !== 0);
  const names = failed.map(({ specifier }) => specifier).join(", ");
  checks.check(`all entry points of ${name} can be imported with its optional peers`, failed.length === 0, names);
}

/** @param {string} specifier @param {string} project */
function importOne(specifier, project) {
  const code = `const exported = await import("${specifier}"); process.exit(Object.keys(exported).length > 0 ? 0 : 1);`;
  return node(project, ["--input-type=module", "-e", code]);
}

const program = `import { connect } from "mcparley/client";
import { createServer, tool } from "mcparley/server";
import { toFetch } from "mcparley/http";
import { listen } from "mcparley/node";
import { serveStdio } from "mcparley/stdio";
import { LocalError } from "mcparley";
import { z } from "zod";

const add = tool({ input: z.object({ a: z.number() }), output: z.object({ b: z.number() }), call: ({ a }) => ({ b: a + 1 }) });
const server = createServer({ name: "user", version: "1.0.0", tools: { add } });
const client = await connect<typeof server>(server);
const { b }: { b: number } = await client.tools.add({ a: 1 });
// @ts-expect-error an argument of the wrong type
await client.tools.add({ a: "1" }).catch(() => {});
export default { b, listen, serveStdio, toFetch, LocalError };
`;

/**
 * Compiles a program against the declarations of the library, in each way of resolving modules.
 *
 * @param {string} project a folder with the library, `zod`, `typescript` and `@types/node`
 * @param {Checks} checks
 */
export function compileProgram(project, checks) {
  mkdirSync(path.join(project, "src"), { recursive: true });
  writeFileSync(path.join(project, "src/user.ts"), program);
  for (const moduleResolution of ["NodeNext", "Bundler"]) {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: "ES2022",
      module: moduleResolution === "NodeNext" ? "NodeNext" : "ESNext",
      moduleResolution,
      types: ["node"],
      // Reports a declaration file that is imported and missing.
      skipLibCheck: false,
    };
    writeFileSync(path.join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
    const { status, stdout } = node(project, ["node_modules/typescript/bin/tsc", "-p", "."]);
    checks.check(`declarations compile with ${moduleResolution}`, status === 0, `\n${stdout}`);
  }
}

/** Runs the installed command. @param {string} project a folder with the command alone @param {Checks} checks */
export function useCommand(project, checks) {
  const version = npm(["exec", "--offline", "--", "mcparley", "--version"], { cwd: project, quiet: true }).trim();
  checks.check("the command runs by its name", /^\d+\.\d+\.\d+/.test(version), version);
  const command = path.join(project, "node_modules/@mcparley/cli/dist/main.js");
  const folder = path.join(root, "examples/handbook");
  const words = ["list", "--json", "--", process.execPath, command, "serve", folder, "--stdio"];
  const listed = execFileSync(process.execPath, [command, ...words], { cwd: project, encoding: "utf8" });
  checks.check("the command serves a folder to itself", listed.includes("search_documents"), listed);
  const served = node(project, [command, "serve", folder, "--port", "0", "--store", "redis://127.0.0.1:6379"]);
  const cure = `npm install @mcparley/redis@${version} redis`;
  checks.check(
    "--store without the packages of the store fails and names the command that installs them",
    served.status !== 0 && served.stderr.includes(cure),
    served.stderr,
  );
}

/**
 * Checks that `npx mcparley` runs the command if it is installed, and otherwise names the command that installs it: with the library
 * alone in a project, with both, and with both in a global folder, in both orders of installation.
 *
 * @param {readonly Packed[]} all
 * @param {string} folder receives the projects
 * @param {Checks} checks
 */
export function useLauncher(all, folder, checks) {
  const [library, command] = [tarballsOf(all, "mcparley"), tarballsOf(all, "@mcparley/cli")];
  const version = all.find(({ name }) => name === "@mcparley/cli")?.version;
  const globals = path.join(folder, "global");
  const alone = path.join(folder, "library");
  installInto(alone, library);
  const refused = npx(alone, globals, ["list"]);
  const lines = refused.stderr.split("\n").filter((line) => line !== "" && !line.startsWith("npm "));
  checks.check(
    "npx mcparley without the command fails, and names in three lines the command that installs it",
    refused.status === 1 && lines.length === 3 && (lines[1] ?? "").includes("`npm install --save-dev @mcparley/cli`"),
    refused.stderr,
  );
  const both = path.join(folder, "both");
  installInto(both, command);
  for (const order of [
    [library, command],
    [command, library],
  ]) {
    rmSync(globals, { recursive: true, force: true });
    for (const tarballs of order)
      npm(["install", "--global", "--prefix", globals, ...tarballs], { cwd: folder, quiet: true });
    const names = order[0] === library ? "mcparley and @mcparley/cli" : "@mcparley/cli and mcparley";
    const programs = ["mcparley", "mcparley-launcher"].map((name) =>
      path.join(globals, isWindows ? name : `bin/${name}`),
    );
    const printed = programs.map((program) =>
      spawnSync(program, ["--version"], { cwd: folder, encoding: "utf8", shell: isWindows }),
    );
    checks.check(
      `${names} can be installed globally in this order`,
      printed.every(({ status, stdout }) => status === 0 && stdout.trim() === version),
      printed.map(({ stdout, stderr }) => `${stdout}${stderr}`).join(""),
    );
  }
  for (const [what, project] of [
    ["with the command in the project", both],
    ["with the command in the global folder", alone],
  ]) {
    const { status, stdout, stderr } = npx(project ?? "", globals, ["--version"]);
    checks.check(`npx mcparley ${what} runs it`, status === 0 && stdout.trim() === version, `${stdout}${stderr}`);
  }
}

/** Runs `npx mcparley` with a global folder of its own. @param {string} project @param {string} globals @param {readonly string[]} args */
function npx(project, globals, args) {
  const bin = isWindows ? globals : path.join(globals, "bin");
  // `npm run` adds the commands of this repository.
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => !folder.includes("node_modules"));
  const env = { ...process.env, npm_config_prefix: globals, PATH: [bin, ...folders].join(path.delimiter) };
  return spawnNpm(["exec", "--offline", "--", "mcparley", ...args], { cwd: project, env });
}

/** @param {string} cwd @param {readonly string[]} args */
function node(cwd, args) {
  return spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
}
