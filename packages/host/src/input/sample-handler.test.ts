import { ErrorCode, type JsonObject } from "mcparley";
import type { CreateMessageParams, CreateMessageResult } from "mcparley/client";
import { createServer, tool } from "mcparley/server";
import { flushPromises, legacyPeer, modernPeer, peerTransports } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import type { Renderer, SampledRequest, SampleRequest } from "../renderer/renderer.ts";
import { inputHost } from "../testing/input-host.ts";
import {
  callStep,
  finishPart,
  type ModelCall,
  type ScriptedModel,
  scriptedModel,
  textParts,
  textStep,
} from "../testing/scripted-model.ts";

type Params = Omit<CreateMessageParams, "_meta">;

const question: Params = { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 50 };

const toolUse = { role: "assistant", content: { type: "tool_use", id: "1", name: "a", input: {} } };
const mixed = {
  role: "user",
  content: [
    { type: "tool_result", toolUseId: "1", content: [] },
    { type: "text", text: "and" },
  ],
};

/** A server whose tool `ask` sends the given request, and returns the answer as JSON. `forecast` runs a loop with tools. */
function thinker(params: Params = question) {
  const weather = { name: "get.weather", description: "Weather.", inputSchema: { type: "object" as const } };
  return createServer({
    name: "thinker",
    version: "1",
    tools: {
      ask: tool({ call: async (_, ctx) => JSON.stringify(await ctx.sample(params)) }),
      forecast: tool({
        call: async (_, ctx) => {
          const messages = [...question.messages];
          for (let round = 0; ; round++) {
            const { content } = await ctx.sample({ messages, maxTokens: 50, tools: [weather], key: `round ${round}` });
            const blocks = Array.isArray(content) ? content : [content];
            const uses = blocks.filter((block) => block.type === "tool_use");
            if (uses.length === 0) return JSON.stringify(content);
            messages.push({ role: "assistant", content: blocks });
            const results = uses.map(({ id, input }) => ({
              type: "tool_result" as const,
              toolUseId: id,
              content: [{ type: "text" as const, text: `sun in ${String(input.city)}` }],
            }));
            messages.push({ role: "user", content: results });
          }
        },
      }),
    },
  });
}

const allow: Renderer = { sample: () => ({ action: "allow" }), sampled: () => ({ action: "allow" }) };

const promptOf = (model: ScriptedModel, request = 0): ModelCall["prompt"] | undefined =>
  model.requests[request]?.prompt;

describe.each(["2026-07-28", "2025-11-25", "2025-06-18"])("sampling (%s)", (revision) => {
  test("runs the model after the user has allowed the request, and sends the answer after that", async () => {
    const seen: unknown[] = [];
    const model = scriptedModel([textStep("hello")]);
    const renderer: Renderer = {
      sample: (request: SampleRequest) => {
        seen.push(request, model.requests.length);
        return { action: "allow" };
      },
      sampled: (request: SampledRequest) => {
        seen.push(request, model.requests.length);
        return { action: "allow" };
      },
    };
    const params = { ...question, systemPrompt: "be brief", temperature: 0.5, stopSequences: ["END"] };
    const { client, decisions, activities } = await inputHost(thinker(params), { revision, renderer, model });
    const answer = JSON.parse(String(await client.callTool("ask"))) as CreateMessageResult;
    expect(answer).toEqual({
      role: "assistant",
      content: { type: "text", text: "hello" },
      model: "scripted-model",
      stopReason: "endTurn",
    });
    expect(seen).toMatchObject([
      {
        origin: { server: "shop", claims: { name: "thinker" }, during: 'tools/call "ask"' },
        request: { maxTokens: 50, systemPrompt: "be brief" },
        model: "scripted/scripted-model",
        contextOf: [],
        tokensLeft: 100_000,
      },
      0,
      { result: answer },
      1,
    ]);
    expect(model.requests).toMatchObject([
      {
        prompt: [
          { role: "system", content: "be brief" },
          { role: "user", content: [{ type: "text", text: "hi" }] },
        ],
        maxOutputTokens: 50,
        temperature: 0.5,
        stopSequences: ["END"],
      },
    ]);
    expect(decisions).toEqual([
      { subject: "sampling", name: "request", outcome: "allowed", by: "person", isEdited: false },
      { subject: "sampling", name: "answer", outcome: "allowed", by: "person", isEdited: false },
    ]);
    expect(activities).toEqual(['sampling waiting tools/call "ask"', 'sampling answered tools/call "ask"']);
    await client.close();
  });

  test("sends nothing if the user denies the request or the answer", async () => {
    for (const [denied, requests] of [
      ["sample", 0],
      ["sampled", 1],
    ] as const) {
      const model = scriptedModel([textStep("a secret answer")]);
      const renderer: Renderer = { ...allow, [denied]: () => ({ action: "deny" }) };
      const { client, decisions } = await inputHost(thinker(), { revision, renderer, model });
      const error = await client.callTool("ask").catch((thrown: unknown) => thrown as Error);
      expect(error).toBeInstanceOf(Error);
      expect(String(error)).not.toContain("secret");
      expect(model.requests.length).toBe(requests);
      expect(decisions.at(-1)).toMatchObject({ outcome: "denied", by: "person" });
      await client.close();
    }
  });

  test("uses the request and the answer that the user edited, within the limits", async () => {
    const model = scriptedModel([textStep("hello")]);
    const renderer: Renderer = {
      sample: ({ request }) => ({
        action: "allow",
        request: { ...request, maxTokens: 9_999, messages: [{ role: "user", content: { type: "text", text: "bye" } }] },
      }),
      sampled: ({ result }) => ({ action: "allow", result: { ...result, content: { type: "text", text: "edited" } } }),
    };
    const { client, decisions } = await inputHost(thinker(), { revision, renderer, model });
    expect(await client.callTool("ask")).toContain('"edited"');
    expect(model.requests).toMatchObject([
      { prompt: [{ role: "user", content: [{ type: "text", text: "bye" }] }], maxOutputTokens: 50 },
    ]);
    expect(decisions.map(({ isEdited }) => isEdited)).toEqual([true, true]);
    await client.close();
  });

  test("limits the tokens of an answer and of a server", async () => {
    const answer = [...textParts("hello"), finishPart("length", { output: 30 })];
    const model = scriptedModel([answer, answer, answer]);
    const asked: unknown[] = [];
    const renderer: Renderer = {
      ...allow,
      sample: ({ request, tokensLeft }) => {
        asked.push([request.maxTokens, tokensLeft]);
        return { action: "allow" };
      },
    };
    const limits = { tokensPerSample: 40, tokensPerServer: 60 };
    const { client, decisions } = await inputHost(thinker(), { revision, renderer, model, limits });
    expect(await client.callTool("ask")).toContain('"stopReason":"maxTokens"');
    await client.callTool("ask");
    await expect(client.callTool("ask")).rejects.toThrow();
    expect(asked).toEqual([
      [40, 60],
      [30, 30],
    ]);
    expect(model.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([40, 30]);
    expect(decisions.at(-1)).toEqual({ subject: "sampling", name: "request", outcome: "denied", by: "limit" });
    await client.close();
  });

  test("chooses the model by the hints of the server", async () => {
    const [large, small] = [scriptedModel([]), scriptedModel([textStep("hello")], { modelId: "small-1" })];
    const params = { ...question, modelPreferences: { hints: [{ name: "small" }] } };
    const { client } = await inputHost(thinker(params), { revision, renderer: allow, model: [large, small] });
    expect(await client.callTool("ask")).toContain('"model":"small-1"');
    await client.close();
  });

  test("does not send the error of the model's provider to the server", async () => {
    const failure = Object.assign(new Error("no"), { statusCode: 401, requestBodyValues: "secret prompt" });
    const { client } = await inputHost(thinker(), { revision, renderer: allow, model: scriptedModel([failure]) });
    const error = await client.callTool("ask").catch((thrown: unknown) => thrown as Error);
    expect(error).toBeInstanceOf(Error);
    expect(JSON.stringify(error)).not.toContain("secret");
    await client.close();
  });

  test("ends the request to the model with the call", async () => {
    const model = scriptedModel([[...textParts("he"), "hang"]]);
    const controller = new AbortController();
    const { client } = await inputHost(thinker(), { revision, renderer: allow, model });
    const calling = client.callTool("ask", {}, { signal: controller.signal }).catch((error: unknown) => error);
    while (model.open === 0) await flushPromises();
    controller.abort();
    expect(await calling).toMatchObject({ code: "aborted" });
    await flushPromises();
    expect(model.open).toBe(0);
    await client.close();
  });
});

describe("an invalid request is refused before the user is asked, with", () => {
  const renderer: Renderer = { ...allow, sample: () => expect.fail("asked") };
  const cases: [string, object, string][] = [
    ["content of an unknown type", { messages: [{ role: "user", content: { type: "video" } }] }, "messages[0]"],
    ["maxTokens of 0", { maxTokens: 0 }, "maxTokens must be"],
    ["maxTokens that is not an integer", { maxTokens: 1.5 }, "maxTokens must be"],
    ["a system prompt that is not a text", { systemPrompt: 5 }, "systemPrompt must be"],
    ["an unknown tool choice", { toolChoice: { mode: "always" } }, "toolChoice.mode must be"],
    ["a tool without a schema", { tools: [{ name: "a" }] }, "tools[0] must have"],
    ["a tool use without its result", { messages: [toolUse] }, "tool uses without their results"],
    ["a result mixed with a text", { messages: [toolUse, mixed] }, "mixes tool results"],
  ];

  test.each(cases)("%s (2025-11-25)", async (_, wrong, message) => {
    const peer = legacyPeer();
    const settings = { revision: "2025-11-25", renderer, model: scriptedModel([]) };
    const { client, decisions } = await inputHost(peerTransports(peer), settings);
    await peer.notification("notifications/initialized");
    peer.ask("q", "sampling/createMessage", { ...question, ...wrong });
    expect(await peer.next()).toMatchObject({
      id: "q",
      error: { code: ErrorCode.InvalidParams, message: expect.stringContaining(message) },
    });
    expect(decisions).toEqual([]);
    await client.close();
  });

  test.each(cases)("%s (2026-07-28)", async (_, wrong, message) => {
    const peer = modernPeer();
    const settings = { revision: "2026-07-28", renderer, model: scriptedModel([]) };
    const { client, decisions } = await inputHost(peerTransports(peer), settings);
    const calling = client.callTool("ask").catch((error: unknown) => error);
    const params = { ...question, ...wrong };
    peer.answer(await peer.request("tools/call"), {
      resultType: "input_required",
      inputRequests: { q: { method: "sampling/createMessage", params } },
    });
    expect(await calling).toMatchObject({ code: "invalid_message", message: expect.stringContaining(message) });
    expect(decisions).toEqual([]);
    await client.close();
  });
});

describe.each(["2026-07-28", "2025-11-25"])("sampling with tools (%s)", (revision) => {
  test.each(["v3", "v4"] as const)("offers the tools of the server, which runs the calls (%s)", async (version) => {
    const signature = { google: { thoughtSignature: "t" } };
    const thought = { anthropic: { signature: "s" } };
    const first = [
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: "secret " },
      { type: "reasoning-delta", id: "r", delta: "thought" },
      { type: "reasoning-end", id: "r", providerMetadata: thought },
      ...textParts("I look."),
      {
        type: "tool-call",
        toolCallId: "1",
        toolName: "get_weather",
        input: '{"city":"Rome"}',
        providerMetadata: signature,
      },
      { type: "tool-call", toolCallId: "2", toolName: "get_weather", input: '{"city":"Oslo"}' },
      finishPart("tool-calls"),
    ];
    const model = scriptedModel([first, callStep([{ name: "get_weather", id: "3" }]), textStep("Sunny.")], { version });
    const answers: unknown[] = [];
    const renderer: Renderer = {
      ...allow,
      sampled: ({ result }) => {
        answers.push(result);
        return { action: "allow" };
      },
    };
    const { client } = await inputHost(thinker(), { revision, renderer, model });
    expect(await client.callTool("forecast")).toBe('{"type":"text","text":"Sunny."}');
    expect(answers[0]).toEqual({
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "1", name: "get.weather", input: { city: "Rome" } },
        { type: "tool_use", id: "2", name: "get.weather", input: { city: "Oslo" } },
      ],
      model: "scripted-model",
      stopReason: "toolUse",
    });
    expect(model.requests[0]?.tools).toMatchObject([{ name: "get_weather", description: "Weather." }]);
    const call = (toolCallId: string, city: string): JsonObject => ({
      type: "tool-call",
      toolCallId,
      toolName: "get_weather",
      input: { city },
    });
    const result = (toolCallId: string, value: string): JsonObject => ({
      type: "tool-result",
      toolCallId,
      toolName: "get_weather",
      output: { type: "text", value },
    });
    expect(promptOf(model, 1)).toEqual([
      { role: "user", content: [{ type: "text", text: "hi" }] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "secret thought", providerOptions: thought },
          { type: "text", text: "I look." },
          { ...call("1", "Rome"), providerOptions: signature },
          call("2", "Oslo"),
        ],
      },
      { role: "tool", content: [result("1", "sun in Rome"), result("2", "sun in Oslo")] },
    ]);
    await client.close();
  });

  test("fails if the model writes arguments that are not an object", async () => {
    const model = scriptedModel([callStep([{ name: "get_weather", input: '{"city":' }])]);
    const { client, decisions } = await inputHost(thinker(), { revision, renderer: allow, model });
    await expect(client.callTool("forecast")).rejects.toThrow();
    expect(decisions.length).toBe(1);
    await client.close();
  });
});

describe.each(["2026-07-28", "2025-11-25"])("the context of servers (%s)", (revision) => {
  const texts = [
    { server: "shop", text: "prices" },
    { server: "mail", text: "letters" },
    { server: "empty", text: "" },
  ];
  const context = (server: string, text: string): JsonObject => ({
    type: "text",
    text: `Context of the server "${server}":\n${text}`,
  });
  const own = { type: "text", text: "hi" };

  test.each([
    ["none", "none", []],
    ["thisServer", "thisServer", ["shop"]],
    ["allServers", "allServers", ["shop", "mail"]],
    ["allServers", "thisServer", ["shop"]],
    ["allServers", "none", []],
    ["thisServer", "allServers", ["shop"]],
  ] as const)("for %s, edited to %s, has the texts of %j", async (includeContext, edited, included) => {
    const model = scriptedModel([textStep("hello")]);
    const declared: unknown[] = [];
    const renderer: Renderer = {
      ...allow,
      sample: ({ request, contextOf }) => {
        declared.push(contextOf);
        return { action: "allow", request: { ...request, includeContext: edited } };
      },
    };
    const { client } = await inputHost(thinker({ ...question, includeContext }), {
      revision,
      renderer,
      model,
      contextFor: () => texts,
    });
    await client.callTool("ask");
    const all = { none: [], thisServer: ["shop"], allServers: ["shop", "mail"] };
    expect(declared).toEqual([all[includeContext]]);
    const expected = texts.filter(({ server }) => included.some((name) => name === server));
    const content = [...expected.map(({ server, text }) => context(server, text)), own];
    expect(promptOf(model)).toEqual([{ role: "user", content }]);
    await client.close();
  });

  test("is not included without a source of it", async () => {
    const model = scriptedModel([textStep("hello")]);
    const { client } = await inputHost(thinker(), { revision, renderer: allow, model });
    await client.callTool("ask");
    expect(promptOf(model)).toEqual([{ role: "user", content: [own] }]);
    await client.close();
  });
});
