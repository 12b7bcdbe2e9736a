// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { budgetOf, installInto, measureInstalled } from "./artifact/install.mjs";
import { packAll, tarballsOf } from "./artifact/pack.mjs";
import { root } from "./ready.mjs";

/**
 * Prints the size of the library in its users' bundles and installations, and fails if it is over a budget.
 *
 * The first budget is for the code that is loaded at start, without the reader of JSON Schemas, which is a chunk of its
 * own. The second includes the reader. Code that is loaded when it is first needed (legacy revisions, elicitation,
 * subscriptions, streams, the JSON Schema evaluator) is counted in the last figure, which is everything.
 *
 * A bundle also fails if it contains a module of a `forbidden` folder, or of a `forbiddenAtStart` folder in the code that is
 * loaded at start.
 */
const withoutReader = {
  name: "without-json-schema-reader",
  setup: (/** @type {import("esbuild").PluginBuild} */ bundler) => {
    bundler.onResolve({ filter: /json-schema-reader-/ }, ({ path }) => ({ path, external: true }));
  },
};
/** Names the map of each file of `dist` in the file, because published files do not name theirs. */
const withMaps = {
  name: "with-maps",
  setup: (/** @type {import("esbuild").PluginBuild} */ bundler) => {
    bundler.onLoad({ filter: /packages[\\/]mcparley[\\/]dist[\\/].*\.js$/ }, ({ path: file }) => ({
      contents: `${readFileSync(file, "utf8")}\n//# sourceMappingURL=${path.basename(file)}.map\n`,
      loader: "js",
    }));
  },
};
const kib = 1000;
/**
 * The budget of a client over HTTP. All steps of a call are loaded with it, because readers of the code are worth more than 3 KB
 * that no user has asked for. Its other code is loaded by subject: legacy servers, streams, input requests, extensions,
 * subscriptions, schemas, and the explanations of failures. The reader of messages is shared with servers. The copy of messages to a
 * server in memory (0.3 KB) is in it because any client can connect to one, and so is the limit of levels (0.3 KB), which belongs to each result.
 * The errors of values that JSON cannot represent name the member (0.1 KB).
 */
const httpLimit = 26.3 * kib;

const serverOf = (/** @type {string} */ serve) => `
  import { createServer, tool } from "mcparley/server";
  ${serve}
  const hello = tool({ description: "Greets.", call: () => "Hello" });
  const server = createServer({ name: "size", version: "1.0.0", tools: { hello } });`;

/**
 * The budget of a server: 20 KB, the names and types of all members of definitions with the error for an unknown or wrong one, and
 * the checks of content and of names for models. They are needed when a definition is made, or belong to each call. Notifications that
 * MCP does not define are in it as well, because a server and a client share their code. So is the reader of messages, which leaves out
 * members that are null (0.5 KB): a table for all messages takes less than a check for each member. The types of options are 0.4 KB: a
 * wrong one would fail in a later call, or do nothing. The copy of messages in memory, the limit of levels and the errors for names of
 * other libraries are 0.6 KB, and the conversion of schemas after the start is 0.4 KB. The search for the member of a result that JSON
 * cannot represent, or would empty, is 0.3 KB: without it a `Map` is sent as {}, and an author reads "BigInt" without a place. The names of members of other contexts are 0.1 KB.
 */
const withChecks = 24.7 * kib;

/**
 * An endpoint also has the texts of its refusals, health checks and the metadata of `auth`. Each could be loaded later, but a module for
 * each costs readers more than its 0.3 KB. The names and types of all its options are 0.8 KB, and the bodies and the
 * timer of Bun 0.4 KB: they are checked when it starts. The limits of unread events are
 * 0.7 KB: without them a client that reads no stream could fill the memory.
 */
const fetchServer = 28 * kib;

/** The checks of definitions and the reader of JSON Schemas. */
const schemaReader = 5.5 * kib;

const bundles = [
  {
    name: "stdio server",
    code: `${serverOf('import { serveStdio } from "mcparley/stdio";')} serveStdio(server);`,
    platform: /** @type {const} */ ("node"),
    first: "answering-",
    limit: withChecks,
    limitWithReader: withChecks + schemaReader,
    forbidden: ["auth", "client", "http", "node", "otel", "testing"],
  },
  {
    name: "fetch server",
    code: `${serverOf('import { toFetch } from "mcparley/http";')} export default toFetch(server);`,
    platform: /** @type {const} */ ("browser"),
    limit: fetchServer,
    limitWithReader: fetchServer + schemaReader,
    forbidden: ["auth", "client", "http/client", "node", "otel", "stdio", "testing"],
    forbiddenAtStart: ["cluster", "http/server/http-sse", "http/server/sessions"],
  },
  {
    name: "HTTP client",
    code: `import { connect } from "mcparley/client"; export const client = await connect("https://example.com/mcp");`,
    platform: /** @type {const} */ ("browser"),
    limit: httpLimit,
    limitWithReader: httpLimit,
    forbidden: ["auth", "cluster", "http/server", "node", "otel", "server", "stdio", "testing"],
  },
];

const library = path.join(root, "packages/mcparley");

let failed = false;

/** @param {string} label @param {string} figure @param {boolean} ok */
function report(label, figure, ok) {
  process.stdout.write(`${ok ? "ok  " : "OVER"}  ${label.padEnd(34)} ${figure}\n`);
  if (!ok) failed = true;
}

/**
 * Lazy imports are left out, except those that are needed before the first message.
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
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: path.join(root, "tests"), loader: "js" },
    bundle: true,
    minify: true,
    write: false,
    outfile: path.join(library, "bundle.js"),
    sourcemap: "external",
    logLevel: "error",
    format: "esm",
    target: "es2022",
    platform,
    plugins: [...plugins, withMaps],
  });
  const [map, file] = outputFiles;
  if (!map || !file) throw new Error("esbuild returned no file");
  return { bytes: file.contents, modules: () => modulesOf(file.text, map.text) };
}

/**
 * Returns the modules of the library's source that a bundle contains. It reads the source map, because each published file
 * contains many modules.
 *
 * @param {string} code @param {string} map
 */
function modulesOf(code, map) {
  const payload = JSON.parse(map);
  const positions = new SourceMap(payload);
  /** @type {Set<string>} */
  const found = new Set();
  for (const [line, text] of code.split("\n").entries()) {
    for (let column = 0; column < text.length; column++) {
      const entry = positions.findEntry(line, column);
      if ("originalSource" in entry && entry.originalSource) found.add(entry.originalSource);
    }
  }
  return [...found]
    .map((source) => path.relative(path.join(library, "src"), path.resolve(library, source)).split(path.sep).join("/"))
    .filter((name) => !name.startsWith("../"));
}

/**
 * Returns the modules in the folders. Throws if a folder does not exist, so that a rename does not disable a check.
 *
 * @param {readonly string[]} modules @param {readonly string[]} folders
 */
function within(modules, folders) {
  const gone = folders.filter((folder) => !existsSync(path.join(library, "src", folder)));
  if (gone.length > 0) report("folders that do not exist", gone.join(", "), false);
  return modules.filter((name) => folders.some((folder) => name.startsWith(`${folder}/`)));
}

/** @typedef {{ bytes: Uint8Array }} Bundled */
const zipped = (/** @type {Bundled} */ { bytes }) => gzipSync(bytes).length;
const kilobytes = (/** @type {Bundled} */ bundle) => (zipped(bundle) / kib).toFixed(1);

for (const bundle of bundles) {
  const start = await bundled(bundle, [withoutReader, atStart(bundle)]);
  const withReader = await bundled(bundle, [atStart(bundle)]);
  const everything = await bundled(bundle, []);
  const { forbidden, forbiddenAtStart = [], limit, limitWithReader } = bundle;
  const figure = `${kilobytes(start)} of ${limit / kib} KB gzip, ${kilobytes(withReader)} of ${limitWithReader / kib} with the schema reader (${kilobytes(everything)} everything)`;
  report(bundle.name, figure, zipped(start) <= limit && zipped(withReader) <= limitWithReader);
  const modules = everything.modules();
  const atFirst = withReader.modules();
  const wrong = [...within(modules, forbidden), ...within(atFirst, forbiddenAtStart)];
  report(
    `${bundle.name}: modules`,
    wrong.length > 0
      ? `of forbidden folders: ${wrong.join(", ")}`
      : `${atFirst.length} at start, ${modules.length} in all, none of forbidden folders`,
    wrong.length === 0 && atFirst.length > 0,
  );
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
  zipped(evaluator) <= evaluatorLimit,
);

const importLimit = 25;
const emptyTime = fastest(20, () => run("0").total);
const importTime = fastest(20, () => {
  const measured =
    'const start = performance.now(); await import("mcparley/server"); console.log(performance.now() - start);';
  return Number(run(measured).output);
});
// Milliseconds on a machine that starts an empty process in 40 ms. A slower machine has proportionally higher limits.
const importAllowed = importLimit * Math.max(1, emptyTime / 40);
report(
  "cold import of ./server",
  `${importTime.toFixed(1)} of ${importAllowed.toFixed(1)} ms, on a machine that starts an empty process in ${emptyTime.toFixed(1)}`,
  importTime <= importAllowed,
);

const budget = budgetOf("mcparley");
const { packages, bytes } = measureInstallation();
report("packages installed by npm i", `${packages} of ${budget.packages}`, packages <= budget.packages);
const mebibytes = bytes / 2 ** 20;
report("their size", `${mebibytes.toFixed(1)} of ${budget.mebibytes} MiB`, mebibytes <= budget.mebibytes);

if (failed) process.exit(1);

/** Runs code in a process. Returns its output, and the milliseconds of the whole process. @param {string} code */
function run(code) {
  const started = performance.now();
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    cwd: path.join(root, "tests"),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`"${code}" failed`);
  return { output: stdout, total: performance.now() - started };
}

/**
 * Returns the fastest of many runs, because other work of the machine only adds time.
 *
 * @param {number} times @param {() => number} measure
 */
function fastest(times, measure) {
  return Math.min(...Array.from({ length: times }, measure));
}

function measureInstallation() {
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-size-"));
  try {
    const packed = packAll(folder);
    const project = path.join(folder, "project");
    installInto(project, tarballsOf(packed, "mcparley"));
    return measureInstalled(project);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
