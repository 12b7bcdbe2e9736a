import { expect } from "vitest";
import { type AnyServerDefinition, type JsonObject, prompt, rateLimit, resource } from "../library.ts";
import { proves } from "../proves.ts";
import { serveGranted } from "../world/callers.ts";
import { declaredBy } from "../world/changes.ts";
import { type RawMessage, isRequest } from "../../support/raw-message.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import type { World } from "../world/world.ts";

const method = "completion/complete";
const languages = ["python", "perl", "rust"];
const review = prompt({ arguments: { language: { complete: languages }, code: {} }, get: () => "" });
const note = resource("note://{owner}/{id}", { complete: { id: ["1", "10", "2"] }, read: () => "" });
const offered: Partial<AnyServerDefinition> = { prompts: { review }, resources: { note } };

const ofPrompt = (name: unknown): JsonObject => ({ type: "ref/prompt", name });
const ofResource = (uri: unknown): JsonObject => ({ type: "ref/resource", uri });

function complete(peer: RawPeer, ref: JsonObject, name: string, value: string): Promise<RawMessage> {
  return peer.request(method, { ref, argument: { name, value } });
}

type Completion = { values: string[]; total?: number; hasMore?: boolean };
const completionOf = ({ result }: RawMessage): Completion => result.completion as Completion;

/** The completion of one function. */
async function suggestedBy(world: World, source: (typed: string) => unknown, typed = ""): Promise<Completion> {
  const p = prompt({ arguments: { a: { complete: source as () => string[] } }, get: () => "" });
  return completionOf(await complete(await world.serve({ prompts: { p } }), ofPrompt("p"), "a", typed));
}

proves("completion.capability.declared", async (world) => {
  expect(await declaredBy(world, await world.serve(offered))).toHaveProperty("completions");
  const without = await world.serve({ prompts: { p: prompt({ get: () => "" }) } });
  expect(await declaredBy(world, without)).not.toHaveProperty("completions");
});

proves("completion.capability.older", async (world) => {
  const peer = await world.serve(offered);
  expect(await declaredBy(world, peer)).not.toHaveProperty("completions");
  expect(completionOf(await complete(peer, ofPrompt("review"), "language", "r")).values).toEqual(["rust"]);
});

const ref = { type: "ref/prompt", name: "review" } as const;

proves("completion.capability.client", async (world) => {
  const { client, server } = await world.connect({}, { capabilities: { prompts: {} } });
  await expect(client.complete(ref, { name: "a", value: "" })).rejects.toMatchObject({ code: "not_capable" });
  expect(server.received.filter(isRequest).filter((request) => request.method === method)).toEqual([]);
});

proves("completion.capability.client-older", async (world) => {
  const { client, server } = await world.connect({}, { capabilities: { prompts: {} } });
  const completing = client.complete(ref, { name: "a", value: "" });
  server.answer(await server.request(method), { completion: { values: ["b"] } });
  expect(await completing).toEqual({ values: ["b"] });
});

proves("completion.ref.prompt", async (world) => {
  const peer = await world.serve(offered);
  expect(completionOf(await complete(peer, ofPrompt("review"), "language", "p")).values).toEqual(["python", "perl"]);
  expect(completionOf(await complete(peer, ofPrompt("review"), "code", "p")).values).toEqual([]);
});

proves("completion.ref.template", async (world) => {
  const peer = await world.serve(offered);
  const completed = await complete(peer, ofResource("note://{owner}/{id}"), "id", "1");
  expect(completionOf(completed).values).toEqual(["1", "10"]);
});

proves("completion.ref.uri", async (world) => {
  const peer = await world.serve(offered);
  const completed = await complete(peer, ofResource("note://ada/7"), "id", "2");
  expect(completionOf(completed).values).toEqual(["2"]);
});

proves("completion.result.values", async (world) => {
  for (const values of [[], ["a"], ["", "é"]]) expect((await suggestedBy(world, () => values)).values).toEqual(values);
});

const many = Array.from({ length: 250 }, (_, index) => `v${index}`);

proves("completion.result.at-most-100", async (world) => {
  expect((await suggestedBy(world, () => many)).values).toEqual(many.slice(0, 100));
  expect((await suggestedBy(world, () => many.slice(0, 100))).values).toEqual(many.slice(0, 100));
});

proves("completion.result.total", async (world) => {
  expect((await suggestedBy(world, () => many)).total).toBe(250);
  expect((await suggestedBy(world, () => ({ values: ["a"], total: 4711 }))).total).toBe(4711);
});

proves("completion.result.has-more", async (world) => {
  expect((await suggestedBy(world, () => many)).hasMore).toBe(true);
  expect((await suggestedBy(world, () => ["a"])).hasMore).toBe(false);
  expect((await suggestedBy(world, () => ({ values: ["a"], hasMore: true }))).hasMore).toBe(true);
});

proves("completion.result.ranked", async (world) => {
  const ranked = ["python", "pytorch", "pyside", "apple"];
  expect((await suggestedBy(world, () => ranked, "py")).values).toEqual(ranked);
});

proves("completion.result.fuzzy", async (world) => {
  const holding = (typed: string): string[] => languages.filter((language) => language.includes(typed));
  expect((await suggestedBy(world, holding, "th")).values).toEqual(["python"]);
  const peer = await world.serve(offered);
  expect(completionOf(await complete(peer, ofPrompt("review"), "language", "PY")).values).toEqual(["python"]);
});

proves("completion.context.server", async (world) => {
  const others: unknown[] = [];
  const framework = (typed: string, given: JsonObject): string[] => (others.push(given), [`${typed}sk`]);
  const p = prompt({ arguments: { language: {}, framework: { complete: framework } }, get: () => "" });
  const peer = await world.serve({ prompts: { p } });
  const context = { arguments: { language: "python" } };
  const argument = { name: "framework", value: "fla" };
  const completed = await peer.request(method, { ref: ofPrompt("p"), argument, context });
  expect(completionOf(completed).values).toEqual(["flask"]);
  await complete(peer, ofPrompt("p"), "framework", "fla");
  expect(others).toEqual([{ language: "python" }, {}]);
});

proves("completion.context.client", async (world) => {
  const { client, server } = await world.connect();
  const context = { language: "python" };
  const completing = client.complete(ref, { name: "framework", value: "fla" }, { context });
  const request = await server.request(method);
  expect(request.params.context).toEqual({ arguments: context });
  server.answer(request, { completion: { values: ["flask"] } });
  expect((await completing).values).toEqual(["flask"]);
});

proves("completion.client", async (world) => {
  const { client, server } = await world.connect();
  for (const given of [ref, { type: "ref/resource", uri: "note://{id}" } as const]) {
    const completing = client.complete(given, { name: "language", value: "py" });
    const request = await server.request(method);
    expect(request.params).toMatchObject({ ref: given, argument: { name: "language", value: "py" } });
    server.answer(request, { completion: { values: ["python"], total: 10, hasMore: true } });
    expect(await completing).toEqual({ values: ["python"], total: 10, hasMore: true });
  }
});

proves("completion.error.no-capability", async (world) => {
  const peer = await world.serve({ prompts: { p: prompt({ arguments: { a: {} }, get: () => "" }) } });
  expect((await complete(peer, ofPrompt("p"), "a", "")).error.code).toBe(-32601);
});

proves("completion.error.unknown", async (world) => {
  const peer = await world.serve(offered);
  for (const unknown of [ofPrompt("none"), ofPrompt("constructor"), ofResource("other://{id}"), ofResource("x:y")]) {
    expect((await complete(peer, unknown, "id", "")).error.code).toBe(-32602);
  }
});

proves("completion.error.argument", async (world) => {
  const peer = await world.serve(offered);
  expect((await complete(peer, ofPrompt("review"), "none", "")).error.code).toBe(-32602);
  expect((await complete(peer, ofResource("note://{owner}/{id}"), "none", "")).error.code).toBe(-32602);
  expect((await peer.request(method, { ref: ofPrompt("review") })).error.code).toBe(-32602);
});

const broken = prompt({
  arguments: {
    a: {
      complete: () => {
        throw new Error("the secret reason");
      },
    },
  },
  get: () => "",
});

proves("completion.error.internal", async (world) => {
  const peer = await world.serve({ prompts: { broken } });
  expect((await complete(peer, ofPrompt("broken"), "a", "")).error).toEqual({
    code: -32603,
    message: "Internal error",
  });
});

const wrongContexts = ["b", { arguments: { b: 7 } }];

proves("completion.inputs", async (world) => {
  const asked: unknown[] = [];
  const p = prompt({ arguments: { a: { complete: (typed) => (asked.push(typed), []) } }, get: () => "" });
  const peer = await world.serve({ prompts: { p } });
  const argument = { name: "a", value: "" };
  for (const params of [
    {},
    { argument },
    { ref: ofPrompt(7), argument },
    { ref: { type: "ref/tool", name: "p" }, argument },
    { ref: ofPrompt("p"), argument: { name: "a" } },
    { ref: ofPrompt("p"), argument: { name: "a", value: 7 } },
    // Earlier revisions ignore the context, which they do not define.
    ...(world.revision.completionContext
      ? wrongContexts.map((context) => ({ ref: ofPrompt("p"), argument, context }))
      : []),
  ]) {
    expect((await peer.request(method, params)).error.code).toBe(-32602);
  }
  expect(asked).toEqual([]);
});

proves("completion.rate", async (world) => {
  const peer = await world.serve(offered);
  world.server.use(rateLimit({ perSecond: 1, burst: 2, clock: world.clock }));
  const send = (): Promise<RawMessage> => complete(peer, ofPrompt("review"), "language", "p");
  for (const { error } of [await send(), await send()]) expect(error).toBeUndefined();
  expect((await send()).error.data).toEqual({ retryAfter: 1 });
  await world.clock.advance(1000);
  expect(completionOf(await send()).values).toEqual(["python", "perl"]);
});

proves("completion.access", async (world) => {
  const asked: string[] = [];
  const source = (typed: string): string[] => (asked.push(typed), ["the secret"]);
  const guarded = prompt({ scopes: ["secrets"], arguments: { a: { complete: source } }, get: () => "" });
  const kept = resource("note://{id}", { scopes: ["secrets"], complete: { id: source }, read: () => "" });
  const definition = { prompts: { guarded }, resources: { kept } };
  const without = await serveGranted(world, definition, []);
  expect((await complete(without, ofPrompt("guarded"), "a", "")).error.data).toEqual({ scopes: ["secrets"] });
  expect((await complete(without, ofResource("note://{id}"), "id", "")).error.data).toEqual({ scopes: ["secrets"] });
  expect(asked).toEqual([]);
  const granted = await serveGranted(world, definition, ["secrets"]);
  expect(completionOf(await complete(granted, ofPrompt("guarded"), "a", "")).values).toEqual(["the secret"]);
});

proves("completion.disclosure", async (world) => {
  const leaking = prompt({
    arguments: { a: { complete: () => ({ values: ["one"], secret: "the secret reason" }) }, hidden: {} },
    get: () => "",
  });
  const peer = await world.serve({ prompts: { broken, review, leaking } });
  expect((await complete(peer, ofPrompt("broken"), "a", "")).error).toEqual({
    code: -32603,
    message: "Internal error",
  });
  expect(world.errors).toMatchObject([{ message: "the secret reason" }]);
  // Only the members that the specification defines, and only values that begin with the typed text.
  expect(completionOf(await complete(peer, ofPrompt("leaking"), "a", ""))).toEqual({
    values: ["one"],
    total: 1,
    hasMore: false,
  });
  expect(completionOf(await complete(peer, ofPrompt("review"), "language", "rus"))).toEqual({
    values: ["rust"],
    total: 1,
    hasMore: false,
  });
  // Errors name the requested prompt or argument, and no existing ones.
  for (const [name, argument] of [
    ["nothing", "a"],
    ["leaking", "nothing"],
  ] as const) {
    const { error } = await complete(peer, ofPrompt(name), argument, "");
    expect(error.code).toBe(-32602);
    expect(JSON.stringify(error)).not.toMatch(/broken|review|hidden|language/);
  }
  expect(JSON.stringify(peer.received)).not.toContain("secret");
});

proves("completion.client.partial", async (world) => {
  const { client, server } = await world.connect();
  const answered = async (result: JsonObject): Promise<unknown> => {
    const completing = client.complete(ref, { name: "a", value: "" }).catch((error: unknown) => error);
    server.answer(await server.request(method), result);
    return completing;
  };
  expect(await answered({ completion: { values: [] } })).toEqual({ values: [] });
  for (const result of [{}, { completion: null }, { completion: {} }, { completion: { values: "a" } }]) {
    expect(await answered(result)).toMatchObject({ code: "invalid_message" });
  }
  expect(await answered({ completion: { values: ["b"], hasMore: true } })).toEqual({ values: ["b"], hasMore: true });
});
