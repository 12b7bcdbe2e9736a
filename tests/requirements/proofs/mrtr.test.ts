import { expect } from "vitest";
import {
  type AnyServerDefinition,
  type JsonObject,
  ErrorCode,
  MetaKey,
  inputRequired,
  prompt,
  resource,
  tool,
} from "../library.ts";
import { proves } from "../proves.ts";
import { type Message, isRequest, turns } from "../world/inbox.ts";
import type { Peer } from "../world/peer.ts";
import { asking, echo, gotPrompt, requested, rooted, textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const named = (name: string): JsonObject => ({ action: "accept", content: { name } });
const sampled = { role: "assistant", content: { type: "text", text: "Paris" }, model: "a model" };

/** A tool that asks for two names, both at once. */
const pair = tool({
  call: async (_, { elicit }) => {
    const [one, two] = await Promise.all(
      ["one", "two"].map((key) => elicit({ message: `${key}?`, schema, key }) as Promise<{ name: string }>),
    );
    return `${one?.name} and ${two?.name}`;
  },
});

/** A tool that asks the client's model. */
const thinking = tool({
  call: async (_, { sample }) => {
    const messages = [{ role: "user" as const, content: { type: "text" as const, text: "Where?" } }];
    return (await sample({ messages, maxTokens: 10 })).model;
  },
});

/** A tool that speaks the wire's own form, and tells what state it got back. */
const stateful = tool({
  call: (_, { requestState }) =>
    requestState === undefined ? inputRequired({ requestState: "level=user" }) : `state: ${requestState}`,
});

function serve(world: World, tools: AnyServerDefinition["tools"], more: Partial<AnyServerDefinition> = {}) {
  return world.serve({ tools: tools ?? {}, ...more }, { capabilities });
}

const call = (peer: Peer, name: string, more: JsonObject = {}): Promise<Message> =>
  peer.request("tools/call", { name, ...more });

const questionsIn = ({ result }: Message): Record<string, { method: string; params?: JsonObject }> =>
  result.inputRequests as Record<string, { method: string; params?: JsonObject }>;

/** Calls the tool `name` and gives what it asks first. */
async function asked(peer: Peer, name: string): Promise<{ keys: string[]; requestState: string }> {
  const answer = await call(peer, name);
  expect(answer.result.resultType).toBe("input_required");
  return { keys: Object.keys(questionsIn(answer) ?? {}), requestState: answer.result.requestState as string };
}

/** Checks that a retry was refused with an error, and that nothing of the state is told. */
function expectRefused({ error, result }: Message): void {
  expect(result).toBeUndefined();
  expect(error).toMatchObject({ code: ErrorCode.InvalidParams });
}

proves("mrtr.only-way", async (world) => {
  const peer = await serve(world, { asking, thinking, rooted });
  for (const [name, method] of [
    ["asking", "elicitation/create"],
    ["thinking", "sampling/createMessage"],
    ["rooted", "roots/list"],
  ] as const) {
    const questions = Object.values(questionsIn(await call(peer, name)));
    expect(questions.map((question) => question.method)).toEqual([method]);
  }
  await peer.settled();
  expect(peer.received.filter(isRequest)).toEqual([]);
});

proves("mrtr.methods.supported", async (world) => {
  const name = async (elicit: (question: { message: string; schema: JsonObject }) => Promise<JsonObject>) =>
    String((await elicit({ message: "Who?", schema })).name);
  const peer = await world.serve(
    {
      tools: { asking },
      prompts: { asking: prompt({ get: (_, { elicit }) => name(elicit) }) },
      resources: { asking: resource("asking:", { read: (_, { elicit }) => name(elicit) }) },
    },
    { capabilities },
  );
  for (const [method, params] of [
    ["tools/call", { name: "asking" }],
    ["prompts/get", { name: "asking" }],
    ["resources/read", { uri: "asking:" }],
  ] as const) {
    const { result } = await peer.request(method, params);
    expect(result.resultType).toBe("input_required");
    const [key = ""] = Object.keys(result.inputRequests as JsonObject);
    const { requestState } = result;
    const final = await peer.request(method, { ...params, inputResponses: { [key]: named("Ada") }, requestState });
    expect(final.result.resultType).toBe("complete");
    expect(JSON.stringify(final.result)).toContain("Ada");
  }
});

proves("mrtr.methods.no-others", async (world) => {
  const files = resource("file:///{name}", {
    list: async ({ roots }) => (await roots()).map(({ uri }) => uri),
    read: () => "text",
  });
  const peer = await world.serve({ resources: { files } }, { capabilities });
  const { result, error } = await peer.request("resources/list");
  expect(result).toBeUndefined();
  expect(error.code).toBe(ErrorCode.InternalError);
  expect(world.errors.map(String)).toEqual([expect.stringContaining("resources/list")]);
});

proves("mrtr.state.self-contained", async (world) => {
  const stateKeys = [new Uint8Array(32).fill(7)];
  const { requestState, keys } = await asked(await serve(world, { asking }, { stateKeys }), "asking");
  const other = await serve(world, { asking }, { stateKeys });
  const inputResponses = { [keys[0] ?? ""]: named("Ada") };
  expect(textOf(await call(other, "asking", { inputResponses, requestState }))).toBe("Hello, Ada");
});

proves("mrtr.input-requests.optional", async (world) => {
  const { result } = await call(await serve(world, { stateful }), "stateful");
  expect(result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) as string });
  expect(result).not.toHaveProperty("inputRequests");
});

proves("mrtr.input-requests.unique-keys", async (world) => {
  const keyless = tool({
    call: async (_, { elicit, roots }) => {
      await Promise.all([elicit({ message: "1", schema }), elicit({ message: "2", schema }), roots()]);
      return "done";
    },
  });
  const twice = tool({
    call: async (_, { elicit }) => {
      await Promise.all([1, 2].map(() => elicit({ message: "?", schema, key: "same" })));
      return "done";
    },
  });
  const peer = await serve(world, { keyless, twice });
  expect(new Set((await asked(peer, "keyless")).keys).size).toBe(3);
  expect((await call(peer, "twice")).result?.inputRequests).toBeUndefined();
  expect(world.errors.map(String)).toEqual([expect.stringContaining('"same"')]);
});

proves("mrtr.input-requests.kinds", async (world) => {
  const foreign = tool({ call: () => inputRequired({ inputRequests: { q: { method: "tools/call", params: {} } } }) });
  const everything = tool({
    call: async (_, { elicit, sample, roots }) => {
      const messages = [{ role: "user" as const, content: { type: "text" as const, text: "?" } }];
      await Promise.all([elicit({ message: "?", schema }), sample({ messages, maxTokens: 1 }), roots()]);
      return "done";
    },
  });
  const peer = await serve(world, { foreign, everything });
  const methods = Object.values(questionsIn(await call(peer, "everything"))).map(({ method }) => method);
  expect(methods.toSorted()).toEqual(["elicitation/create", "roots/list", "sampling/createMessage"]);
  expect((await call(peer, "foreign")).result?.inputRequests).toBeUndefined();
  expect(world.errors.map(String)).toEqual([expect.stringContaining("tools/call")]);
});

proves("mrtr.state.optional", async (world) => {
  const peer = await serve(world, { stateful });
  const { requestState } = await asked(peer, "stateful");
  expect(textOf(await call(peer, "stateful", { requestState }))).toBe("state: level=user");
});

/** A tool that counts how often it is run, and the way to read the count. */
function counted(): { counting: typeof stateful; runs: () => number } {
  let runs = 0;
  const counting = tool({
    call: (_, { requestState }) => {
      runs++;
      return requestState === undefined ? inputRequired({ requestState: "s" }) : "done";
    },
  });
  return { counting, runs: () => runs };
}

proves("mrtr.state.untrusted", async (world) => {
  const { counting, runs } = counted();
  const peer = await serve(world, { counting });
  const made = ["", "s", "{}", "null", "AAAA", "\u0000", "=".repeat(10), "A".repeat(100_000), btoa('{"own":"s"}')];
  for (const requestState of made) expectRefused(await call(peer, "counting", { requestState }));
  expect(runs()).toBe(0);
});

proves("mrtr.state.integrity", async (world) => {
  const { counting, runs } = counted();
  const peer = await serve(world, { counting });
  const { requestState } = await asked(peer, "counting");
  for (let at = 0; at < requestState.length; at += 7) {
    const other = requestState[at] === "A" ? "B" : "A";
    const changed = requestState.slice(0, at) + other + requestState.slice(at + 1);
    expectRefused(await call(peer, "counting", { requestState: changed }));
  }
  expectRefused(await call(peer, "counting", { requestState: requestState.slice(0, -4) }));
  expect(runs()).toBe(1);
  expect(textOf(await call(peer, "counting", { requestState }))).toBe("done");
});

proves("mrtr.state.rejected", async (world) => {
  const { counting, runs } = counted();
  const one = [new Uint8Array(32).fill(1)];
  const other = [new Uint8Array(32).fill(2)];
  const { requestState } = await asked(await serve(world, { counting }, { stateKeys: one }), "counting");
  expectRefused(await call(await serve(world, { counting }, { stateKeys: other }), "counting", { requestState }));
  expect(runs()).toBe(1);
});

proves("mrtr.state.principal", async (world) => {
  const http = {
    authenticate: (request: { header: (name: string) => string | undefined }) => ({
      issuer: "https://issuer.example",
      subject: request.header("authorization") ?? "nobody",
      scopes: [],
    }),
  };
  const peer = await world.serve({ tools: { stateful } }, { capabilities, http });
  const as = (who: string) => ({ headers: { authorization: who } });
  const params = { name: "stateful" };
  const { requestState } = (await peer.request("tools/call", params, as("ada"))).result;
  expectRefused(await peer.request("tools/call", { ...params, requestState }, as("bob")));
  expect(textOf(await peer.request("tools/call", { ...params, requestState }, as("ada")))).toContain("state:");
});

proves("mrtr.state.expiry", async (world) => {
  const peer = await serve(world, { stateful }, { limits: { stateTtl: 60_000 } });
  const { requestState } = await asked(peer, "stateful");
  await world.clock.advance(59_999);
  expect(textOf(await call(peer, "stateful", { requestState }))).toContain("state:");
  await world.clock.advance(1);
  expectRefused(await call(peer, "stateful", { requestState }));
});

proves("mrtr.state.request", async (world) => {
  const loose = tool({
    input: { type: "object" },
    call: (_, { requestState }) => requestState ?? inputRequired({ requestState: "the state" }),
  });
  const get = (): string => "never";
  const peer = await serve(world, { loose, other: loose }, { prompts: { loose: prompt({ get }) } });
  const first = await call(peer, "loose", { arguments: { a: 1, b: 2 } });
  const { requestState } = first.result;
  expectRefused(await call(peer, "other", { arguments: { a: 1, b: 2 }, requestState }));
  expectRefused(await call(peer, "loose", { arguments: { a: 1, b: 3 }, requestState }));
  expectRefused(await call(peer, "loose", { requestState }));
  expectRefused(await peer.request("prompts/get", { name: "loose", arguments: { a: 1, b: 2 }, requestState }));
  expect(textOf(await call(peer, "loose", { arguments: { b: 2, a: 1 }, requestState }))).toBe("the state");
});

proves("mrtr.result.not-empty", async (world) => {
  const empty = tool({ call: () => inputRequired({}) });
  const none = tool({ call: () => inputRequired({ inputRequests: {} }) });
  const peer = await serve(world, { empty, none, asking });
  for (const name of ["empty", "none"]) {
    const { result } = await call(peer, name);
    expect(result?.resultType).not.toBe("input_required");
  }
  expect(world.errors.length).toBe(2);
  expect((await asked(peer, "asking")).keys.length).toBe(1);
});

proves("mrtr.capability.undeclared", async (world) => {
  const visiting = tool({
    call: async (_, { elicit }) => {
      await elicit({ message: "Go", url: "https://example.com/" });
      return "done";
    },
  });
  const raw = tool({ call: () => inputRequired({ inputRequests: { r: { method: "roots/list" } } }) });
  const peer = await world.serve({ tools: { asking, visiting, thinking, rooted, raw } });
  for (const [name, declared] of [
    ["asking", { sampling: {}, roots: {} }],
    ["visiting", { elicitation: { form: {} }, sampling: {}, roots: {} }],
    ["thinking", { elicitation: {}, roots: {} }],
    ["rooted", { elicitation: {}, sampling: {} }],
    ["raw", { elicitation: {}, sampling: {} }],
  ] as const) {
    const meta = { [MetaKey.clientCapabilities]: declared };
    const { result, error } = await peer.request("tools/call", { name }, { meta });
    expect(result).toBeUndefined();
    expect(error.code).toBe(ErrorCode.MissingRequiredClientCapability);
  }
});

proves("mrtr.server.expects-no-retry", async (world) => {
  const peer = await serve(world, { asking, echo }, { limits: { inFlight: 1 } });
  for (let attempt = 0; attempt < 3; attempt++) await asked(peer, "asking");
  expect(textOf(await call(peer, "echo"))).toBe("{}");
});

proves("mrtr.server.asks-on", async (world) => {
  const stubborn = tool({
    call: async (_, { elicit }) => {
      const names: unknown[] = [];
      for (const key of ["a", "b", "c"]) names.push((await elicit({ message: key, schema, key })).name);
      return names.join(" ");
    },
  });
  const peer = await serve(world, { stubborn });
  let state = await asked(peer, "stubborn");
  for (const key of ["a", "b"]) {
    expect(state.keys).toEqual([key]);
    const inputResponses = { [key]: named(key) };
    const { result } = await call(peer, "stubborn", { inputResponses, requestState: state.requestState });
    state = { keys: Object.keys(result.inputRequests as JsonObject), requestState: result.requestState as string };
  }
  const last = { inputResponses: { c: named("c") }, requestState: state.requestState };
  expect(textOf(await call(peer, "stubborn", last))).toBe("a b c");
});

const listRoots = { method: "roots/list" };
const rootList = [{ uri: "file:///a" }];

/** A client that is asked for its roots, and the request with which it answers. */
async function retried(world: World, more: JsonObject = {}) {
  const { client, server } = await world.connect({ roots: rootList });
  const { request, outcome } = await requested(client, server);
  server.answer(request, { resultType: "input_required", inputRequests: { r: listRoots }, ...more });
  return { client, server, request, retry: await server.request("prompts/get"), outcome };
}

proves("mrtr.retry.meta", async (world) => {
  const { request, retry } = await retried(world);
  const meta = retry.params._meta as JsonObject;
  expect(meta).toMatchObject({ [MetaKey.protocolVersion]: world.version });
  for (const key of [MetaKey.protocolVersion, MetaKey.clientInfo, MetaKey.clientCapabilities]) {
    expect(meta[key]).toEqual((request.params._meta as JsonObject)[key]);
    expect(meta[key]).toBeDefined();
  }
});

proves("mrtr.client.answers", async (world) => {
  let open = (): void => {};
  const ready = new Promise<void>((resolve) => (open = resolve));
  const { client, server } = await world.connect({
    elicit: async () => {
      await ready;
      return { action: "accept", content: { name: "Ada" } };
    },
    sample: () => sampled as never,
    roots: rootList,
  });
  const { request, outcome } = await requested(client, server);
  const inputRequests = {
    who: { method: "elicitation/create", params: { mode: "form", message: "?", requestedSchema: schema } },
    where: {
      method: "sampling/createMessage",
      params: { messages: [{ role: "user", content: { type: "text", text: "Where?" } }], maxTokens: 5 },
    },
    "the roots": listRoots,
  };
  server.answer(request, { resultType: "input_required", inputRequests });
  await turns();
  expect(server.received.filter(({ method }) => method === "prompts/get").length).toBe(1);
  open();
  const retry = await server.request("prompts/get");
  expect(retry.params.inputResponses).toEqual({ who: named("Ada"), where: sampled, "the roots": { roots: rootList } });
  server.answer(retry, gotPrompt);
  expect(await outcome).toMatchObject(gotPrompt);
});

proves("mrtr.client.original", async (world) => {
  const { client, server } = await world.connect({ roots: rootList });
  const reading = client.getPrompt("p", { a: "1" }, { meta: { "com.example/note": "n" } });
  const request = await server.request("prompts/get");
  server.answer(request, { resultType: "input_required", inputRequests: { r: listRoots }, requestState: "s" });
  const retry = await server.request("prompts/get");
  const { inputResponses: _, requestState: __, ...params } = retry.params;
  // The token by which progress is told apart is new with each request.
  const own = ({ _meta, ...rest }: JsonObject) => ({ ...rest, _meta: { ...(_meta as object), progressToken: 0 } });
  expect(own(params)).toEqual(own(request.params));
  server.answer(retry, gotPrompt);
  await reading;
});

proves("mrtr.client.at-once", async (world) => {
  const { client, server } = await world.connect();
  const { request, outcome } = await requested(client, server);
  server.answer(request, { resultType: "input_required", requestState: "s" });
  const retry = await server.request("prompts/get");
  expect(retry.params).not.toHaveProperty("inputResponses");
  server.answer(retry, gotPrompt);
  await outcome;
});

proves("mrtr.client.echo", async (world) => {
  const { server, retry, outcome } = await retried(world, { requestState: "the state" });
  expect(retry.params.requestState).toBe("the state");
  server.answer(retry, { resultType: "input_required", inputRequests: { r: listRoots }, requestState: "the next" });
  const next = await server.request("prompts/get");
  expect(next.params.requestState).toBe("the next");
  server.answer(next, gotPrompt);
  await outcome;
});

proves("mrtr.client.opaque", async (world) => {
  const { client, server } = await world.connect({ roots: rootList });
  for (const requestState of ["", " ", '{"a": 1 }', "{broken", "héé\u0000\u2028\n", "null", "x".repeat(200_000)]) {
    const { request, outcome } = await requested(client, server);
    server.answer(request, { resultType: "input_required", inputRequests: { r: listRoots }, requestState });
    const retry = await server.request("prompts/get");
    expect(retry.params.requestState).toBe(requestState);
    server.answer(retry, gotPrompt);
    await outcome;
  }
});

proves("mrtr.client.no-state", async (world) => {
  const { server, retry, outcome } = await retried(world, { requestState: "the first" });
  server.answer(retry, { resultType: "input_required", inputRequests: { again: listRoots } });
  const next = await server.request("prompts/get");
  expect(next.params).not.toHaveProperty("requestState");
  expect(Object.keys(next.params.inputResponses as JsonObject)).toEqual(["again"]);
  server.answer(next, gotPrompt);
  await outcome;
});

proves("mrtr.client.new-id", async (world) => {
  const { server, request, retry, outcome } = await retried(world);
  server.answer(retry, { resultType: "input_required", inputRequests: { again: listRoots } });
  const next = await server.request("prompts/get");
  expect(new Set([request.id, retry.id, next.id]).size).toBe(3);
  server.answer(next, gotPrompt);
  await outcome;
});

proves("mrtr.client.only-the-retry", async (world) => {
  let open = (): void => {};
  const ready = new Promise<void>((resolve) => (open = resolve));
  const { client, server } = await world.connect({ roots: () => ready.then(() => rootList) });
  const { request, outcome } = await requested(client, server);
  const before = client.getPrompt("before");
  const parallel = await server.request("prompts/get");
  server.answer(request, { resultType: "input_required", inputRequests: { r: listRoots }, requestState: "s" });
  const during = client.getPrompt("during");
  const meanwhile = await server.request("prompts/get");
  open();
  const retry = await server.request("prompts/get");
  expect(retry.params).toMatchObject({ name: "p", requestState: "s" });
  const after = client.getPrompt("p");
  const later = await server.request("prompts/get");
  for (const { params } of [parallel, meanwhile, later]) {
    expect(params).not.toHaveProperty("requestState");
    expect(params).not.toHaveProperty("inputResponses");
  }
  for (const message of [parallel, meanwhile, retry, later]) server.answer(message, gotPrompt);
  await Promise.all([before, during, after, outcome]);
});

proves("mrtr.errors.validates", async (world) => {
  const seen: unknown[] = [];
  const strict = tool({
    call: async (_, { elicit }) => {
      const answer = await elicit({ message: "?", schema, key: "who" });
      seen.push(answer);
      return "done";
    },
  });
  const peer = await serve(world, { strict });
  const { requestState } = await asked(peer, "strict");
  const content = { name: 5 };
  for (const who of [5, "Ada", null, [], {}, { action: "maybe" }, { action: "accept", content }]) {
    const { result } = await call(peer, "strict", { inputResponses: { who }, requestState });
    expect(result.resultType).toBe("input_required");
  }
  for (const inputResponses of [null, [named("Ada")], "who", 5]) {
    expect((await call(peer, "strict", { inputResponses, requestState })).result.resultType).toBe("input_required");
  }
  expect(seen).toEqual([]);
});

proves("mrtr.errors.protocol", async (world) => {
  const peer = await serve(world, { asking });
  for (const requestState of [5, null, {}, ["s"], true]) {
    const { error } = await call(peer, "asking", { requestState });
    expect(error).toMatchObject({
      code: ErrorCode.InvalidParams,
      message: expect.stringContaining("requestState") as string,
    });
  }
});

proves("mrtr.errors.unexpected", async (world) => {
  const peer = await serve(world, { pair });
  const { requestState } = await asked(peer, "pair");
  const inputResponses = { one: named("Ada"), three: named("Eve"), "": 5, two: { ...named("Bob"), more: [1] } };
  expect(textOf(await call(peer, "pair", { inputResponses, requestState }))).toBe("Ada and Bob");
});

proves("mrtr.errors.missing", async (world) => {
  const peer = await serve(world, { pair });
  const { requestState } = await asked(peer, "pair");
  const again = await call(peer, "pair", { inputResponses: { one: named("Ada") }, requestState });
  expect(Object.keys(questionsIn(again))).toEqual(["two"]);
  const last = { inputResponses: { two: named("Bob") }, requestState: again.result.requestState };
  expect(textOf(await call(peer, "pair", last))).toBe("Ada and Bob");
});

proves("mrtr.security.state", async (world) => {
  const peer = await serve(world, { stateful });
  for (const requestState of ["level=admin", btoa("level=admin"), JSON.stringify({ own: "level=admin" })]) {
    expectRefused(await call(peer, "stateful", { requestState }));
  }
  const { requestState } = await asked(peer, "stateful");
  expect(textOf(await call(peer, "stateful", { requestState }))).toBe("state: level=user");
});
