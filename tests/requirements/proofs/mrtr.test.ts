import { expect } from "vitest";
import { type JsonObject, MetaKey, inputRequired, prompt, resource, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { type RawMessage, isRequest, turns } from "../../support/raw-message.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import { asking, echo, gotPrompt, requested, rooted, textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const all = { capabilities: { roots: {}, elicitation: {}, sampling: {} } };
const answers = { roots: [{ uri: "file:///a" }] };
const listRoots = { method: "roots/list", params: {} };

/** The input requests of a result, by key. */
function asked({ result }: RawMessage): Record<string, { method: string; params: JsonObject }> {
  expect(result.resultType).toBe("input_required");
  return (result.inputRequests ?? {}) as Record<string, { method: string; params: JsonObject }>;
}

/** Calls a tool again with these answers and this state. */
function retry(
  peer: RawPeer,
  called: string | { name: string; arguments: JsonObject },
  inputResponses: JsonObject,
  requestState: unknown,
): Promise<RawMessage> {
  const call = typeof called === "string" ? { name: called, arguments: {} } : called;
  return peer.request("tools/call", { ...call, inputResponses, requestState });
}

const twice = tool({
  call: async (_, { roots }) => {
    const first = await roots();
    const second = await roots();
    return `${first.length} ${second.length}`;
  },
});

proves("mrtr.supported", async (world) => {
  const p = prompt({ get: async (_, { roots }) => String((await roots()).length) });
  const r = resource("note://a", { read: async (_, { roots }) => String((await roots()).length) });
  const peer = await world.serve({ tools: { rooted }, prompts: { p }, resources: { r } }, all);
  const requests: [string, JsonObject][] = [
    ["tools/call", { name: "rooted" }],
    ["prompts/get", { name: "p" }],
    ["resources/read", { uri: "note://a" }],
  ];
  for (const [method, params] of requests) {
    const first = await peer.request(method, params);
    const [key = ""] = Object.keys(asked(first));
    const more = { inputResponses: { [key]: answers }, requestState: first.result.requestState };
    expect((await peer.request(method, { ...params, ...more })).result.resultType).toBe("complete");
  }
});

proves("mrtr.unsupported", async (world) => {
  const p = prompt({
    arguments: { a: { complete: async (_, others) => [JSON.stringify(others)] } },
    get: () => "",
  });
  const peer = await world.serve({ tools: { rooted }, prompts: { p } }, all);
  const ref = { type: "ref/prompt", name: "p" };
  for (const [method, params] of [
    ["server/discover", {}],
    ["tools/list", {}],
    ["prompts/list", {}],
    ["completion/complete", { ref, argument: { name: "a", value: "" } }],
  ] as const) {
    expect((await peer.request(method, params)).result.resultType).toBe("complete");
  }
});

proves("mrtr.unsupported.client", async (world) => {
  const { client, server } = await world.connect({ roots: [] });
  const listing = client.listPrompts().all();
  listing.catch(() => {});
  const result = { resultType: "input_required", inputRequests: { r: listRoots } };
  server.answer(await server.request("prompts/list"), result);
  await expect(listing).rejects.toMatchObject({ code: "invalid_message" });
});

const inWireForm = (questions: Parameters<typeof inputRequired>[0]) => tool({ call: () => inputRequired(questions) });

proves("mrtr.requests.optional", async (world) => {
  const tools = {
    questions: inWireForm({ inputRequests: { r: listRoots } }),
    state: inWireForm({ requestState: "later" }),
    both: inWireForm({ inputRequests: { r: listRoots }, requestState: "later" }),
  };
  const peer = await world.serve({ tools }, all);
  const results = [];
  for (const name of ["questions", "state", "both"]) results.push(await peer.request("tools/call", { name }));
  expect(results.map((one) => Object.keys(asked(one)).length)).toEqual([1, 0, 1]);
  expect(results.slice(1).map(({ result }) => typeof result.requestState)).toEqual(["string", "string"]);
});

proves("mrtr.requests.one-of-both", async (world) => {
  expect(() => inputRequired({})).toThrow();
  expect(() => inputRequired({ inputRequests: {} })).toThrow();
  const peer = await world.serve({ tools: { rooted, asking } }, all);
  for (const name of ["rooted", "asking"]) {
    const { result } = await peer.request("tools/call", { name });
    expect(result.inputRequests ?? result.requestState).toBeDefined();
  }
});

const several = tool({
  call: async (_, { roots, elicit, sample }) => {
    const schema = { type: "object", properties: { name: { type: "string" } } };
    const form = elicit({ message: "Who?", schema });
    const model = sample({ messages: [], maxTokens: 1 });
    return String((await Promise.all([roots(), form, model])).length);
  },
});

proves("mrtr.requests.keys-unique", async (world) => {
  const peer = await world.serve({ tools: { several, twice } }, all);
  expect(new Set(Object.keys(asked(await peer.request("tools/call", { name: "several" })))).size).toBe(3);
  const first = await peer.request("tools/call", { name: "twice" });
  const [one = ""] = Object.keys(asked(first));
  const second = await retry(peer, "twice", { [one]: answers }, first.result.requestState);
  expect(Object.keys(asked(second))).not.toContain(one);
});

proves("mrtr.requests.kinds", async (world) => {
  const peer = await world.serve({ tools: { several } }, all);
  const methods = Object.values(asked(await peer.request("tools/call", { name: "several" }))).map(
    ({ method }) => method,
  );
  expect(methods.toSorted()).toEqual(["elicitation/create", "roots/list", "sampling/createMessage"]);
});

proves("mrtr.requests.declared", async (world) => {
  const own = inWireForm({ inputRequests: { r: listRoots } });
  const peer = await world.serve({ tools: { rooted, asking, own } });
  for (const name of ["rooted", "asking", "own"]) {
    const { error } = await peer.request("tools/call", { name });
    expect(error.code).toBe(-32021);
  }
});

proves("mrtr.state.integrity", async (world) => {
  const peer = await world.serve({ tools: { rooted } }, all);
  const { result } = await peer.request("tools/call", { name: "rooted" });
  const state = String(result.requestState);
  const flipped = state.slice(0, -3) + (state.at(-3) === "A" ? "B" : "A") + state.slice(-2);
  for (const wrong of [flipped, `${state}AAAA`, state.slice(0, -8), "", "made up", 7]) {
    const { error } = await retry(peer, "rooted", {}, wrong);
    expect(error.code).toBe(-32602);
  }
});

proves("mrtr.state.unreadable", async (world) => {
  const secret = tool({
    call: async (_, { once, roots }) => {
      await once("key", () => "the secret");
      return String((await roots()).length);
    },
  });
  const peer = await world.serve({ tools: { secret } }, all);
  const { result } = await peer.request("tools/call", { name: "secret" });
  const decoded = Buffer.from(String(result.requestState), "base64url").toString("latin1");
  expect(String(result.requestState) + decoded).not.toContain("secret");
});

proves("mrtr.state.principal", async (world) => {
  const authenticate = (head: { header(name: string): string | undefined }) => ({
    issuer: "test",
    subject: head.header("authorization") ?? "",
    scopes: [],
  });
  const http = world.serveHttp({ tools: { rooted } }, { auth: authenticate });
  const as = (authorization: string) => ({ headers: { authorization }, capabilities: { roots: {} } });
  const first = await (await http.modern("tools/call", { name: "rooted" }, as("ann"))).json();
  const [key = ""] = Object.keys(first.result.inputRequests as object);
  const again = { name: "rooted", inputResponses: { [key]: answers }, requestState: first.result.requestState };
  expect((await (await http.modern("tools/call", again, as("bob"))).json()).error.code).toBe(-32602);
  expect((await (await http.modern("tools/call", again, as("ann"))).json()).result.resultType).toBe("complete");
});

proves("mrtr.state.expiry", async (world) => {
  const peer = await world.serve({ tools: { rooted }, limits: { stateTtl: 60_000 } }, all);
  const first = await peer.request("tools/call", { name: "rooted" });
  const [key = ""] = Object.keys(asked(first));
  await world.clock.advance(60_001);
  const { error } = await retry(peer, "rooted", { [key]: answers }, first.result.requestState);
  expect(error.code).toBe(-32602);
});

proves("mrtr.state.request", async (world) => {
  const named = tool({ input: { type: "object" }, call: rooted.call as never });
  const peer = await world.serve({ tools: { named, other: named } }, all);
  const first = await peer.request("tools/call", { name: "named", arguments: { a: 1 } });
  const [key = ""] = Object.keys(asked(first));
  const { requestState } = first.result;
  const responses = { [key]: answers };
  expect((await retry(peer, { name: "other", arguments: { a: 1 } }, responses, requestState)).error.code).toBe(-32602);
  expect((await retry(peer, { name: "named", arguments: { a: 2 } }, responses, requestState)).error.code).toBe(-32602);
  expect(textOf(await retry(peer, { name: "named", arguments: { a: 1 } }, responses, requestState))).toBe("file:///a");
});

proves("mrtr.retry.not-assumed", async (world) => {
  const peer = await world.serve({ tools: { rooted, echo }, limits: { inFlight: 1 } }, all);
  for (let count = 0; count < 5; count++) asked(await peer.request("tools/call", { name: "rooted" }));
  expect(textOf(await peer.request("tools/call", { name: "echo" }))).toBe("{}");
});

proves("mrtr.retry.again", async (world) => {
  const peer = await world.serve({ tools: { twice } }, all);
  let answer = await peer.request("tools/call", { name: "twice" });
  for (let round = 0; round < 2; round++) {
    const [key = ""] = Object.keys(asked(answer));
    answer = await retry(peer, "twice", { [key]: answers }, answer.result.requestState);
  }
  expect(textOf(answer)).toBe("1 1");
});

proves("mrtr.retry.independent", async (world) => {
  const definition = { tools: { rooted }, stateKeys: [new Uint8Array(32).fill(1)] };
  const first = await (await world.serve(definition, all)).request("tools/call", { name: "rooted" });
  const [key = ""] = Object.keys(asked(first));
  const other = await world.serve(definition, all);
  expect(textOf(await retry(other, "rooted", { [key]: answers }, first.result.requestState))).toBe("file:///a");
});

proves("mrtr.answers.validated", async (world) => {
  const peer = await world.serve({ tools: { rooted } }, all);
  const first = await peer.request("tools/call", { name: "rooted" });
  const [key = ""] = Object.keys(asked(first));
  const { requestState } = first.result;
  for (const wrong of ["none", ["none"], 5, { [key]: "none" }]) {
    expect((await retry(peer, "rooted", wrong as never, requestState)).error.code).toBe(-32602);
  }
  for (const wrong of [{ [key]: { roots: 5 } }, { [key]: {} }]) {
    expect(Object.keys(asked(await retry(peer, "rooted", wrong as never, requestState)))).toEqual([key]);
  }
});

proves("mrtr.answers.unexpected", async (world) => {
  const peer = await world.serve({ tools: { rooted } }, all);
  const first = await peer.request("tools/call", { name: "rooted" });
  const [key = ""] = Object.keys(asked(first));
  const more = { [key]: answers, unasked: { roots: [] }, constructor: {} };
  expect(textOf(await retry(peer, "rooted", more, first.result.requestState))).toBe("file:///a");
});

proves("mrtr.answers.missing", async (world) => {
  const peer = await world.serve({ tools: { several } }, all);
  const first = await peer.request("tools/call", { name: "several" });
  const questions = asked(first);
  const keys = Object.keys(questions);
  const known = keys.find((key) => questions[key]?.method === "roots/list")!;
  const second = await retry(peer, "several", { [known]: answers }, first.result.requestState);
  expect(Object.keys(asked(second)).toSorted()).toEqual(keys.filter((key) => key !== known).toSorted());
});

/** A prompt that a client has asked for, and that its server answers with questions. */
async function questioned(world: World, result: JsonObject, options: Parameters<World["connect"]>[0] = {}) {
  const { client, server } = await world.connect({ roots: [{ uri: "file:///a" }], ...options });
  const outcome = client.getPrompt("p", { a: "b" }, { meta: { "com.example/a": 1 } });
  outcome.catch(() => {});
  const first = await server.request("prompts/get");
  server.answer(first, { resultType: "input_required", ...result });
  return { client, server, first, outcome };
}

proves("mrtr.client.answers-first", async (world) => {
  const elicit = async () => {
    await turns(2);
    return { action: "accept" as const, content: { name: "Ann" } };
  };
  const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
  const inputRequests = {
    one: listRoots,
    two: { method: "elicitation/create", params: { message: "Who?", requestedSchema } },
  };
  const { server, outcome } = await questioned(world, { inputRequests }, { elicit });
  const second = await server.request("prompts/get");
  expect(second.params.inputResponses).toEqual({
    one: { roots: [{ uri: "file:///a" }] },
    two: { action: "accept", content: { name: "Ann" } },
  });
  server.answer(second, gotPrompt);
  await outcome;
});

proves("mrtr.client.immediately", async (world) => {
  const { server, outcome } = await questioned(world, { requestState: "busy" });
  const second = await server.request("prompts/get");
  expect(second.params).not.toHaveProperty("inputResponses");
  server.answer(second, gotPrompt);
  await outcome;
});

proves("mrtr.client.state-echoed", async (world) => {
  for (const requestState of ["", '{"looks":"like JSON"}', "Grüße\n\u0000🌍", " padded ", "x".repeat(10_000)]) {
    const { server } = await questioned(world, { inputRequests: { r: listRoots }, requestState });
    expect((await server.request("prompts/get")).params.requestState).toBe(requestState);
  }
});

proves("mrtr.client.no-state", async (world) => {
  const { server } = await questioned(world, { inputRequests: { r: listRoots }, requestState: "first" });
  const second = await server.request("prompts/get");
  server.answer(second, { resultType: "input_required", inputRequests: { r: listRoots } });
  const third = await server.request("prompts/get");
  expect(third.params).toHaveProperty("inputResponses");
  expect(third.params).not.toHaveProperty("requestState");
});

proves("mrtr.client.new-id", async (world) => {
  const { server, first } = await questioned(world, { inputRequests: { r: listRoots } });
  expect((await server.request("prompts/get")).id).not.toBe(first.id);
});

proves("mrtr.client.this-request-only", async (world) => {
  const { client, server } = await questioned(world, { inputRequests: { r: listRoots }, requestState: "mine" });
  const second = await server.request("prompts/get");
  const other = await requested(client, server);
  expect(second.params.requestState).toBe("mine");
  expect(other.request.params).not.toHaveProperty("requestState");
  expect(other.request.params).not.toHaveProperty("inputResponses");
});

proves("mrtr.client.same-params", async (world) => {
  const { server, first } = await questioned(world, { inputRequests: { r: listRoots }, requestState: "s" });
  const { inputResponses: _, requestState: __, ...params } = (await server.request("prompts/get")).params;
  expect({ ...params, _meta: undefined }).toEqual({ ...first.params, _meta: undefined });
  expect(params._meta).toMatchObject({ "com.example/a": 1 });
});

proves("mrtr.requests.no-metadata-lost", async (world) => {
  const { server } = await questioned(world, { inputRequests: { r: listRoots } });
  const { params } = await server.request("prompts/get");
  expect(params._meta).toMatchObject({
    [MetaKey.protocolVersion]: world.version,
    [MetaKey.clientCapabilities]: { roots: {} },
  });
});

proves("mrtr.client.undeclared", async (world) => {
  const question = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } };
  const { server, outcome } = await questioned(world, { inputRequests: { r: question } });
  await expect(outcome).rejects.toMatchObject({ code: "invalid_message" });
  expect(server.received.filter(isRequest).length).toBe(2);
});
