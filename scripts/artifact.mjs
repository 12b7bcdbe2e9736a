// @ts-check
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { declaredEntries, unreachable } from "./declarations.mjs";
import { makeReady, root } from "./ready.mjs";

/**
 * Tests what users install: packs the packages, installs them in an empty project, and there imports every subpath,
 * compiles against the declarations in each way of resolving modules, and runs the command.
 */
makeReady();

const project = mkdtempSync(path.join(tmpdir(), "mcparley-artifact-"));
let checks = 0;

try {
  const library = pack("packages/mcparley");
  const redis = pack("packages/redis");
  const cli = pack("packages/cli");
  checkFiles(library);
  checkFiles(redis);
  checkFiles(cli);
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
  npm([
    "install",
    "--no-audit",
    "--no-fund",
    library.file,
    redis.file,
    cli.file,
    "@opentelemetry/api@1.9.1",
    "@types/node@20.19.25",
    "typescript@7.0.2",
    "zod@4.6.7",
  ]);
  importSubpaths();
  for (const resolution of ["NodeNext", "Bundler"]) compile(resolution);
  useCommand();
  process.stdout.write(`artifact: ${checks} checks passed\n`);
} finally {
  rmSync(project, { recursive: true, force: true });
}

/** @param {string} folder */
function pack(folder) {
  const out = execFileSync("npm", ["pack", "--json", "--pack-destination", project], {
    cwd: path.join(root, folder),
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [packed] = JSON.parse(out.toString());
  return {
    folder,
    file: path.join(project, packed.filename),
    files: packed.files.map((/** @type {any} */ { path: name }) => name),
  };
}

/** @param {{ folder: string; files: string[] }} packed */
function checkFiles({ folder, files }) {
  const stray = files.filter((name) => /\.test\.|\.test-d\.|fixtures|\.tsbuildinfo|^src\//.test(name));
  check(`${folder} packs nothing of its tests`, stray.length === 0, stray.join(", "));
  const maps = files.filter((name) => name.endsWith(".map"));
  check(`${folder} packs no source maps`, maps.length === 0, maps.join(", "));
  const dist = path.join(root, folder, "dist");
  const unused = unreachable(dist, declaredEntries(path.join(root, folder))).filter((name) =>
    files.includes(`dist/${name}`),
  );
  check(`${folder} packs only declarations that an entry point reaches`, unused.length === 0, unused.join(", "));
  check(
    `${folder} packs its code`,
    files.some((name) => name.endsWith(".js")) && files.includes("package.json"),
    files.join(", "),
  );
}

function importSubpaths() {
  const manifest = JSON.parse(readFileSync(path.join(root, "packages/mcparley/package.json"), "utf8"));
  const subpaths = Object.keys(manifest.exports).filter((name) => !name.endsWith(".json"));
  for (const subpath of subpaths) {
    const name = path.posix.join("mcparley", subpath);
    node(
      `const exported = await import(${JSON.stringify(name)}); if (Object.keys(exported).length === 0) process.exit(1);`,
    );
    check(`${name} can be imported`, true);
  }
  node(
    'const { redisStore } = await import("@mcparley/redis"); if (typeof redisStore !== "function") process.exit(1);',
  );
  check("@mcparley/redis can be imported where there is no client of Redis", true);
}

/** @param {string} resolution */
function compile(resolution) {
  mkdirSync(path.join(project, "src"), { recursive: true });
  writeFileSync(
    path.join(project, "src/user.ts"),
    `import { connect } from "mcparley/client";
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
`,
  );
  const module = resolution === "NodeNext" ? "NodeNext" : "ESNext";
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "ES2022",
    module,
    moduleResolution: resolution,
    types: ["node"],
    // Reports a declaration file that is imported and missing.
    skipLibCheck: false,
  };
  writeFileSync(path.join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
  execFileSync(process.execPath, [path.join(project, "node_modules/typescript/bin/tsc"), "-p", project], {
    stdio: "inherit",
  });
  check(`declarations compile with ${resolution}`, true);
}

function useCommand() {
  const command = path.join(project, "node_modules/.bin/mcparley");
  const version = execFileSync(command, ["--version"]).toString().trim();
  check("the command runs", /^\d+\.\d+\.\d+/.test(version.replace(/^mcparley /, "")), version);
  const folder = path.join(root, "examples/handbook");
  const listed = execFileSync(command, ["list", "--json", "--", process.execPath, command, "serve", folder, "--stdio"]);
  check(
    "the command serves a folder to itself",
    JSON.stringify(JSON.parse(listed.toString())).includes("search_documents"),
  );
}

/** @param {string} code */
function node(code) {
  execFileSync(process.execPath, ["--input-type=module", "-e", code], {
    cwd: project,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** @param {string[]} args */
function npm(args) {
  execFileSync("npm", args, { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
}

/** @param {string} what @param {boolean} ok @param {string} [found] */
function check(what, ok, found = "") {
  if (!ok) throw new Error(`artifact: failed: ${what}. ${found}`);
  checks++;
  process.stdout.write(`ok  ${what}\n`);
}
