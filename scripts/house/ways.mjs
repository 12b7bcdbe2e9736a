// @ts-check
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { joinStacks, readStack, spineOf } from "./spine.mjs";

/**
 * @typedef {import("./spine.mjs").Spine} Spine
 * @typedef {{ spine: Spine; shownAtEnd: Spine; touched: { file: string; functions: number }[] }} Way
 */

/** The ways that are run, with their aims. */
export const knownWays = [
  { key: "httpModern", title: "server: tools/call over HTTP, 2026-07-28", files: 7 },
  { key: "nodeModern", title: "server: the same through node:http, from the end of the body", files: 7 },
  { key: "httpLegacy", title: "server: tools/call over HTTP, session of 2025-11-25", files: 7 },
  { key: "stdioModern", title: "server: tools/call on stdio, 2026-07-28", files: 7 },
  { key: "stdioLegacy", title: "server: tools/call on stdio, session of 2025-11-25", files: 7 },
  { key: "clientHttp", title: "client: callTool over HTTP, 2026-07-28, until fetch", calls: 8 },
  { key: "clientInMemory", title: "client: callTool in memory, 2026-07-28, until send", calls: 8 },
];

/**
 * Compiles the library, one file for each source file, and runs a warm call on each way.
 *
 * @param {string} root of the repository
 * @returns {Record<string, Way | { error: string }>}
 */
export function runWays(root) {
  const folder = path.join(root, "node_modules/.mcparley/house");
  compile(root, folder);
  const script = fileURLToPath(new URL("capture.mjs", import.meta.url));
  const source = path.join(folder, "src");
  const output = execFileSync(process.execPath, [script, source], { stdio: ["ignore", "pipe", "inherit"], cwd: root });
  const captured = JSON.parse(output.toString());
  const prefix = `${pathToFileURL(source).href}/`;
  return Object.fromEntries(
    Object.entries(captured).map(([key, { error, stacks, touched }]) => {
      if (error !== undefined) return [key, { error }];
      const frames = stacks.map((/** @type {string} */ stack) => readStack(stack, prefix));
      return [key, { spine: spineOf(joinStacks(frames)), shownAtEnd: spineOf(frames.at(-1) ?? []), touched }];
    }),
  );
}

/** @param {string} root @param {string} folder */
function compile(root, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const library = path.join(root, "packages/mcparley");
  const { imports } = JSON.parse(readFileSync(path.join(library, "package.json"), "utf8"));
  const redirected = JSON.parse(JSON.stringify(imports).replaceAll("./dist/", "./src/"));
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module", imports: redirected }));
  const options = {
    noCheck: true,
    composite: false,
    incremental: false,
    emitDeclarationOnly: false,
    declaration: false,
    isolatedDeclarations: false,
    sourceMap: false,
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const args = [
    path.join(root, "node_modules/typescript/bin/tsc"),
    "-p",
    library,
    "--outDir",
    path.join(folder, "src"),
  ];
  execFileSync(process.execPath, [...args, ...flags], { stdio: ["ignore", 2, 2] });
}
