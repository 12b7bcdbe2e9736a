// @ts-check
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { makeReady, root } from "./ready.mjs";

/**
 * Prints what the library costs those who use it, and fails where that is over its budget.
 *
 * The schema library is the JSON Schema validator that the library depends on; the second figure includes it.
 */
const schemaLibrary = "@cfworker/json-schema";
const kib = 1024;

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
    limit: 20 * kib,
    forbidden: ["Mcp-Session-Id", "WWW-Authenticate", "eventsource"],
  },
  {
    name: "fetch server",
    code: `${serverOf('import { toFetch } from "mcparley/http";')} export default toFetch(server);`,
    platform: /** @type {const} */ ("browser"),
    limit: 20 * kib,
    forbidden: ["node:", "child_process"],
  },
  {
    name: "HTTP client",
    code: `import { connect } from "mcparley/client"; export const client = await connect("https://example.com/mcp");`,
    platform: /** @type {const} */ ("browser"),
    limit: 20 * kib,
    forbidden: ["node:", "child_process", 'invalid_definition"'],
  },
];

makeReady();
let failed = false;

/** @param {string} label @param {string} figure @param {boolean} ok */
function report(label, figure, ok) {
  process.stdout.write(`${ok ? "ok  " : "OVER"}  ${label.padEnd(34)} ${figure}\n`);
  if (!ok) failed = true;
}

/** @param {(typeof bundles)[number]} bundle @param {string[]} external */
async function bundled({ code, platform }, external) {
  const result = await build({
    stdin: { contents: code, resolveDir: path.join(root, "tests"), loader: "js" },
    bundle: true,
    minify: true,
    write: false,
    logLevel: "error",
    format: "esm",
    target: "es2022",
    platform,
    external,
  });
  const [file] = result.outputFiles;
  if (!file) throw new Error("esbuild gave no file");
  return file.contents;
}

for (const bundle of bundles) {
  const without = await bundled(bundle, [schemaLibrary]);
  const whole = await bundled(bundle, []);
  const text = Buffer.from(whole).toString("utf8");
  const bled = bundle.forbidden.filter((word) => text.includes(word));
  const size = gzipSync(without).length;
  const figure = `${(size / kib).toFixed(1)} of ${bundle.limit / kib} KB gzip (${(gzipSync(whole).length / kib).toFixed(1)} with the schema library)`;
  report(bundle.name, figure, size <= bundle.limit);
  if (bled.length > 0) report(`${bundle.name}: bleed`, bled.join(", "), false);
}

const importLimit = 25;
const importTime = median(9, () => timed('import "mcparley/server"')) - median(9, () => timed("0"));
report(
  "cold import of ./server",
  `${importTime.toFixed(1)} of ${importLimit} ms over an empty process`,
  importTime <= importLimit,
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

/** @param {number} times @param {() => number} measure */
function median(times, measure) {
  const values = Array.from({ length: times }, measure).toSorted((a, b) => a - b);
  return /** @type {number} */ (values[Math.floor(times / 2)]);
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
