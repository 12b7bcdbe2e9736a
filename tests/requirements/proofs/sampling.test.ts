import { expect } from "vitest";
import {
  type ConnectOptions,
  type Context,
  Declined,
  type JsonObject,
  gate,
  prompt,
  resource,
  tool,
} from "../library.ts";
import { proves } from "../proves.ts";
import { isRequest } from "../../support/raw-message.ts";
import { offeredTo } from "../world/offers.ts";
import { type Asked, ask, askedBy, askedByTool, expectRefused } from "../world/questions.ts";
import { requested, textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

type Asking = Parameters<Context["sample"]>[0];
type Messages = Asking["messages"];

const method = "sampling/createMessage";
const hi = { role: "user", content: { type: "text", text: "hi" } } as const;
const plain: Asking = { messages: [hi], maxTokens: 10 };
const yes = { role: "assistant", content: { type: "text", text: "yes" }, model: "m-1", stopReason: "endTurn" } as const;

const weather = { name: "weather", inputSchema: { type: "object" as const } };
const uses = {
  role: "assistant" as const,
  content: ["Paris", "London"].map((city) => ({
    type: "tool_use" as const,
    id: city,
    name: "weather",
    input: { city },
  })),
};
const resultOf = (toolUseId: string) => ({ type: "tool_result" as const, toolUseId, content: [] });
const results = { role: "user" as const, content: [resultOf("London"), resultOf("Paris")] };

/** A tool that requests sampling, and returns the answer. */
const sampling = (params: Asking = plain) =>
  tool({ call: async (_, { sample }) => JSON.stringify(await sample(params)) });

/** The sampling request that a client with these capabilities receives. */
async function askedFor(world: World, params: Asking, capability: JsonObject = {}): Promise<Asked> {
  const tools = { ask: sampling(params) };
  const peer = await world.serve({ tools }, { capabilities: { sampling: capability } });
  return askedByTool(world, peer, "ask");
}

/** Checks that a question is not sent at all, and that the call ends without it. */
async function expectUnsent(world: World, params: Asking, capability: JsonObject): Promise<void> {
  const tools = { ask: sampling(params) };
  const peer = await world.serve({ tools }, { capabilities: { sampling: capability } });
  const { result, error } = await peer.request("tools/call", { name: "ask" });
  expect(error ?? result.isError).toBeTruthy();
  expect(result?.inputRequests).toBeUndefined();
  expect(peer.received.filter(isRequest)).toEqual([]);
}

/** The request that a client's handler receives, and its answer. */
async function handed(world: World, params: JsonObject, options: ConnectOptions = {}) {
  const given: unknown[] = [];
  const played = await world.connect({
    sample: (request) => {
      given.push(request);
      return yes;
    },
    ...options,
  });
  const { result } = await ask(world, played, method, params);
  return { given, result };
}

const never: ConnectOptions = { sample: () => expect.fail("The model was asked.") };

proves("sampling.capability.declared", async (world) => {
  const { server } = await world.connect({ sample: () => yes });
  expect(offeredTo(server)).toHaveProperty("sampling");
});

proves("sampling.capability.absent", async (world) => {
  const played = await world.connect();
  expect(offeredTo(played.server)).not.toHaveProperty("sampling");
  expectRefused(await ask(world, played, method, { ...plain }), -32601);
});

proves("sampling.capability.respected", async (world) => {
  const peer = await world.serve({ tools: { ask: sampling() } }, { capabilities: { elicitation: {}, roots: {} } });
  const { error } = await peer.request("tools/call", { name: "ask" });
  expect(error.message).toContain("sampling");
  expect(peer.received.filter(isRequest)).toEqual([]);
});

proves("sampling.nested", async (world) => {
  const definition = {
    tools: { ask: sampling() },
    prompts: { p: prompt({ get: async (_, { sample }) => (await sample(plain)).model }) },
    resources: { r: resource("r://1", { read: async (_, { sample }) => (await sample(plain)).model }) },
  };
  for (const [name, params] of [
    ["tools/call", { name: "ask" }],
    ["prompts/get", { name: "p" }],
    ["resources/read", { uri: "r://1" }],
  ] as const) {
    const peer = await world.serve(definition, { capabilities: { sampling: {} } });
    const asked = await askedBy(world, peer, name, params);
    expect(asked.method).toBe(method);
    expect(JSON.stringify((await asked.answer(yes)).result)).toContain("m-1");
  }
});

const full: Asking = {
  ...plain,
  messages: [
    hi,
    { role: "assistant", content: yes.content },
    { role: "user", content: { type: "text", text: "more" } },
  ],
  systemPrompt: "Be brief.",
  modelPreferences: {
    hints: [{ name: "small" }, { name: "any" }],
    costPriority: 0.3,
    speedPriority: 0.8,
    intelligencePriority: 0.5,
  },
  temperature: 0.1,
  stopSequences: ["END"],
  metadata: { "com.example": 1 },
};

/** The params without the progress token, which requests of a session have. */
function withoutToken({ _meta, ...params }: JsonObject): JsonObject {
  return params;
}

proves("sampling.request.sent", async (world) => {
  expect(withoutToken((await askedFor(world, full)).params)).toEqual(full);
});

proves("sampling.request.complete", async (world) => {
  const { given, result } = await handed(world, { ...full });
  expect(given).toEqual([full]);
  expect(result).toEqual(yes);
});

proves("sampling.result", {
  async server(world) {
    const asked = await askedFor(world, plain);
    expect(JSON.parse(textOf(await asked.answer(yes)))).toEqual(yes);
  },
  async client(world) {
    expect((await handed(world, { ...plain })).result).toEqual(yes);
  },
});

const reasons = ["endTurn", "stopSequence", "maxTokens", "com.example/tired", undefined];

proves("sampling.result.stop-reason", {
  async server(world) {
    for (const stopReason of reasons) {
      const { stopReason: _, ...rest } = yes;
      const answer = stopReason === undefined ? rest : { ...rest, stopReason };
      expect(JSON.parse(textOf(await (await askedFor(world, plain)).answer(answer)))).toEqual(answer);
    }
  },
  async client(world) {
    for (const stopReason of reasons) {
      const { stopReason: _, ...rest } = yes;
      const answer = stopReason === undefined ? rest : { ...rest, stopReason };
      expect((await handed(world, { ...plain }, { sample: () => answer })).result).toEqual(answer);
    }
  },
});

const image = { role: "user", content: { type: "image", data: "AAAA", mimeType: "image/png" } } as const;
const audio = { role: "user", content: { type: "audio", data: "AAAA", mimeType: "audio/wav" } } as const;

proves("sampling.content.kinds", {
  async server(world) {
    const messages = [hi, image];
    expect((await askedFor(world, { ...plain, messages })).params.messages).toEqual(messages);
  },
  async client(world) {
    const question = { ...plain, messages: [hi, image] };
    expect((await handed(world, question)).given).toEqual([question]);
  },
});

proves("sampling.content.audio", {
  async server(world) {
    expect((await askedFor(world, { ...plain, messages: [audio] })).params.messages).toEqual([audio]);
  },
  async client(world) {
    const question = { ...plain, messages: [audio] };
    expect((await handed(world, question)).given).toEqual([question]);
  },
});

proves("sampling.content.no-audio", async (world) => {
  const { params } = await askedFor(world, { ...plain, messages: [hi, audio] });
  expect(params.messages).toMatchObject([hi, { role: "user", content: { type: "text" } }]);
  expect(JSON.stringify(params)).not.toContain("AAAA");
});

const blocks = { role: "user", content: [hi.content, image.content] } as const;

proves("sampling.content.one-block", async (world) => {
  const messages: Messages = [{ role: "user", content: [...blocks.content] }];
  expect((await askedFor(world, { ...plain, messages })).params.messages).toEqual([hi, image]);
});

proves("sampling.content.blocks", {
  async server(world) {
    const messages: Messages = [{ role: "user", content: [...blocks.content] }];
    const asked = await askedFor(world, { ...plain, messages });
    expect(asked.params.messages).toEqual(messages);
    const answer = { ...yes, content: [yes.content, yes.content] };
    expect(JSON.parse(textOf(await asked.answer(answer)))).toEqual(answer);
  },
  async client(world) {
    const question = { ...plain, messages: [blocks] };
    const answer = { ...yes, content: [yes.content, yes.content] };
    expect((await handed(world, question)).given).toEqual([question]);
    expect((await handed(world, question, { sample: () => answer })).result).toEqual(answer);
  },
});

proves("sampling.content.roles", async (world) => {
  for (const message of [{ ...hi, role: "system" }, { content: hi.content }, { role: "user" }, null, "hi"]) {
    expectRefused(await ask(world, await world.connect(never), method, { ...plain, messages: [message] }), -32602);
  }
});

proves("sampling.content.validated", {
  async server(world) {
    for (const wrong of [{}, { ...yes, role: "system" }, { ...yes, model: 7 }, { ...yes, content: "yes" }]) {
      const { result } = await (await askedFor(world, plain)).answer(wrong);
      if (world.isModern) expect(result.resultType).toBe("input_required");
      else expect(result).toMatchObject({ isError: true });
    }
  },
  async client(world) {
    for (const messages of [
      undefined,
      "hi",
      { 0: hi },
      [hi, 7],
      [{ ...hi, content: "hi" }],
      [{ ...hi, content: [7] }],
    ]) {
      expectRefused(await ask(world, await world.connect(never), method, { ...plain, messages }), -32602);
    }
  },
});

proves("sampling.content.not-retained", async (world) => {
  const given: unknown[] = [];
  const played = await world.connect({
    sample: ({ messages }) => {
      given.push(messages);
      return yes;
    },
  });
  const other = { role: "user", content: { type: "text", text: "other" } };
  await ask(world, played, method, { ...plain });
  await ask(world, played, method, { ...plain, messages: [other] });
  expect(given).toEqual([[hi], [other]]);
});

proves("sampling.context.avoided", async (world) => {
  for (const includeContext of ["thisServer", "allServers"] as const) {
    expect((await askedFor(world, { ...plain, includeContext })).params).not.toHaveProperty("includeContext");
    const declared = await askedFor(world, { ...plain, includeContext }, { context: {} });
    expect(declared.params).toMatchObject({ includeContext });
  }
});

proves("sampling.context.omitted", async (world) => {
  expect(withoutToken((await askedFor(world, plain, { context: {} })).params)).toEqual(plain);
});

const tooled: Asking = { ...plain, tools: [weather], toolChoice: { mode: "required" } };

proves("sampling.tools.declared", async (world) => {
  const { server } = await world.connect({ sample: () => yes, sampleTools: true });
  expect(offeredTo(server).sampling).toHaveProperty("tools");
  const without = await world.connect({ sample: () => yes });
  expect(offeredTo(without.server).sampling).not.toHaveProperty("tools");
});

proves("sampling.tools.respected", async (world) => {
  await expectUnsent(world, tooled, {});
  await expectUnsent(world, { ...plain, tools: [weather] }, { context: {} });
  await expectUnsent(world, { ...plain, toolChoice: { mode: "none" } }, {});
});

proves("sampling.tools.refused", async (world) => {
  for (const extra of [{ tools: [weather] }, { tools: [] }, { toolChoice: { mode: "auto" } }]) {
    expectRefused(await ask(world, await world.connect(never), method, { ...plain, ...extra }), -32602);
  }
});

proves("sampling.tools.sent", async (world) => {
  for (const mode of ["auto", "required", "none"] as const) {
    const params = { ...tooled, toolChoice: { mode } };
    expect(withoutToken((await askedFor(world, params, { tools: {} })).params)).toEqual(params);
  }
});

proves("sampling.tools.complete", async (world) => {
  const question = { ...tooled, messages: [hi, uses, results] };
  expect((await handed(world, question, { sampleTools: true })).given).toEqual([question]);
});

const using = { ...yes, ...uses, stopReason: "toolUse" };

proves("sampling.tools.parallel", {
  async server(world) {
    const asked = await askedFor(world, tooled, { tools: {} });
    expect(JSON.parse(textOf(await asked.answer(using)))).toEqual(using);
  },
  async client(world) {
    const { result } = await handed(world, { ...tooled }, { sampleTools: true, sample: () => using });
    expect(result).toEqual(using);
  },
});

const mixed: Messages = [hi, uses, { role: "user", content: [hi.content, ...results.content] }];
const lacking: Messages[] = [
  [hi, uses],
  [hi, uses, hi],
  [hi, uses, { role: "user", content: [resultOf("Paris")] }],
  [hi, uses, { role: "user", content: [resultOf("Paris"), resultOf("Rome")] }],
  [hi, uses, hi, results],
  [hi, results],
];

proves("sampling.tools.results-alone", async (world) => {
  await expectUnsent(world, { ...tooled, messages: mixed }, { tools: {} });
  const messages: Messages = [hi, uses, results];
  expect((await askedFor(world, { ...tooled, messages }, { tools: {} })).params.messages).toEqual(messages);
});

proves("sampling.tools.balanced", async (world) => {
  for (const messages of lacking) await expectUnsent(world, { ...tooled, messages }, { tools: {} });
});

proves("sampling.tools.loop", async (world) => {
  const samples = tool({
    input: { type: "object", properties: { answered: { type: "array", items: { type: "string" } } } },
    call: async ({ answered }, { sample }) => {
      const { role, content } = await sample({ ...tooled, key: "first" });
      const found = { role: "user" as const, content: (answered as string[]).map(resultOf) };
      const last = await sample({ ...tooled, messages: [hi, { role, content }, found], key: "second" });
      return last.model;
    },
  });
  const peer = await world.serve({ tools: { samples } }, { capabilities: { sampling: { tools: {} } } });
  const start = (...answered: string[]): Promise<Asked> =>
    askedBy(world, peer, "tools/call", { name: "samples", arguments: { answered } });
  const { result, error } = await (await start("Paris")).answer(using);
  expect(error ?? result.isError).toBeTruthy();
  expect(result?.inputRequests).toBeUndefined();
  const going = (await start("Paris", "London")).answer(using);
  const messages = world.isModern ? questionIn((await going).result) : (await peer.nextRequest(method)).params.messages;
  expect(messages).toEqual([hi, uses, { role: "user", content: ["Paris", "London"].map(resultOf) }]);
});

/** The messages of the one question that a result asks. */
function questionIn({ inputRequests }: JsonObject): unknown {
  const [question] = Object.values(inputRequests as Record<string, { params: JsonObject }>);
  return question?.params.messages;
}

proves("sampling.tools.missing-result", async (world) => {
  for (const messages of lacking) {
    const played = await world.connect({ ...never, sampleTools: true });
    expectRefused(await ask(world, played, method, { ...tooled, messages }), -32602);
  }
});

proves("sampling.tools.mixed-results", async (world) => {
  const played = await world.connect({ ...never, sampleTools: true });
  expectRefused(await ask(world, played, method, { ...tooled, messages: mixed }), -32602);
});

proves("sampling.error.rejected", async (world) => {
  const played = await world.connect({
    sample: () => {
      throw new Declined();
    },
  });
  expect((await ask(world, played, method, { ...plain })).error?.code).toBe(-1);
});

proves("sampling.error.internal", async (world) => {
  const errors: string[] = [];
  const played = await world.connect({
    onError: ({ message }) => errors.push(message),
    sample: () => {
      throw new Error("the key sk-1 is invalid");
    },
  });
  const { error } = await ask(world, played, method, { ...plain });
  expect(error).toEqual({ code: -32603, message: "Internal error" });
  expect(errors).toEqual(["the key sk-1 is invalid"]);
});

proves("sampling.error.not-replayed", async (world) => {
  for (const thrown of [new Declined(), new Error("the model is out of order")]) {
    const played = await world.connect({
      sample: () => {
        throw thrown;
      },
    });
    const { failure } = await ask(world, played, method, { ...plain });
    expect(failure).toBe(thrown);
    expect(played.server.received.map((message) => message.method)).toEqual(["server/discover", "prompts/get"]);
  }
});

proves("sampling.approval", async (world) => {
  const deciding = gate();
  const { client, server } = await world.connect({
    sample: (request, source) => deciding.call(request, source as never) as typeof yes,
  });
  const answered = ask(world, { client, server }, method, { ...plain });
  await deciding.entered;
  const before = server.received.length;
  await world.clock.advance(10_000);
  expect(server.received.length).toBe(before);
  deciding.open(yes);
  expect((await answered).result).toEqual(yes);
});

proves("sampling.flood", async (world) => {
  const { client, server } = await world.connect({ sample: () => new Promise(() => {}) });
  const { request, outcome } = await requested(client, server);
  const question = { method, params: plain };
  if (world.isModern) {
    const inputRequests = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`q${index}`, question]));
    server.answer(request, { resultType: "input_required", inputRequests });
    await expect(outcome).rejects.toMatchObject({ code: "invalid_message" });
    return;
  }
  for (let count = 0; count < 100; count++) void server.ask(`q${count}`, method, { ...plain }, request);
  expect((await server.ask("one too many", method, { ...plain }, request)).error.code).toBe(-32600);
});
