// @ts-check
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { joinStacks, readStack, spineOf } from "./spine.mjs";

/**
 * @typedef {import("./spine.mjs").Spine} Spine
 * @typedef {{ spine: Spine; shownAtEnd: Spine; touched: { file: string; functions: number }[] }} Way
 */

/**
 * The ways that are run, with their aims: the maximum files or calls of the spine, or the maximum files that run.
 *
 * @type {readonly { key: string; title: string; files?: number; calls?: number; touched?: number }[]}
 */
export const knownWays = [
  { key: "httpModern", title: "server: tools/call over HTTP, 2026-07-28", files: 7 },
  { key: "nodeModern", title: "server: the same through node:http, from the end of the body", files: 7 },
  { key: "httpLegacy", title: "server: tools/call over HTTP, session of 2025-11-25", files: 7 },
  { key: "stdioModern", title: "server: tools/call on stdio, 2026-07-28", files: 7 },
  { key: "stdioLegacy", title: "server: tools/call on stdio, session of 2025-11-25", files: 7 },
  { key: "clientHttp", title: "client: callTool over HTTP, 2026-07-28, until fetch", calls: 8 },
  { key: "clientInMemory", title: "client: callTool in memory, 2026-07-28, until send", calls: 8 },
  { key: "hostRun", title: "host: host.run with one call, the server in the same process", touched: 70 },
  {
    key: "chatTurn",
    title: "chat: from the keys of a message until the answer, with one call over HTTP to a server in the same process",
    touched: 150,
  },
];
const packages = ["mcparley", "internal", "config", "host", "cli"];

/**
 * Compiles the packages, one file for each source file, and runs a warm call on each way.
 *
 * @param {string} root of the repository
 * @returns {Record<string, Way | { error: string }>}
 */
export function runWays(root) {
  const folder = path.join(root, "node_modules/.mcparley/house/node_modules");
  rmSync(path.dirname(folder), { recursive: true, force: true });
  for (const name of packages) compile(path.join(root, "packages", name), folder, root);
  compileFile("tests/support/openai-endpoint.ts", path.join(path.dirname(folder), "support"), root);
  const script = fileURLToPath(new URL("capture.mjs", import.meta.url));
  const output = execFileSync(process.execPath, [script, folder], { stdio: ["ignore", "pipe", "inherit"], cwd: root });
  const captured = JSON.parse(output.toString());
  const prefix = `${pathToFileURL(folder).href}/`;
  return Object.fromEntries(
    Object.entries(captured).map(([key, { error, stacks, touched }]) => {
      if (error !== undefined) return [key, { error }];
      const frames = stacks.map((/** @type {string} */ stack) => readStack(stack, prefix));
      return [key, { spine: spineOf(joinStacks(frames)), shownAtEnd: spineOf(frames.at(-1) ?? []), touched }];
    }),
  );
}

/**
 * Compiles a file without imports of other sources.
 *
 * @param {string} file @param {string} outDir @param {string} root
 */
function compileFile(file, outDir, root) {
  const options = ["--ignoreConfig", "--noCheck", "--module", "nodenext", "--target", "es2022", "--outDir", outDir];
  const args = [path.join(root, "node_modules/typescript/bin/tsc"), path.join(root, file), ...options];
  execFileSync(process.execPath, args, { stdio: ["ignore", 2, 2] });
}

/** @param {string} file whether it is a folder, or a program that is no module */
function isProgram(file) {
  return path.extname(file) === "" || file.endsWith(".cjs");
}

/**
 * Compiles a package into a folder of modules, where the other packages find it by its name.
 *
 * @param {string} source the folder of the package @param {string} modules @param {string} root
 */
function compile(source, modules, root) {
  const { name, imports, exports } = JSON.parse(readFileSync(path.join(source, "package.json"), "utf8"));
  const folder = path.join(modules, name);
  mkdirSync(folder, { recursive: true });
  // The export of a private package leads to its TypeScript files.
  const redirected = JSON.stringify({ name, type: "module", imports, exports })
    .replaceAll("./dist/", "./src/")
    .replaceAll("./src/*.ts", "./src/*.js");
  writeFileSync(path.join(folder, "package.json"), redirected);
  // Programs that are no modules are not compiled.
  cpSync(path.join(source, "src"), path.join(folder, "src"), { recursive: true, filter: isProgram });
  const options = {
    noCheck: true,
    composite: false,
    incremental: false,
    emitDeclarationOnly: false,
    declaration: false,
    isolatedDeclarations: false,
    sourceMap: false,
    outDir: path.join(folder, "src"),
  };
  const flags = Object.entries(options).flatMap(([option, value]) => [`--${option}`, String(value)]);
  const args = [path.join(root, "node_modules/typescript/bin/tsc"), "-p", source, ...flags];
  execFileSync(process.execPath, args, { stdio: ["ignore", 2, 2] });
}
