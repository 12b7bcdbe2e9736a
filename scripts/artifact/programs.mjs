// @ts-check
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { npm } from "../npm.mjs";
import { entryPoints } from "../packages.mjs";
import { root } from "../ready.mjs";

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

/** @param {string} cwd @param {readonly string[]} args */
function node(cwd, args) {
  return spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
}
