// @ts-check
import { AsyncLocalStorage, createHook, executionAsyncId } from "node:async_hooks";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { fileOf } from "./spine.mjs";

/**
 * Runs one warm call on each way of a request and prints, as JSON, the stacks of the way and what V8's coverage counted.
 *
 * Run by `ways.mjs` in a process without other work: `node capture.mjs FOLDER`. FOLDER holds the compiled packages, one
 * file of JavaScript for each file of TypeScript.
 *
 * @typedef {object} Captured
 * @property {string[]} stacks the stack at the end of the way, and before it the stacks that led there (see `trail`)
 * @property {{ file: string; functions: number }[]} touched the files that ran during the call
 */
const [folder = ""] = process.argv.slice(2);
const load = (/** @type {string} */ name) => import(pathToFileURL(path.join(folder, name)).href);
const library = "mcparley/src";

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
      file: fileOf(url.slice(pathToFileURL(folder).href.length + 1)),
      functions: functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).length,
    }))
    .filter(({ functions }) => functions > 0)
    .toSorted((one, other) => (one.file < other.file ? -1 : 1));
}

async function makeServer() {
  const { createServer, tool } = await load(`${library}/server.js`);
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
  const { toFetch } = await load(`${library}/http.js`);
  const { fetch } = toFetch(await makeServer());
  return capture(async () => {
    const response = await fetch(new Request(url, { method: "POST", headers: modernHeaders, body: modernBody }));
    await expectGreeting(await response.text());
  });
}

async function httpLegacy() {
  const { toFetch } = await load(`${library}/http.js`);
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

/** Serves the greeting on loopback. */
async function listen() {
  const { toNodeHandler } = await load(`${library}/node.js`);
  const server = createHttpServer(toNodeHandler(await makeServer()));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/mcp`, close };
}

async function nodeModern() {
  const { url, close } = await listen();
  const captured = await capture(async () => {
    const init = { method: "POST", headers: modernHeaders, body: modernBody };
    await expectGreeting(await (await fetch(url, init)).text());
  });
  close();
  return captured;
}

/** @param {readonly string[]} first messages before the call, each of which is answered @param {string} body */
async function stdio(first, body) {
  const { serveStdio } = await load(`${library}/stdio.js`);
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
  const { connect } = await load(`${library}/client.js`);
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

/** A turn is a request of a model that calls the tool, and one that answers. */
const turns = warmUps + 3;

async function hostRun() {
  const { createHost } = await load("@mcparley/host/src/index.js");
  const { callStep, scriptedModel, textStep } = await load("@mcparley/host/src/testing/scripted-model.js");
  const turn = [callStep([{ name: "house__greet", input: params.arguments }]), textStep("Done.")];
  const host = await createHost({
    servers: { house: await makeServer() },
    model: scriptedModel(Array.from({ length: turns }, () => turn).flat()),
    folder: false,
    policy: { trust: "configured", review: "changes", rules: [{ decision: "allow", server: "house", tool: "greet" }] },
  });
  const captured = await capture(async () => {
    let text = "";
    for await (const event of host.run({ messages: [{ role: "user", content: "Greet Ada." }] }))
      if (event.type === "result") text = JSON.stringify(event.result);
    await expectGreeting(text);
  });
  await host.close();
  return captured;
}

/** @param {readonly string[]} lines whether the chat waits for a message */
function isIdle(lines) {
  return lines.at(-1) === ">";
}

/** Runs the command in an emulated terminal, with a model at an endpoint of this process. */
async function chatTurn() {
  const { emulatedTerminal, keys } = await load("@mcparley/cli/src/terminal/testing/emulated-terminal.js");
  const { chunk, openAiEndpoint, usageChunk } = await load("../support/openai-endpoint.js");
  const { run } = await load("@mcparley/cli/src/command-line.js");
  const greet = { name: "house__greet", arguments: JSON.stringify(params.arguments) };
  const toolCalls = [{ index: 0, id: "1", type: "function", function: greet }];
  const turn = (/** @type {unknown} */ _, /** @type {number} */ number) => [
    { chunks: [chunk({ role: "assistant", tool_calls: toolCalls }), chunk({}, "tool_calls"), usageChunk(1, 1)] },
    { chunks: [chunk({ role: "assistant", content: `Done ${number}.` }), chunk({}, "stop"), usageChunk(1, 1)] },
  ];
  const endpoint = await openAiEndpoint(Array.from({ length: turns }, turn).flat());
  const home = mkdtempSync(path.join(tmpdir(), "house-"));
  const terminal = emulatedTerminal({ columns: 100, rows: 40, env: { HOME: home, NO_COLOR: "1" } });
  const server = await listen();
  writeFileSync(path.join(home, "mcp.json"), JSON.stringify({ mcpServers: { house: { url: server.url } } }));
  const model = ["--model", "m", "--base-url", endpoint.url];
  const exit = run(["chat", "--config", "mcp.json", "--trust", "--allow", "*", ...model], {
    ...terminal.io,
    cwd: home,
  });
  let count = 0;
  await terminal.waitUntil(isIdle);
  const captured = await capture(async () => {
    const answer = `Done ${count++}.`;
    terminal.press("Greet Ada.");
    terminal.press(keys.enter);
    await terminal.waitUntil((/** @type {readonly string[]} */ lines) => isIdle(lines) && lines.includes(answer));
  });
  await expectGreeting((await terminal.allLines()).join("\n"));
  terminal.press(keys.ctrlD);
  await exit;
  await endpoint.close();
  server.close();
  rmSync(home, { recursive: true });
  return captured;
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
  hostRun,
  chatTurn,
};
/** @type {Record<string, Captured | { error: string }>} */
const captured = {};
for (const [name, run] of Object.entries(ways)) {
  captured[name] = await run().catch((error) => ({ error: String(error?.stack ?? error) }));
}
process.stdout.write(`${JSON.stringify(captured)}\n`);
process.exit(0);
