import { expect } from "vitest";
import { type Client, type JsonObject, ProtocolError, rateLimit, readContent, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { asUser, serveGranted } from "../world/callers.ts";
import type { ScriptedServer } from "../../support/scripted-server.ts";
import { echo, failing, textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const object = { type: "object" };
const result = { content: [{ type: "text", text: "done" }] };

type Options = Parameters<World["connect"]>[0];

/** A client that has listed one tool, `t`. */
async function clientOf(world: World, options: Options = {}, more: JsonObject = {}) {
  const tools = [{ name: "t", inputSchema: object, ...more }];
  const connected = await world.connect(options, { answers: { "tools/list": () => ({ tools }) } });
  await connected.client.listTools().all();
  return connected;
}

async function call(
  { client, server }: { client: Client; server: ScriptedServer },
  result: JsonObject,
): Promise<unknown> {
  const calling = client.callTool("t", { to: "Ada" });
  calling.catch(() => {});
  server.answer(await server.request("tools/call"), result);
  return calling;
}

const callsOf = ({ received }: ScriptedServer): unknown[] => received.filter(({ method }) => method === "tools/call");

proves("tools.human.can-deny", async (world) => {
  const connected = await clientOf(world, { confirm: () => false });
  await expect(connected.client.callTool("t")).rejects.toMatchObject({ code: "declined" });
  expect(callsOf(connected.server)).toEqual([]);
});

proves("tools.human.confirms", async (world) => {
  const asked: unknown[] = [];
  const confirm: NonNullable<Options>["confirm"] = ({ tool: known, name }, { target, during }) => {
    asked.push([known?.title, name, during, target.length > 0]);
    return true;
  };
  const connected = await clientOf(world, { confirm }, { title: "Send" });
  expect(await call(connected, result)).toBe("done");
  expect(asked).toEqual([["Send", "t", 'tools/call "t"', true]]);
});

proves("tools.security.shows-inputs", async (world) => {
  const seen: unknown[] = [];
  const connected = await clientOf(world, {
    confirm: ({ arguments: args }) => {
      seen.push(args, callsOf(connected.server).length);
      return true;
    },
  });
  await call(connected, result);
  expect(seen).toEqual([{ to: "Ada" }, 0]);
});

proves("tools.security.inputs", async (world) => {
  const run: unknown[] = [];
  const input = { type: "object", properties: { path: { type: "string", pattern: "^[a-z]+$" } }, required: ["path"] };
  const peer = await world.serve({ tools: { t: tool({ input, call: (given) => void run.push(given) }) } });
  for (const args of [{}, { path: 7 }, { path: "../etc/passwd" }, { path: null }]) {
    const { result } = await peer.request("tools/call", { name: "t", arguments: args });
    expect(result.isError).toBe(true);
  }
  expect(run).toEqual([]);
  await peer.request("tools/call", { name: "t", arguments: { path: "notes" } });
  expect(run).toEqual([{ path: "notes" }]);
});

proves("tools.security.budget", async (world) => {
  const peer = await world.serve({ tools: { echo }, limits: { depth: 3, elements: 10 } });
  const send = (args: JsonObject) => peer.request("tools/call", { name: "echo", arguments: args });
  expect((await send({ a: { b: { c: { d: {} } } } })).error.code).toBe(-32602);
  expect((await send({ a: Array(20).fill(0) })).error.code).toBe(-32602);
  expect(textOf(await send({ a: { b: 1 } }))).toBe('{"a":{"b":1}}');
});

proves("tools.security.rate", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  world.server.use(rateLimit({ perSecond: 1, burst: 2, clock: world.clock }));
  const send = () => peer.request("tools/call", { name: "echo" });
  expect([await send(), await send()].map(textOf)).toEqual(["{}", "{}"]);
  expect((await send()).error.data).toEqual({ retryAfter: 1 });
  await world.clock.advance(1000);
  expect(textOf(await send())).toBe("{}");
});

proves("tools.security.outputs", async (world) => {
  const output = { type: "object", properties: { name: { type: "string" } }, additionalProperties: false } as const;
  const leaking = tool({ output, call: () => ({ name: "Ada", password: "the secret reason" }) });
  const peer = await world.serve({ tools: { leaking, failing } });
  await peer.request("tools/call", { name: "leaking" });
  await peer.request("tools/call", { name: "failing" });
  expect(world.errors.length).toBe(2);
  expect(JSON.stringify(peer.received)).not.toContain("secret");
});

proves("tools.security.checks-results", async (world) => {
  const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const checked = await clientOf(world, {}, { outputSchema });
  for (const structuredContent of [{}, { n: "1" }, [1]]) {
    const rejected = { ...result, structuredContent };
    const data = expect.objectContaining({ result: expect.objectContaining(rejected) as JsonObject }) as JsonObject;
    await expect(call(checked, rejected)).rejects.toMatchObject({ code: "invalid_result", data });
  }
  expect(await call(checked, { ...result, structuredContent: { n: 1 } })).toEqual({ n: 1 });
  // Content of another form is a list for the caller, who receives a readable block for each entry.
  const connected = await clientOf(world);
  expect(await call(connected, { content: "text" })).toBe("text");
  expect(await call(connected, { content: null })).toEqual([]);
  for (const content of [{ type: "text" }, 7, [null, { type: "video" }]]) {
    const blocks = readContent(await call(connected, { content }));
    expect(blocks.map((block) => block.type === "text" && typeof block.text)).toEqual(blocks.map(() => "string"));
  }
});

proves("tools.security.timeout", async (world) => {
  const { client, server } = await clientOf(world, { timeout: { idle: 50 } });
  const calling = client.callTool("t");
  calling.catch(() => {});
  const request = await server.request("tools/call");
  await world.clock.advance(50);
  await expect(calling).rejects.toMatchObject({ code: "timeout" });
  if (world.isHttp && world.revision.dropCancels) expect(server.httpOf(request).signal.aborted).toBe(true);
  else expect((await server.notification("notifications/cancelled")).params.requestId).toBe(request.id);
});

proves("tools.security.log", async (world) => {
  const log: unknown[] = [];
  const connected = await clientOf(world, {
    onCall: ({ at, method, name, outcome, durationMs }) => {
      if (method === "tools/call") log.push({ at, name, outcome, durationMs });
    },
  });
  await call(connected, result);
  await world.clock.advance(7);
  await call(connected, { ...result, isError: true }).catch(() => {});
  const refused = connected.client.callTool("t").catch((error: unknown) => error);
  connected.server.refuse(await connected.server.request("tools/call"), { code: 1, message: "no" });
  expect(await refused).toBeInstanceOf(ProtocolError);
  expect(log).toEqual([
    { at: 0, name: "t", outcome: "ok", durationMs: 0 },
    { at: 7, name: "t", outcome: "tool_error", durationMs: 0 },
    { at: 7, name: "t", outcome: "error", durationMs: 0 },
  ]);
});

proves("tools.security.references", async (world) => {
  const outputSchema = { type: "object", properties: { a: { $ref: "https://evil.example/schema.json" } } };
  const connected = await clientOf(world, {}, { outputSchema });
  await call(connected, { content: [], structuredContent: { a: 1 } });
  const urls = new Set(connected.server.sent.map(({ url }) => new URL(url).hostname));
  expect([...urls].filter((name) => !name.endsWith(".test"))).toEqual([]);
});

proves("tools.annotations.untrusted", async (world) => {
  const asked: string[] = [];
  const confirm = ({ name }: { name: string }): boolean => asked.push(name) > 1;
  const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
  const connected = await clientOf(world, { confirm }, { annotations });
  await expect(connected.client.callTool("t")).rejects.toMatchObject({ code: "declined" });
  expect(callsOf(connected.server)).toEqual([]);
  const failed = call(connected, { content: [], isError: true });
  await expect(failed).rejects.toMatchObject({ code: "tool_error" });
  expect(asked).toEqual(["t", "t"]);
  expect(callsOf(connected.server).length).toBe(1);
});

proves("tools.security.access", async (world) => {
  const run: string[] = [];
  const secret = tool({ scopes: ["secrets"], call: (_, { principal }) => void run.push(principal!.subject) });
  const without = await serveGranted(world, { tools: { echo, secret } }, ["others"]);
  const { error } = await without.request("tools/call", { name: "secret" });
  expect(error.data).toEqual({ scopes: ["secrets"] });
  const { tools } = (await without.request("tools/list")).result as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toEqual(["echo"]);
  const anonymous = await world.serve({ tools: { secret } });
  expect((await anonymous.request("tools/call", { name: "secret" })).error).toBeDefined();
  expect(run).toEqual([]);
  const granted = await world.serve({ tools: { secret } }, { http: asUser("ada", "secrets", "others") });
  await granted.request("tools/call", { name: "secret" });
  expect(run).toEqual(["ada"]);
});
