// @ts-check
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { makeReady, root } from "./ready.mjs";

/**
 * Prints the size of the library in its users' bundles and installations, and fails if it is over a budget.
 *
 * The first budget is for the code that is loaded at start, without the reader of JSON Schemas, which is a chunk of its
 * own. The second includes the reader. Code that is loaded when it is first needed (legacy revisions, elicitation,
 * subscriptions, streams, the JSON Schema evaluator) is counted in the last figure, which is everything.
 */
const withoutReader = {
  name: "without-json-schema-reader",
  setup: (/** @type {import("esbuild").PluginBuild} */ bundler) => {
    bundler.onResolve({ filter: /json-schema-reader-/ }, ({ path }) => ({ path, external: true }));
  },
};
const kib = 1000;

const serverOf = (/** @type {string} */ serve) => `
  import { createServer, tool } from "mcparley/server";
  ${serve}
  const hello = tool({ description: "Greets.", call: () => "Hello" });
  const server = createServer({ name: "size", version: "1.0.0", tools: { hello } });`;

const bundles = [
  {
    name: "stdio server",
    code: `${serverOf('import { serveStdio } from "mcparley/stdio";')} serveStdio(server);`,
    platform: /** @type {const} */ ("node"),
    first: "answering-",
    limit: 20 * kib,
    limitWithReader: 24 * kib,
    forbidden: ["Mcp-Session-Id", "WWW-Authenticate", "eventsource"],
  },
  {
    name: "fetch server",
    code: `${serverOf('import { toFetch } from "mcparley/http";')} export default toFetch(server);`,
    platform: /** @type {const} */ ("browser"),
    limit: 20 * kib,
    limitWithReader: 24 * kib,
    forbidden: ['"node:', "child_process"],
  },
  {
    name: "HTTP client",
    code: `import { connect } from "mcparley/client"; export const client = await connect("https://example.com/mcp");`,
    platform: /** @type {const} */ ("browser"),
    limit: 20 * kib,
    limitWithReader: 20 * kib,
    forbidden: ['"node:', "child_process", 'invalid_definition"'],
  },
];

makeReady();
let failed = false;

/** @param {string} label @param {string} figure @param {boolean} ok */
function report(label, figure, ok) {
  process.stdout.write(`${ok ? "ok  " : "OVER"}  ${label.padEnd(34)} ${figure}\n`);
  if (!ok) failed = true;
}

/**
 * What is imported only once it is needed stays outside, but for what is needed before the first message.
 *
 * @param {{ first?: string }} bundle
 * @returns {import("esbuild").Plugin}
 */
const atStart = ({ first }) => ({
  name: "at-start",
  setup: (bundler) => {
    bundler.onResolve({ filter: /.*/ }, ({ kind, path: imported }) => {
      const isLater = kind === "dynamic-import" && !(first && imported.includes(first));
      return isLater ? { path: imported, external: true } : undefined;
    });
  },
});

/** @param {{ code: string; platform: "node" | "browser" }} bundle @param {import("esbuild").Plugin[]} plugins */
async function bundled({ code, platform }, plugins) {
  const result = await build({
    stdin: { contents: code, resolveDir: path.join(root, "tests"), loader: "js" },
    bundle: true,
    minify: true,
    write: false,
    logLevel: "error",
    format: "esm",
    target: "es2022",
    platform,
    plugins,
  });
  const [file] = result.outputFiles;
  if (!file) throw new Error("esbuild gave no file");
  return file.contents;
}

const kilobytes = (/** @type {Uint8Array} */ bytes) => (gzipSync(bytes).length / kib).toFixed(1);

for (const bundle of bundles) {
  const start = await bundled(bundle, [withoutReader, atStart(bundle)]);
  const withReader = await bundled(bundle, [atStart(bundle)]);
  const everything = await bundled(bundle, []);
  const { limit, limitWithReader } = bundle;
  const figure = `${kilobytes(start)} of ${limit / kib} KB gzip, ${kilobytes(withReader)} of ${limitWithReader / kib} with the schema reader (${kilobytes(everything)} everything)`;
  report(bundle.name, figure, gzipSync(start).length <= limit && gzipSync(withReader).length <= limitWithReader);
  const text = Buffer.from(everything).toString("utf8");
  const bled = bundle.forbidden.filter((word) => text.includes(word));
  if (bled.length > 0) report(`${bundle.name}: bleed`, bled.join(", "), false);
}

const evaluatorLimit = 10 * kib;
const evaluator = await bundled({ code: 'export * from "mcparley-evaluator";', platform: "browser" }, [
  {
    name: "evaluator",
    setup: (bundler) => {
      const file = path.join(root, "packages/mcparley/src/schema/json-schema/compile.ts");
      bundler.onResolve({ filter: /^mcparley-evaluator$/ }, () => ({ path: file }));
    },
  },
]);
report(
  "JSON Schema evaluator",
  `${kilobytes(evaluator)} of ${evaluatorLimit / kib} KB gzip, loaded with the first value to check`,
  gzipSync(evaluator).length <= evaluatorLimit,
);

const importLimit = 25;
const emptyTime = fastest(20, () => timed("0"));
const importTime = fastest(20, () => timed('import "mcparley/server"')) - emptyTime;
// Milliseconds are those of a machine that starts an empty process in 40; a slower one is given more in proportion.
const importAllowed = importLimit * Math.max(1, emptyTime / 40);
report(
  "cold import of ./server",
  `${importTime.toFixed(1)} of ${importAllowed.toFixed(1)} ms over an empty process, which takes ${emptyTime.toFixed(1)}`,
  importTime <= importAllowed,
);

const packageLimit = 8;
const installed = countInstalled();
report("packages installed by npm i", `${installed} of ${packageLimit}`, installed <= packageLimit);

if (failed) process.exit(1);

/** @param {string} code */
function timed(code) {
  const started = performance.now();
  const { status } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    cwd: path.join(root, "tests"),
  });
  if (status !== 0) throw new Error(`"${code}" failed`);
  return performance.now() - started;
}

/**
 * The fastest of many runs: whatever else a machine does only ever adds to one.
 *
 * @param {number} times @param {() => number} measure
 */
function fastest(times, measure) {
  return Math.min(...Array.from({ length: times }, measure));
}

function countInstalled() {
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-size-"));
  try {
    const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", folder], {
      cwd: path.join(root, "packages/mcparley"),
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [{ filename }] = JSON.parse(packed.toString());
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefix", folder, path.join(folder, filename)], {
      stdio: "ignore",
    });
    const listed = execFileSync("npm", ["ls", "--all", "--parseable", "--prefix", folder], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    return listed.toString().trim().split("\n").length - 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
