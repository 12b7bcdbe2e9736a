// @ts-check
import { AsyncLocalStorage, createHook, executionAsyncId } from "node:async_hooks";
import { createServer as createHttpServer } from "node:http";
import { Session } from "node:inspector/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { z } from "zod";

/**
 * Runs one warm call on each way of a request and prints, as JSON, the stacks of the way and what V8's coverage counted.
 *
 * Run by `ways.mjs` in a process without other work: `node capture.mjs FOLDER`. FOLDER holds the compiled source, one
 * file of JavaScript for each file of TypeScript.
 *
 * @typedef {object} Captured
 * @property {string[]} stacks the stack at the end of the way, and before it the stacks that led there (see `trail`)
 * @property {{ file: string; functions: number }[]} touched the files that ran during the call
 */
const [folder = ""] = process.argv.slice(2);
const load = (/** @type {string} */ name) => import(pathToFileURL(path.join(folder, name)).href);

const modern = "2026-07-28";
const legacy = "2025-11-25";
const meta = {
  "io.modelcontextprotocol/protocolVersion": modern,
  "io.modelcontextprotocol/clientInfo": { name: "house", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const params = { name: "greet", arguments: { name: "Ada" } };
const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: legacy, capabilities: {}, clientInfo: { name: "house", version: "1.0.0" } },
};
const callOf = (/** @type {object} */ more) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { ...params, ...more },
});
const warmUps = 5;

Error.stackTraceLimit = Infinity;
const isWatched = new AsyncLocalStorage();
/** The stack at which each asynchronous continuation was made, by its id, and the continuation that it was made in. */
const origins = new Map();
createHook({
  init(id) {
    if (isWatched.getStore()) origins.set(id, { from: executionAsyncId(), stack: new Error().stack });
  },
}).enable();
/** @type {string[] | undefined} */
let reached;

/**
 * The stack of now, and before it the stack at which the continuation that now runs was made, and so on. Without these
 * a way would seem to start at the last callback.
 */
function trail() {
  const stacks = [String(new Error().stack)];
  for (let id = executionAsyncId(), origin; (origin = origins.get(id)); id = origin.from) stacks.unshift(origin.stack);
  return stacks;
}

const inspector = new Session();
inspector.connect();
await inspector.post("Profiler.enable");

/**
 * @param {() => Promise<unknown>} call
 * @returns {Promise<Captured>}
 */
async function capture(call) {
  for (let count = 0; count < warmUps; count++) await call();
  reached = undefined;
  await isWatched.run(true, call);
  const stacks = /** @type {string[]} */ (reached ?? []);
  origins.clear();
  await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await call();
  await inspector.post("Profiler.takePreciseCoverage");
  await call();
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  await inspector.post("Profiler.stopPreciseCoverage");
  return { stacks, touched: touchedIn(result) };
}

/** @param {import("node:inspector").Profiler.ScriptCoverage[]} scripts */
function touchedIn(scripts) {
  return scripts
    .filter(({ url }) => url.startsWith(pathToFileURL(folder).href))
    .map(({ url, functions }) => ({
      file: url.slice(pathToFileURL(folder).href.length + 1),
      functions: functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).length,
    }))
    .filter(({ functions }) => functions > 0)
    .toSorted((one, other) => (one.file < other.file ? -1 : 1));
}

async function makeServer() {
  const { createServer, tool } = await load("server.js");
  const greet = tool({
    description: "Greets a person.",
    input: z.object({ name: z.string() }),
    call: (/** @type {{ name: string }} */ { name }) => {
      reached = trail();
      return `Hello ${name}`;
    },
  });
  return createServer({ name: "house", version: "1.0.0", tools: { greet } });
}

const jsonHeaders = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const modernHeaders = {
  ...jsonHeaders,
  "mcp-protocol-version": modern,
  "mcp-method": "tools/call",
  "mcp-name": "greet",
};
const modernBody = JSON.stringify(callOf({ _meta: meta }));
const legacyBody = JSON.stringify(callOf({}));
const url = "http://localhost/mcp";

async function httpModern() {
  const { toFetch } = await load("http.js");
  const { fetch } = toFetch(await makeServer());
  return capture(async () => {
    const response = await fetch(new Request(url, { method: "POST", headers: modernHeaders, body: modernBody }));
    await expectGreeting(await response.text());
  });
}

async function httpLegacy() {
  const { toFetch } = await load("http.js");
  const { fetch, close } = toFetch(await makeServer());
  const post = (/** @type {Record<string, string>} */ headers, /** @type {string} */ body) =>
    fetch(new Request(url, { method: "POST", headers: { ...jsonHeaders, ...headers }, body }));
  const opened = await post({}, JSON.stringify(initialize));
  const headers = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": legacy };
  await opened.text();
  await (await post(headers, JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }))).text();
  const captured = await capture(async () => expectGreeting(await (await post(headers, legacyBody)).text()));
  await close();
  return captured;
}

async function nodeModern() {
  const { toNodeHandler } = await load("node.js");
  const server = createHttpServer(toNodeHandler(await makeServer()));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const call = async () => {
    const init = { method: "POST", headers: modernHeaders, body: modernBody };
    await expectGreeting(await (await fetch(`http://127.0.0.1:${port}/mcp`, init)).text());
  };
  const captured = await capture(call);
  server.closeAllConnections();
  server.close();
  return captured;
}

/** @param {readonly string[]} first messages before the call, each of which is answered @param {string} body */
async function stdio(first, body) {
  const { serveStdio } = await load("stdio.js");
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveStdio(await makeServer(), { input, output });
  const lines = output[Symbol.asyncIterator]();
  const ask = async (/** @type {string} */ line) => {
    input.write(`${line}\n`);
    return String((await lines.next()).value);
  };
  for (const line of first) await ask(line);
  const captured = await capture(async () => expectGreeting(await ask(body)));
  input.end();
  await served;
  return captured;
}

const discovered = {
  resultType: "complete",
  supportedVersions: [modern],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: "public",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "house", version: "1.0.0" } },
};
const results = /** @type {Record<string, object>} */ ({
  "server/discover": discovered,
  "tools/list": {
    resultType: "complete",
    ttlMs: 60_000,
    cacheScope: "public",
    tools: [{ name: "greet", inputSchema: { type: "object", properties: { name: { type: "string" } } } }],
  },
  "tools/call": { resultType: "complete", content: [{ type: "text", text: "Hello Ada" }] },
});

/** @param {{ id?: unknown; method: string }} request the response of a scripted server */
function respond({ id, method }) {
  if (method === "tools/call") reached = trail();
  return { jsonrpc: "2.0", id, result: results[method] ?? {} };
}

/** @param {unknown} target @param {object} options */
async function clientOf(target, options = {}) {
  const { connect } = await load("client.js");
  const client = await connect(target, options);
  const captured = await capture(async () =>
    expectGreeting(JSON.stringify(await client.callTool("greet", { name: "Ada" }))),
  );
  await client.close();
  return captured;
}

/** @param {unknown} _ @param {{ body: string }} init */
async function stubFetch(_, { body }) {
  return Response.json(respond(JSON.parse(body)));
}

function clientHttp() {
  return clientOf("https://example.com/mcp", { fetch: stubFetch });
}

function clientInMemory() {
  /** @type {{ message: (message: unknown) => void; close: () => void } | undefined} */
  let handlers;
  return clientOf({
    start: (/** @type {NonNullable<typeof handlers>} */ given) => {
      handlers = given;
    },
    send: async (/** @type {{ id?: unknown; method: string }} */ message) => {
      const response = respond(message);
      if (message.id !== undefined) queueMicrotask(() => handlers?.message(response));
    },
    close: async () => handlers?.close(),
  });
}

/** @param {string} text */
async function expectGreeting(text) {
  if (!text.includes("Hello Ada")) throw new Error(`The call was not answered with a greeting: ${text}`);
}

const ways = {
  httpModern,
  nodeModern,
  httpLegacy,
  stdioModern: () => stdio([], modernBody),
  stdioLegacy: () => stdio([JSON.stringify(initialize)], legacyBody),
  clientHttp,
  clientInMemory,
};
/** @type {Record<string, Captured | { error: string }>} */
const captured = {};
for (const [name, run] of Object.entries(ways)) {
  captured[name] = await run().catch((error) => ({ error: String(error?.stack ?? error) }));
}
process.stdout.write(`${JSON.stringify(captured)}\n`);
process.exit(0);
