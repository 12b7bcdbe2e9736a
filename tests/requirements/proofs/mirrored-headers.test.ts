import { expect } from "vitest";
import { type Client, type JsonObject, type RawAnswer, createServer, toFetch, tool } from "../library.ts";
import { proves } from "../proves.ts";
import type { ScriptedServer } from "../../support/scripted-server.ts";
import { textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const text = { type: "string", "x-mcp-header": "Text" };
const properties = {
  text,
  count: { type: "integer", "x-mcp-header": "Count" },
  flag: { type: "boolean", "x-mcp-header": "Flag" },
  place: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
};
const schema: JsonObject = { type: "object", properties };
const marked = tool({ input: schema, call: (input) => JSON.stringify(input) });
const base64 = (value: string): string => `=?base64?${Buffer.from(value).toString("base64")}?=`;

/** Calls the tool of a scripted server, and returns the sent request. */
async function sent(world: World, args: JsonObject, inputSchema: JsonObject = schema): Promise<Headers> {
  const { client, server } = await world.connect();
  const calling = client.callTool("t", args);
  calling.catch(() => {});
  await list(server, [{ name: "t", inputSchema }]);
  const request = await server.request("tools/call");
  server.answer(request, { content: [] });
  await calling;
  return server.httpOf(request).headers;
}

async function list(server: ScriptedServer, tools: object[]): Promise<void> {
  server.answer(await server.request("tools/list"), { tools });
}

/** Calls the tool of a server with these headers. Returns the status, and the code of an error. */
async function called(world: World, args: JsonObject, headers: Record<string, string>): Promise<[number, unknown]> {
  const http = world.serveHttp({ tools: { marked } });
  const answer: RawAnswer = await http.modern("tools/call", { name: "marked", arguments: args }, { headers });
  return [answer.status, (await answer.json()).error?.code];
}

const served: [number, unknown] = [200, undefined];
const refused: [number, unknown] = [400, -32020];

proves("http.param.designated", async (world) => {
  const peer = await world.serve({ tools: { marked } });
  const { result } = await peer.request("tools/list");
  expect(result.tools).toMatchObject([{ inputSchema: { properties } }]);
  const headers = { "Mcp-Param-Text": "a" };
  const answer = await peer.request("tools/call", { name: "marked", arguments: { text: "a" } }, { headers });
  expect(textOf(answer)).toBe('{"text":"a"}');
});

proves("http.param.mirrored", async (world) => {
  const headers = await sent(world, { text: "us-west1", count: 3, flag: false });
  expect(headers.get("mcp-param-text")).toBe("us-west1");
  expect(headers.get("mcp-param-count")).toBe("3");
  expect(headers.get("mcp-param-flag")).toBe("false");
});

proves("http.param.nested", {
  async server(world) {
    expect(await called(world, { place: { region: "a" } }, { "mcp-param-region": "a" })).toEqual(served);
    expect(await called(world, { place: { region: "a" } }, { "mcp-param-region": "b" })).toEqual(refused);
    expect(await called(world, { place: { region: "a" } }, {})).toEqual(refused);
  },
  async client(world) {
    const headers = await sent(world, { place: { region: "a" }, region: "not this one" });
    expect(headers.get("mcp-param-region")).toBe("a");
  },
});

const invalid: [string, JsonObject][] = [
  ["empty", { a: { type: "string", "x-mcp-header": "" } }],
  ["no token", { a: { type: "string", "x-mcp-header": "Two Words" } }],
  ["a line break", { a: { type: "string", "x-mcp-header": "A\r\nB" } }],
  ["no text", { a: { type: "string", "x-mcp-header": 5 } }],
  ["used twice", { a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } }],
  ["a number", { a: { type: "number", "x-mcp-header": "A" } }],
  ["an object", { a: { type: "object", "x-mcp-header": "A" } }],
  ["in a list", { a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } }],
  ["in a choice", { a: { anyOf: [{ type: "string", "x-mcp-header": "A" }] } }],
  ["in a condition", { a: { if: { type: "string", "x-mcp-header": "A" } } }],
];

proves("http.param.invalid.refused", () => {
  for (const [why, wrong] of invalid) {
    const odd = tool({ input: { type: "object", properties: wrong }, call: () => "" });
    const server = createServer({ name: "s", version: "1", tools: { odd } });
    expect(() => toFetch(server), why).toThrow("odd");
  }
});

/** Lists one tool with each invalid mark, and a valid one. */
async function listed(client: Client, server: ScriptedServer): Promise<string[]> {
  const tools = invalid.map(([why, wrong]) => ({ name: why, inputSchema: { type: "object", properties: wrong } }));
  const listing = client.listTools().all();
  await list(server, [...tools, { name: "valid", inputSchema: schema }]);
  return (await listing).map(({ name }) => name);
}

proves("http.param.invalid.excluded", async (world) => {
  const { client, server } = await world.connect();
  expect(await listed(client, server)).toEqual(["valid"]);
});

proves("http.param.invalid.reported", async (world) => {
  const errors: Error[] = [];
  const { client, server } = await world.connect({ onError: (error) => errors.push(error) });
  await listed(client, server);
  for (const [index, [why]] of invalid.entries()) {
    expect(errors[index]?.message).toContain(`"${why}"`);
    expect(errors[index]?.message).toContain("x-mcp-header");
  }
});

proves("http.param.ignored-elsewhere", async (world) => {
  const { client, server } = await world.connect();
  expect((await listed(client, server)).length).toBe(invalid.length + 1);
});

proves("http.param.types", async (world) => {
  const headers = await sent(world, { text: "007", count: -7, flag: true });
  expect(headers.get("mcp-param-text")).toBe("007");
  expect(headers.get("mcp-param-count")).toBe("-7");
  expect(headers.get("mcp-param-flag")).toBe("true");
});

const unsafeInteger = 2 ** 53;

proves("http.param.safe-integers", {
  async server(world) {
    const header = { "mcp-param-count": String(unsafeInteger) };
    expect(await called(world, { count: unsafeInteger }, header)).toEqual(refused);
    const largest = Number.MAX_SAFE_INTEGER;
    expect(await called(world, { count: largest }, { "mcp-param-count": String(largest) })).toEqual(served);
  },
  async client(world) {
    const { client, server } = await world.connect();
    const calling = client.callTool("t", { count: unsafeInteger });
    calling.catch(() => {});
    await list(server, [{ name: "t", inputSchema: schema }]);
    await expect(calling).rejects.toThrow(String(unsafeInteger));
    expect(server.received.some(({ method }) => method === "tools/call")).toBe(false);
  },
});

proves("http.param.encoded", async (world) => {
  for (const value of ["Hello, 世界", " padded ", "line1\nline2", "\u0000"]) {
    expect((await sent(world, { text: value })).get("mcp-param-text")).toBe(base64(value));
  }
  expect((await sent(world, { text: "Plain, with (marks)!" })).get("mcp-param-text")).toBe("Plain, with (marks)!");
});

proves("http.param.sentinel", async (world) => {
  const value = "=?base64?literal?=";
  expect((await sent(world, { text: value })).get("mcp-param-text")).toBe(base64(value));
});

proves("http.param.decoded", async (world) => {
  const value = "Hello, 世界";
  expect(await called(world, { text: value }, { "mcp-param-text": base64(value) })).toEqual(served);
  expect(await called(world, { text: "plain" }, { "mcp-param-text": base64("plain") })).toEqual(served);
  expect(await called(world, { text: value }, { "mcp-param-text": base64("another") })).toEqual(refused);
  const upper = base64("plain").replace("base64", "BASE64");
  expect(await called(world, { text: "plain" }, { "mcp-param-text": upper })).toEqual(refused);
});

proves("http.param.omitted", async (world) => {
  const headers = await sent(world, { text: null, place: {} });
  const names = [...headers.keys()].filter((name) => name.startsWith("mcp-param-"));
  expect(names).toEqual([]);
});

proves("http.param.not-expected", async (world) => {
  expect(await called(world, {}, {})).toEqual(served);
  // Null does not match the schema, so the call fails with a tool error. The headers are correct.
  expect(await called(world, { text: null }, {})).toEqual(served);
  expect(await called(world, { place: {} }, {})).toEqual(served);
});

proves("http.param.validated", async (world) => {
  expect(await called(world, { text: "a" }, { "mcp-param-text": "a" })).toEqual(served);
  expect(await called(world, { text: "a" }, { "mcp-param-text": "b" })).toEqual(refused);
  expect(await called(world, { flag: true }, { "mcp-param-flag": "True" })).toEqual(refused);
  expect(await called(world, {}, { "mcp-param-text": "a" })).toEqual(refused);
});

proves("http.param.missing", async (world) => {
  expect(await called(world, { text: "a" }, {})).toEqual(refused);
  expect(await called(world, { flag: false }, {})).toEqual(refused);
});

proves("http.param.invalid-characters", async (world) => {
  expect(await called(world, { text: "caf\u00e9" }, { "mcp-param-text": "caf\u00e9" })).toEqual(refused);
  expect(await called(world, { text: "a" }, { "mcp-param-text": "=?base64?*?=" })).toEqual(refused);
});

proves("http.param.numeric", async (world) => {
  for (const header of ["42", "42.0"]) {
    expect(await called(world, { count: 42 }, { "mcp-param-count": header })).toEqual(served);
  }
  expect(await called(world, { count: 42 }, { "mcp-param-count": "43" })).toEqual(refused);
});

proves("http.param.unknown-ignored", async (world) => {
  expect(await called(world, {}, { "mcp-param-unheard-of": "x" })).toEqual(served);
});

proves("http.param.stale", async (world) => {
  const { client, server } = await world.connect();
  const calling = client.callTool("t", { text: "a" });
  await list(server, [{ name: "t", inputSchema: { type: "object" } }]);
  const first = await server.request("tools/call");
  expect(server.httpOf(first).headers.has("mcp-param-text")).toBe(false);
  server.refuse(first, { code: -32020, message: "Header mismatch" });
  await list(server, [{ name: "t", inputSchema: schema }]);
  const second = await server.request("tools/call");
  expect(server.httpOf(second).headers.get("mcp-param-text")).toBe("a");
  server.answer(second, { content: [{ type: "text", text: "done" }] });
  expect(await calling).toBe("done");
});
