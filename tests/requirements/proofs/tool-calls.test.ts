import { expect } from "vitest";
import {
  type Client,
  type JsonObject,
  ProtocolError,
  ToolError,
  content,
  inputRequired,
  tool,
  toolResult,
} from "../library.ts";
import { proves } from "../proves.ts";
import type { RawMessage } from "../../support/raw-message.ts";
import type { ScriptedServer } from "../../support/scripted-server.ts";
import { echo, failing, textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const bytes = new Uint8Array([0, 1, 254, 255]);
const base64 = "AAH+/w==";

/** The result of the one tool that is served. */
async function resultOf(world: World, call: () => unknown, definition: object = {}): Promise<JsonObject> {
  const peer = await world.serve({ tools: { t: tool({ ...definition, call: call as () => string }) } });
  const { result, error } = await peer.request("tools/call", { name: "t" });
  expect(error).toBeUndefined();
  return result;
}

/** A client that has listed these tools. */
async function clientOf(world: World, tools: JsonObject[] = []): Promise<{ client: Client; server: ScriptedServer }> {
  const connected = await world.connect({}, { answers: { "tools/list": () => ({ tools }) } });
  await connected.client.listTools().all();
  return connected;
}

/** Calls a tool, and the request with which the client does. */
async function called(
  { client, server }: { client: Client; server: ScriptedServer },
  args?: JsonObject,
): Promise<{ request: RawMessage; outcome: Promise<unknown> }> {
  const outcome = client.callTool("t", args);
  outcome.catch(() => {});
  return { request: await server.request("tools/call"), outcome };
}

proves("tools.call.client", async (world) => {
  const connected = await clientOf(world);
  const { request, outcome } = await called(connected, { a: [1, null], b: { c: "d" } });
  expect(request.params).toMatchObject({ name: "t", arguments: { a: [1, null], b: { c: "d" } } });
  connected.server.answer(request, { content: [{ type: "text", text: "done" }] });
  expect(await outcome).toBe("done");
});

proves("tools.call.arguments", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  const args = { text: "a\u2028ключ", list: [1, null, [true]], "": {}, deep: { constructor: 1 } };
  expect(JSON.parse(textOf(await peer.request("tools/call", { name: "echo", arguments: args })))).toEqual(args);
});

proves("tools.call.no-arguments", async (world) => {
  const peer = await world.serve({ tools: { echo, none: tool({ call: (input) => JSON.stringify(input) }) } });
  expect(textOf(await peer.request("tools/call", { name: "echo" }))).toBe("{}");
  expect(textOf(await peer.request("tools/call", { name: "none" }))).toBe("{}");
});

proves("tools.call.content", async (world) => {
  for (const nothing of [undefined, null]) expect((await resultOf(world, () => nothing)).content).toEqual([]);
});

const asking = tool({
  call: (_, { inputResponses }) => {
    if ("q" in inputResponses) return JSON.stringify(inputResponses.q);
    return inputRequired({ inputRequests: { q: { method: "roots/list" } }, requestState: "mine" });
  },
});

proves("tools.call.input-required", async (world) => {
  const peer = await world.serve({ tools: { asking } }, { capabilities: { roots: {} } });
  const { result } = await peer.request("tools/call", { name: "asking" });
  expect(result).toMatchObject({ resultType: "input_required", inputRequests: { q: { method: "roots/list" } } });
  const inputResponses = { q: { roots: [] } };
  const { requestState } = result;
  const retried = await peer.request("tools/call", { name: "asking", inputResponses, requestState });
  expect(textOf(retried)).toBe('{"roots":[]}');
});

const wanted = { resultType: "input_required", inputRequests: { q: { method: "roots/list" } } };

proves("tools.call.retry", async (world) => {
  const roots = [{ uri: "file:///a" }];
  const { client, server } = await world.connect({ roots }, { answers: { "tools/list": () => ({ tools: [] }) } });
  for (const state of [{ requestState: "opaque é" }, {}]) {
    const { request, outcome } = await called({ client, server }, { a: 1 });
    server.answer(request, { ...wanted, ...state });
    const retried = await server.request("tools/call");
    expect(retried.params).toMatchObject({
      name: "t",
      arguments: { a: 1 },
      inputResponses: { q: { roots } },
      ...state,
    });
    expect("requestState" in retried.params).toBe("requestState" in state);
    server.answer(retried, { content: [] });
    expect(await outcome).toEqual([]);
  }
});

proves("tools.call.retry-id", async (world) => {
  const { client, server } = await world.connect({ roots: [] }, { answers: { "tools/list": () => ({ tools: [] }) } });
  const { request } = await called({ client, server });
  server.answer(request, wanted);
  expect((await server.request("tools/call")).id).not.toBe(request.id);
});

proves("tools.content.text", async (world) => {
  expect((await resultOf(world, () => "said")).content).toEqual([{ type: "text", text: "said" }]);
});

proves("tools.content.image", async (world) => {
  const { content: blocks } = await resultOf(world, () => content.image(bytes, "image/png"));
  expect(blocks).toEqual([{ type: "image", data: base64, mimeType: "image/png" }]);
});

proves("tools.content.audio", async (world) => {
  const { content: blocks } = await resultOf(world, () => content.audio(bytes, "audio/wav"));
  expect(blocks).toEqual([{ type: "audio", data: base64, mimeType: "audio/wav" }]);
});

proves("tools.content.audio-older", async (world) => {
  const { content: blocks } = await resultOf(world, () => content.audio(bytes, "audio/wav"));
  expect(blocks).toMatchObject([{ type: "resource", resource: { blob: base64, mimeType: "audio/wav" } }]);
  expect(JSON.stringify(blocks)).not.toContain('"audio"');
});

const linked = (): unknown =>
  content.link("file:///a.rs", { name: "a.rs", description: "The start", mimeType: "text/x-rust" });

proves("tools.content.link", async (world) => {
  const { content: blocks } = await resultOf(world, linked);
  const link = { uri: "file:///a.rs", name: "a.rs", description: "The start", mimeType: "text/x-rust" };
  expect(blocks).toEqual([{ type: "resource_link", ...link }]);
});

proves("tools.content.link-older", async (world) => {
  const { content: blocks } = await resultOf(world, linked);
  expect(blocks).toEqual([{ type: "text", text: "[a.rs](file:///a.rs): The start" }]);
});

proves("tools.content.link-unlisted", async (world) => {
  const peer = await world.serve({ tools: { t: tool({ call: () => linked() as string }) }, resources: {} });
  expect((await peer.request("resources/list")).result.resources).toEqual([]);
  const { result } = await peer.request("tools/call", { name: "t" });
  expect(result.content).toMatchObject([{ type: "resource_link", uri: "file:///a.rs" }]);
});

proves("tools.content.embedded", async (world) => {
  const { content: blocks } = await resultOf(world, () => [
    content.embed("note://1", "text", { mimeType: "text/plain" }),
    content.embed("note://2", bytes, { mimeType: "image/png" }),
  ]);
  expect(blocks).toEqual([
    { type: "resource", resource: { uri: "note://1", mimeType: "text/plain", text: "text" } },
    { type: "resource", resource: { uri: "note://2", mimeType: "image/png", blob: base64 } },
  ]);
});

proves("tools.content.several", async (world) => {
  const parts = ["first", content.image(bytes, "image/png"), content.embed("note://1", "text"), "last"];
  const { content: blocks } = await resultOf(world, () => parts);
  expect((blocks as { type: string }[]).map(({ type }) => type)).toEqual(["text", "image", "resource", "text"]);
});

const annotations = { audience: ["user" as const], priority: 0.9, lastModified: "2025-05-03T14:30:00Z" };

proves("tools.content.annotations", async (world) => {
  const { content: blocks } = await resultOf(world, () => [
    content.text("a", annotations),
    content.image(bytes, "image/png", annotations),
    content.audio(bytes, "audio/wav", annotations),
    content.link("note://1", { annotations }),
    content.embed("note://2", "b", { annotations }),
  ]);
  expect((blocks as JsonObject[]).map((block) => block.annotations)).toEqual(
    Array.from({ length: 5 }, () => annotations),
  );
});

proves("tools.content.client", async (world) => {
  const connected = await clientOf(world);
  const sent = [
    { type: "image", data: base64, mimeType: "image/png", annotations },
    { type: "audio", data: base64, mimeType: "audio/wav" },
    { type: "resource_link", uri: "note://1", name: "one", size: 3 },
    { type: "resource", resource: { uri: "note://2", blob: base64 } },
    { type: "text", text: "first\nsecond", annotations, _meta: { "com.example/a": { deep: [1] } } },
    { type: "resource", resource: { uri: "note://3", text: "", mimeType: "text/plain", _meta: { a: 1 } }, annotations },
    { type: "com.example/of-tomorrow", any: [1] },
  ];
  const { request, outcome } = await called(connected);
  connected.server.answer(request, { content: sent });
  expect(await outcome).toEqual(sent);
  // Each kind alone, in the whole result, and in the result of a tool that failed.
  for (const block of sent) {
    for (const isError of [false, true]) {
      const calling = connected.client.callToolResult("t");
      const given = { content: [block, block], isError, _meta: { "com.example/b": 1 } };
      connected.server.answer(await connected.server.request("tools/call"), given);
      expect(await calling).toMatchObject(given);
    }
  }
});

const structured = (structuredContent: unknown, output: object) =>
  [() => toolResult({ content: [{ type: "text", text: "said" }], structuredContent }), { output }] as const;

proves("tools.structured.object", async (world) => {
  expect(await resultOf(world, ...structured({ a: 1 }, { type: "object" }))).toMatchObject({
    structuredContent: { a: 1 },
  });
  for (const value of [[1], "text", 7, true, null]) {
    const result = await resultOf(world, ...structured(value, {}));
    expect(result).toEqual({
      content: [{ type: "text", text: "said" }],
      _meta: { "mcparley/structuredContent": value },
    });
  }
});

proves("tools.structured.any-value", async (world) => {
  for (const value of [{ a: 1 }, [1], "text", 7, true, null]) {
    const result = await resultOf(world, ...structured(value, {}));
    expect(result.structuredContent).toEqual(value);
  }
});

const sum = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] } as const;

proves("tools.structured.text", async (world) => {
  const { content: blocks, structuredContent } = await resultOf(world, () => ({ sum: 3 }), { output: sum });
  expect(structuredContent).toEqual({ sum: 3 });
  expect(blocks).toEqual([{ type: "text", text: '{"sum":3}' }]);
});

proves("tools.structured.older", async (world) => {
  const result = await resultOf(world, () => ({ sum: 3 }), { output: sum });
  expect(result).toEqual({
    content: [{ type: "text", text: '{"sum":3}' }],
    _meta: { "mcparley/structuredContent": { sum: 3 } },
  });
});

proves("tools.structured.client", async (world) => {
  const connected = await clientOf(world);
  const { request, outcome } = await called(connected);
  connected.server.answer(request, { content: [{ type: "text", text: '{"sum":3}' }], structuredContent: { sum: 3 } });
  expect(await outcome).toEqual({ sum: 3 });
});

proves("tools.output.conforms", async (world) => {
  const peer = await world.serve({
    tools: {
      plain: tool({ output: sum, call: () => ({ sum: "three" as never }) }),
      whole: tool({ output: sum, call: () => toolResult({ content: [], structuredContent: {} }) }),
      none: tool({ output: sum, call: () => toolResult({ content: [] }) }),
    },
  });
  for (const name of ["plain", "whole", "none"]) {
    expect((await peer.request("tools/call", { name })).error.code).toBe(-32603);
  }
  expect(world.errors.map((error) => /does not match its output schema/.test(String(error)))).toEqual([
    true,
    true,
    true,
  ]);
});

proves("tools.output.client-checks", async (world) => {
  const connected = await clientOf(world, [{ name: "t", inputSchema: { type: "object" }, outputSchema: sum }]);
  for (const structuredContent of [{ sum: "three" }, {}, [], undefined]) {
    const { request, outcome } = await called(connected);
    connected.server.answer(request, { content: [], ...(structuredContent && { structuredContent }) });
    await expect(outcome).rejects.toMatchObject({ code: "invalid_result" });
  }
  const { request, outcome } = await called(connected);
  connected.server.answer(request, { content: [], structuredContent: { sum: 3 } });
  expect(await outcome).toEqual({ sum: 3 });
});

proves("tools.error.unknown", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  const { error } = await peer.request("tools/call", { name: "invalid_tool_name" });
  expect(error).toMatchObject({ code: -32602, message: "Unknown tool: invalid_tool_name" });
});

proves("tools.error.malformed", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  for (const params of [{}, { name: 7 }, { name: "echo", arguments: [1] }, { name: "echo", arguments: "a" }]) {
    expect((await peer.request("tools/call", params)).error.code).toBe(-32602);
  }
});

proves("tools.error.defect", async (world) => {
  const peer = await world.serve({ tools: { failing } });
  expect((await peer.request("tools/call", { name: "failing" })).error).toEqual({
    code: -32603,
    message: "Internal error",
  });
});

proves("tools.error.execution", async (world) => {
  const result = await resultOf(world, () => {
    throw new ToolError("The rate limit of the weather service is exceeded.");
  });
  const said = [{ type: "text", text: "The rate limit of the weather service is exceeded." }];
  expect(result).toMatchObject({ isError: true, content: said });
});

proves("tools.error.input", async (world) => {
  const input = { type: "object", properties: { size: { type: "integer", maximum: 5 } }, required: ["size"] } as const;
  const peer = await world.serve({ tools: { t: tool({ input, call: () => "done" }) } });
  const { result } = await peer.request("tools/call", { name: "t", arguments: { size: 9 } });
  expect(result).toMatchObject({ isError: true, content: [{ type: "text" }] });
  expect(JSON.stringify(result.content)).toMatch(/\/size: .*5/);
});

proves("tools.error.not-set", async (world) => {
  const connected = await clientOf(world);
  for (const isError of [undefined, false]) {
    const { request, outcome } = await called(connected);
    connected.server.answer(request, {
      content: [{ type: "text", text: "fine" }],
      ...(isError === false && { isError }),
    });
    expect(await outcome).toBe("fine");
  }
});

proves("tools.error.for-model", async (world) => {
  const connected = await clientOf(world);
  const failed = { content: [{ type: "text", text: "The date must be in the future." }], isError: true };
  const { request, outcome } = await called(connected);
  connected.server.answer(request, failed);
  await expect(outcome).rejects.toSatisfy((error) => error instanceof ToolError);
  await expect(outcome).rejects.toMatchObject({ message: "The date must be in the future.", result: failed });
  const whole = connected.client.callToolResult("t");
  connected.server.answer(await connected.server.request("tools/call"), failed);
  expect(await whole).toMatchObject(failed);
});

proves("tools.error.protocol-for-model", async (world) => {
  const connected = await clientOf(world);
  const { request, outcome } = await called(connected);
  connected.server.refuse(request, { code: -32602, message: "Unknown tool: t", data: { name: "t" } });
  await expect(outcome).rejects.toSatisfy((error) => error instanceof ProtocolError);
  await expect(outcome).rejects.toMatchObject({ code: -32602, message: "Unknown tool: t", data: { name: "t" } });
});
