import { expect } from "vitest";
import { type JsonObject, createServer, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { serveGranted } from "../world/callers.ts";
import { anotherPeer, clientListens, declaredBy, listenTo, notificationCount } from "../world/changes.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import { echo, failing, rooted, textOf } from "../world/subjects.ts";

const object = { type: "object" };

async function toolsOf(peer: RawPeer): Promise<JsonObject[]> {
  return (await peer.request("tools/list")).result.tools as JsonObject[];
}

async function namesOf(peer: RawPeer): Promise<unknown[]> {
  return (await toolsOf(peer)).map(({ name }) => name);
}

proves("tools.capability.declared", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  expect(await declaredBy(world, peer)).toHaveProperty("tools");
});

proves("tools.capability.absent", async (world) => {
  const peer = await world.serve();
  expect(await declaredBy(world, peer)).not.toHaveProperty("tools");
  expect((await peer.request("tools/list")).error.code).toBe(-32601);
  expect((await peer.request("tools/call", { name: "echo" })).error.code).toBe(-32601);
});

proves("tools.capability.list-changed", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  expect((await declaredBy(world, peer)).tools).toEqual({ listChanged: true });
});

proves("tools.list.answered", async (world) => {
  const peer = await world.serve({ tools: { echo, failing } });
  expect(await namesOf(peer)).toEqual(["echo", "failing"]);
});

proves("tools.list.empty", async (world) => {
  const peer = await world.serve({ tools: {} });
  expect(await declaredBy(world, peer)).toHaveProperty("tools");
  expect(await toolsOf(peer)).toEqual([]);
});

proves("tools.list.changes", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  expect(await namesOf(peer)).toEqual(["echo"]);
  world.server.tools.set("failing", failing);
  expect(await namesOf(peer)).toEqual(["echo", "failing"]);
  world.server.tools.delete("echo");
  expect(await namesOf(peer)).toEqual(["failing"]);
});

proves("tools.list.not-by-connection", async (world) => {
  const peer = await world.serve({ tools: { echo, failing, rooted } });
  const first = await toolsOf(peer);
  for (const name of ["echo", "failing", "rooted", "none"]) await peer.request("tools/call", { name });
  expect(await toolsOf(peer)).toEqual(first);
  const other = await anotherPeer(world, { roots: {}, elicitation: {} });
  expect(await toolsOf(other)).toEqual(first);
});

proves("tools.list.by-authorization", async (world) => {
  const tools = { echo, secret: tool({ scopes: ["secrets"], call: () => "" }) };
  expect(await namesOf(await serveGranted(world, { tools }, []))).toEqual(["echo"]);
  expect(await namesOf(await serveGranted(world, { tools }, ["secrets"]))).toEqual(["echo", "secret"]);
});

proves("tools.list.same-order", async (world) => {
  const names = ["b", "a", "z", "10", "9", "c"];
  const peer = await world.serve({ tools: {} });
  for (const name of names) world.server.tools.set(name, echo);
  expect(await namesOf(peer)).toEqual(names);
  world.server.tools.set("a", failing);
  expect(await namesOf(peer)).toEqual(names);
});

proves("tools.list.members", async (world) => {
  const peer = await world.serve({ tools: { echo, failing } });
  for (const { name, inputSchema } of await toolsOf(peer)) {
    expect(typeof name).toBe("string");
    expect(inputSchema).toMatchObject(object);
  }
});

proves("tools.list.description", async (world) => {
  const peer = await world.serve({ tools: { add: tool({ description: "Adds.", call: () => "" }) } });
  expect(await toolsOf(peer)).toMatchObject([{ description: "Adds." }]);
});

const described = tool({
  title: "Sum",
  output: { type: "object" },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  meta: { "com.example/a": 1 },
  icons: [{ src: "https://example.com/a.png" }],
  call: () => ({}),
});

proves("tools.list.title", async (world) => {
  const peer = await world.serve({ tools: { described } });
  expect(await toolsOf(peer)).toMatchObject([{ title: "Sum" }]);
});

proves("tools.list.title-as-hint", async (world) => {
  const peer = await world.serve({ tools: { described } });
  expect(await toolsOf(peer)).toMatchObject([{ annotations: { title: "Sum" } }]);
});

proves("tools.list.annotations", async (world) => {
  const peer = await world.serve({ tools: { described } });
  const [{ annotations } = {}] = await toolsOf(peer);
  expect(annotations).toMatchObject(described.annotations!);
});

proves("tools.list.older-fields", async (world) => {
  const peer = await world.serve({ tools: { described } });
  const known = ["name", "description", "inputSchema", ...(world.version === "2024-11-05" ? [] : ["annotations"])];
  for (const shown of await toolsOf(peer)) expect(Object.keys(shown).filter((key) => !known.includes(key))).toEqual([]);
});

proves("tools.list.client", async (world) => {
  const { client, server } = await world.connect();
  const listing = client.listTools().all();
  const tools = [{ name: "a", title: "A", description: "d", inputSchema: object, "com.example": [1] }];
  server.answer(await server.request("tools/list"), { tools });
  expect(await listing).toEqual(tools);
});

proves("tools.input-schema.object", async (world) => {
  const composed = tool({ input: { anyOf: [{ required: ["a"] }, { required: ["b"] }] }, call: () => "" });
  const peer = await world.serve({ tools: { echo, failing, composed } });
  for (const { inputSchema } of await toolsOf(peer)) expect(inputSchema).toMatchObject(object);
});

proves("tools.input-schema.refused", async (world) => {
  for (const input of [null, "object", { type: "string" }, { type: "array" }, { type: "no such type" }]) {
    const wrong = tool({ input: input as never, call: () => "" });
    await expect(world.serve({ tools: { wrong } })).rejects.toMatchObject({ code: "invalid_definition" });
  }
});

proves("tools.input-schema.no-parameters", async (world) => {
  const peer = await world.serve({ tools: { failing } });
  expect(await toolsOf(peer)).toMatchObject([{ inputSchema: { type: "object", additionalProperties: false } }]);
});

proves("tools.input-schema.client", async (world) => {
  const errors: Error[] = [];
  const { client, server } = await world.connect({ onError: (error) => errors.push(error) });
  const listing = client.listTools().all();
  const tools = [{ name: "a", inputSchema: null }, { name: "b" }, { name: "c", inputSchema: object }];
  server.answer(await server.request("tools/list"), { tools });
  expect((await listing).map(({ name }) => name)).toEqual(["c"]);
  expect(
    errors.map(({ message }) => /"[ab]" of tools\/list was left out: its "inputSchema" is not an object/.test(message)),
  ).toEqual([true, true]);
});

proves("tools.output-schema.listed", async (world) => {
  const output = { type: "object", properties: { sum: { type: "number" } } } as const;
  const peer = await world.serve({ tools: { add: tool({ output, call: () => ({ sum: 1 }) }) } });
  expect(await toolsOf(peer)).toMatchObject([{ outputSchema: output }]);
});

proves("tools.output-schema.object", async (world) => {
  const output = { type: "array", items: { type: "number" } } as const;
  const peer = await world.serve({ tools: { add: tool({ output, call: () => [1] as never }), described } });
  const schemas = (await toolsOf(peer)).map(({ outputSchema }) => outputSchema);
  expect(schemas).toEqual([undefined, object]);
});

proves("tools.name.length", async (world) => {
  const longest = "n".repeat(128);
  const peer = await world.serve({ tools: { a: echo, [longest]: echo } });
  expect(await namesOf(peer)).toEqual(["a", longest]);
  expect(textOf(await peer.request("tools/call", { name: longest, arguments: { a: 1 } }))).toBe('{"a":1}');
  expect(() => world.server.tools.set("", echo)).toThrow("non-empty");
});

proves("tools.name.case", {
  async server(world) {
    const peer = await world.serve({ tools: { add: tool({ call: () => "low" }), Add: tool({ call: () => "high" }) } });
    expect(textOf(await peer.request("tools/call", { name: "add" }))).toBe("low");
    expect(textOf(await peer.request("tools/call", { name: "Add" }))).toBe("high");
    expect((await peer.request("tools/call", { name: "ADD" })).error.code).toBe(-32602);
  },
  async client(world) {
    const { client, server } = await world.connect();
    const listing = client.listTools().all();
    const strict = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const tools = [
      { name: "add", inputSchema: object },
      { name: "Add", inputSchema: object, outputSchema: strict },
    ];
    server.answer(await server.request("tools/list"), { tools });
    expect((await listing).map(({ name }) => name)).toEqual(["add", "Add"]);
    const calls = [client.callTool("add"), client.callTool("Add")];
    const settled = Promise.allSettled(calls);
    for (const name of ["add", "Add"]) {
      const request = await server.request("tools/call");
      expect(request.params.name).toBe(name);
      server.answer(request, { content: [], structuredContent: {} });
    }
    // The result of "Add" does not fit, so the client reads the list again.
    server.answer(await server.request("tools/list"), { tools });
    expect((await settled).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  },
});

proves("tools.name.characters", async (world) => {
  const names = ["getUser", "DATA_EXPORT_v2", "admin.tools.list", "a-b_c.9", "__proto__", "constructor", "7"];
  const peer = await world.serve({ tools: {} });
  for (const name of names) world.server.tools.set(name, echo);
  expect(await namesOf(peer)).toEqual(names);
  for (const name of names) expect(textOf(await peer.request("tools/call", { name }))).toBe("{}");
});

proves("tools.name.other-characters", async (world) => {
  const warnings: string[] = [];
  const peer = await world.serve({ tools: { plain_1: echo }, onWarning: (warning) => void warnings.push(warning) });
  for (const name of ["my tool", "a,b", "a/b", "a:b", "größe", "a\u200bb", "a\n", "tool!"]) {
    expect(() => world.server.tools.set(name, echo), name).toThrow("letters, digits");
  }
  await peer.settled();
  expect(warnings).toEqual([]);
  // The specification allows these, and some model providers do not.
  world.server.tools.set("admin.list", echo);
  world.server.tools.set("n".repeat(65), echo);
  await expect.poll(() => warnings).toEqual([expect.stringContaining(`admin.list, ${"n".repeat(65)}`)]);
  expect(await namesOf(peer)).toEqual(["plain_1", "admin.list", "n".repeat(65)]);
});

proves("tools.name.unique", async (world) => {
  const peer = await world.serve({ tools: { one: echo } });
  world.server.tools.set("one", tool({ call: () => "the second" }));
  expect(await namesOf(peer)).toEqual(["one"]);
  expect(textOf(await peer.request("tools/call", { name: "one" }))).toBe("the second");
});

const searching = (where: string) =>
  createServer({ name: "search", version: "1.0.0", tools: { search: tool({ call: () => where }) } });

proves("tools.name.aggregated", async (world) => {
  const peer = await world.serve();
  world.server.mount("web", searching("the web")).mount("mail", searching("mails"));
  expect(await namesOf(peer)).toEqual(["web.search", "mail.search"]);
  expect(textOf(await peer.request("tools/call", { name: "mail.search" }))).toBe("mails");
});

proves("tools.name.not-by-server-name", async (world) => {
  const [first, second] = [searching("one"), searching("two")];
  expect(first.name).toBe(second.name);
  const peer = await world.serve();
  world.server.mount("first", first).mount("second", second);
  expect(textOf(await peer.request("tools/call", { name: "first.search" }))).toBe("one");
  expect(textOf(await peer.request("tools/call", { name: "second.search" }))).toBe("two");
});

proves("tools.list-changed.sent", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  await listenTo(world, peer, { toolsListChanged: true });
  const notified = (): Promise<number> => notificationCount(peer, "notifications/tools/list_changed");
  world.server.tools.set("added", echo);
  expect(await notified()).toBe(1);
  world.server.tools.set("added", failing);
  expect(await notified()).toBe(2);
  world.server.tools.delete("added");
  expect(await notified()).toBe(3);
});

proves("tools.list-changed.list", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  await listenTo(world, peer, { toolsListChanged: true });
  expect(await namesOf(peer)).toEqual(["echo"]);
  world.server.tools.set("added", echo);
  await peer.nextNotification("notifications/tools/list_changed");
  expect(await namesOf(peer)).toEqual(["echo", "added"]);
});

proves("tools.list-changed.client", async (world) => {
  const { client, server } = await world.connect();
  let changed!: (kind: string) => void;
  const change = new Promise<string>((resolve) => (changed = resolve));
  const { tell } = await clientListens(world, { client, server }, { tools: true }, ({ kind }) => changed(kind));
  tell("notifications/tools/list_changed");
  expect(await change).toBe("tools");
  const listing = client.listTools().all();
  server.answer(await server.request("tools/list"), { tools: [] });
  expect(await listing).toEqual([]);
});
