import { expect } from "vitest";
import { LocalError, MetaKey, ProtocolError, prompt, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { type RawMessage, isNotification, isRequest, isResponse } from "../../support/raw-message.ts";
import { asking, echo, failing, gotPrompt, requested, rooted, textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const roots = { roots: {} };

function isId(id: unknown): boolean {
  return typeof id === "string" || Number.isInteger(id);
}

const isErrorWithoutId = (message: RawMessage): boolean =>
  isResponse(message) && "error" in message && !("id" in message);

proves("base.jsonrpc.version", {
  async server(world) {
    const slow = tool({ call: (_, ctx) => (ctx.progress(1), "done") });
    const peer = await world.serve({ tools: { slow, failing } });
    await peer.request("tools/call", { name: "slow" }, { meta: { progressToken: "p" } });
    await peer.request("tools/call", { name: "failing" });
    await peer.request("no/such/method");
    expect(peer.received.length).toBeGreaterThan(3);
    for (const message of peer.received) expect(message.jsonrpc).toBe("2.0");
  },
  async client(world) {
    const { client, server } = await world.connect({ roots: [] });
    await requested(client, server);
    await client.notify("notifications/of-our-own");
    await server.notification("notifications/of-our-own");
    for (const message of server.received) expect(message.jsonrpc).toBe("2.0");
  },
});

proves("base.request.has-id", async (world) => {
  const { client, server } = await world.connect();
  await requested(client, server);
  const requests = server.received.filter(isRequest);
  expect(requests.length).toBe(2);
  for (const { id } of requests) expect(isId(id)).toBe(true);
});

proves("base.request.server-has-id", async (world) => {
  const peer = await world.serve({ tools: { rooted } }, { capabilities: roots });
  peer.start("tools/call", { name: "rooted" });
  expect(isId((await peer.nextRequest("roots/list")).id)).toBe(true);
});

proves("base.request.null-id-refused", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  for (const id of [null, 1.5, true, {}, 2 ** 53]) {
    peer.send({ jsonrpc: "2.0", id, method: "tools/list", params: {} });
    expect((await peer.next(isErrorWithoutId)).error.code).toBe(-32600);
  }
});

proves("base.request.id-unique-in-session", {
  async server(world) {
    const peer = await world.serve({ tools: { rooted } }, { capabilities: roots });
    const seen = new Set<unknown>();
    for (let asked = 0; asked < 5; asked++) {
      const id = peer.start("tools/call", { name: "rooted" });
      const request = await peer.nextRequest("roots/list");
      seen.add(request.id);
      peer.answer(request, { roots: [] });
      await peer.response(id);
    }
    expect(seen.size).toBe(5);
  },
  async client(world) {
    const { client, server } = await world.connect();
    for (let asked = 0; asked < 5; asked++) {
      const { request, outcome } = await requested(client, server);
      server.answer(request, gotPrompt);
      await outcome;
    }
    const ids = server.received.filter(isRequest).map(({ id }) => id);
    expect(new Set(ids).size).toBe(6);
  },
});

proves("base.request.id-unique-in-flight", async (world) => {
  const { client, server } = await world.connect();
  const open = [];
  for (let asked = 0; asked < 5; asked++) open.push((await requested(client, server)).request.id);
  expect(new Set(open).size).toBe(5);
});

proves("base.response.same-id", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  for (const id of ["1", 1, 0, -7, "", "ключ", Number.MAX_SAFE_INTEGER]) {
    const response = await peer.request("tools/list", {}, { id });
    expect(response.id).toBe(id);
    expect(response.result).toBeDefined();
  }
});

proves("base.response.client-same-id", async (world) => {
  const { server } = await world.connect();
  for (const id of ["1", 1, 0, "a b"]) expect((await server.ask(id, "ping")).id).toBe(id);
});

proves("base.response.result-or-error", async (world) => {
  const peer = await world.serve({ tools: { echo, failing } });
  await peer.request("tools/list");
  await peer.request("tools/call", { name: "failing" });
  await peer.request("tools/call", { name: "none" });
  for (const message of peer.received.filter(isResponse)) expect("result" in message).toBe(!("error" in message));
});

proves("base.response.matched-by-id", async (world) => {
  const { client, server } = await world.connect();
  const first = await requested(client, server);
  const second = await requested(client, server);
  server.answer(second.request, { ...gotPrompt, description: "second" });
  expect(await second.outcome).toMatchObject({ description: "second" });
  server.answer(first.request, { ...gotPrompt, description: "first" });
  expect(await first.outcome).toMatchObject({ description: "first" });
});

proves("base.result.any-object", async (world) => {
  const { client, server } = await world.connect();
  const { request, outcome } = await requested(client, server);
  server.answer(request, { ...gotPrompt, "com.example": { deep: [null, 1] } });
  expect(await outcome).toMatchObject({ "com.example": { deep: [null, 1] } });
});

proves("base.error.code-and-message", async (world) => {
  const odd = prompt({
    get: () => {
      throw new ProtocolError(-7, "");
    },
  });
  const peer = await world.serve({ tools: { echo }, prompts: { odd } });
  const refused = [
    await peer.request("no/such/method"),
    await peer.request("prompts/get", { name: "odd" }),
    await peer.request("tools/call", {}),
  ];
  for (const { error } of refused) {
    expect(Number.isInteger(error.code)).toBe(true);
    expect(typeof error.message).toBe("string");
  }
});

proves("base.error.client-code-and-message", async (world) => {
  const { server } = await world.connect({
    roots: () => {
      throw new Error("the secret reason");
    },
  });
  const { error } = await server.ask("r", "roots/list");
  expect(Number.isInteger(error.code)).toBe(true);
  expect(error.message).toBe("Internal error");
});

proves("base.error.same-id", async (world) => {
  const peer = await world.serve();
  for (const id of ["x", 0]) {
    const { error, ...rest } = await peer.request("no/such/method", {}, { id });
    expect(rest.id).toBe(id);
    expect(error).toBeDefined();
  }
});

proves("base.error.no-id-if-unreadable", async (world) => {
  const peer = await world.serve();
  peer.send({ jsonrpc: "2.0", id: { not: "an id" }, method: "tools/list" });
  await peer.next(isErrorWithoutId);
});

proves("base.error.data", {
  async server(world) {
    const odd = prompt({
      get: () => {
        throw new ProtocolError(7, "odd", { data: [{ nested: "error" }] });
      },
    });
    const peer = await world.serve({ prompts: { odd } });
    const { error } = await peer.request("prompts/get", { name: "odd" });
    expect(error).toEqual({ code: 7, message: "odd", data: [{ nested: "error" }] });
  },
  async client(world) {
    const { client, server } = await world.connect();
    const { request, outcome } = await requested(client, server);
    server.refuse(request, { code: 7, message: "odd", data: [{ nested: "error" }] });
    await expect(outcome).rejects.toMatchObject({ code: 7, message: "odd", data: [{ nested: "error" }] });
  },
});

proves("base.error.parse", async (world) => {
  const peer = await world.serve();
  peer.sendText("{ not json\n");
  expect((await peer.next(isErrorWithoutId)).error.code).toBe(-32700);
});

proves("base.error.invalid-request", async (world) => {
  const peer = await world.serve();
  for (const value of [{}, 7, "text", null, { jsonrpc: "1.0", method: "ping" }, { jsonrpc: "2.0", method: 5 }]) {
    peer.send(value);
    expect((await peer.next(isErrorWithoutId)).error.code).toBe(-32600);
  }
});

proves("base.error.method-not-found", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  for (const method of ["no/such/method", "constructor", "__proto__", ""]) {
    expect((await peer.request(method)).error.code).toBe(-32601);
  }
});

proves("base.error.client-method-not-found", async (world) => {
  const { server } = await world.connect();
  expect((await server.ask("x", "no/such/method")).error.code).toBe(-32601);
});

proves("base.error.method-of-other-revision", async (world) => {
  const peer = await world.serve({ tools: { echo }, prompts: {}, resources: {} });
  const others = world.isModern
    ? ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
    : ["tasks/get", "elicitation/create", "sampling/createMessage", "roots/list"];
  for (const method of others) expect((await peer.request(method)).error.code).toBe(-32601);
});

proves("base.error.invalid-params", async (world) => {
  const peer = await world.serve({ tools: { echo }, prompts: { p: prompt({ get: () => "" }) } });
  for (const [method, params] of [
    ["tools/call", { name: 5 }],
    ["tools/call", { name: "echo", arguments: "none" }],
    ["prompts/get", {}],
  ] as const) {
    expect((await peer.request(method, params)).error.code).toBe(-32602);
  }
});

proves("base.error.internal", async (world) => {
  const broken = prompt({
    get: () => {
      throw new Error("the secret reason");
    },
  });
  const peer = await world.serve({ prompts: { broken } });
  const { error } = await peer.request("prompts/get", { name: "broken" });
  expect(error.code).toBe(-32603);
  expect(JSON.stringify(error)).not.toContain("secret");
  expect(world.errors).toMatchObject([{ message: "the secret reason" }]);
});

/** The code with which an error of a handler arrives. */
async function codeFor(world: World, code: number): Promise<number> {
  const odd = prompt({
    get: () => {
      throw new ProtocolError(code, "odd");
    },
  });
  const peer = await world.serve({ prompts: { odd } });
  const { error } = await peer.request("prompts/get", { name: "odd" });
  return error.code;
}

proves("base.error.retired-codes", async (world) => {
  for (const code of [-32002, -32042]) expect(await codeFor(world, code)).not.toBe(code);
});

proves("base.error.reserved-codes", async (world) => {
  for (const code of [-32023, -32042, -32099]) expect(await codeFor(world, code)).toBe(-32600);
  for (const code of [-32020, -32021, -32022]) expect(await codeFor(world, code)).toBe(code);
});

proves("base.error.legacy-codes-unused", async (world) => {
  const peer = await world.serve({ tools: { echo, failing, asking } });
  await peer.request("no/such/method");
  await peer.request("tools/call", { name: "none" });
  await peer.request("tools/call", { name: "asking" });
  await peer.request("resources/read", { uri: "none:" });
  await peer.request("tools/list", { cursor: "none" });
  const codes = peer.received.filter((message) => "error" in message).map(({ error }) => error.code);
  expect(codes.length).toBe(5);
  expect(codes.filter((code) => code <= -32000 && code >= -32019)).toEqual([]);
});

proves("base.error.legacy-codes-ignored", async (world) => {
  const { client, server } = await world.connect();
  for (const code of [-32000, -32001, -32019]) {
    const { request, outcome } = await requested(client, server);
    server.refuse(request, { code, message: "said by the server" });
    await expect(outcome).rejects.toSatisfy((error) => error instanceof ProtocolError && error.code === code);
  }
  expect(server.received.filter(({ method }) => method === "prompts/get").length).toBe(3);
});

proves("base.error.own-codes", async (world) => {
  for (const code of [1, -1, 4711, -32769, -31999]) expect(await codeFor(world, code)).toBe(code);
});

proves("base.error.local-distinguished", async (world) => {
  const { client, server } = await world.connect();
  const { outcome } = await requested(client, server, { timeout: { idle: 50 } });
  await world.clock.advance(50);
  await expect(outcome).rejects.toSatisfy((error) => error instanceof LocalError && error.code === "timeout");
  const { request, outcome: refused } = await requested(client, server);
  server.refuse(request, { code: -32001, message: "Request timed out" });
  await expect(refused).rejects.toSatisfy((error) => error instanceof ProtocolError);
});

proves("base.notification.no-id", {
  async server(world) {
    const slow = tool({ call: (_, ctx) => (ctx.progress(1), "done") });
    const peer = await world.serve({ tools: { slow } });
    await peer.request("tools/call", { name: "slow" }, { meta: { progressToken: "p" } });
    expect("id" in (await peer.nextNotification("notifications/progress"))).toBe(false);
  },
  async client(world) {
    const { client, server } = await world.connect();
    await client.notify("notifications/of-our-own", { a: 1 });
    await server.notification("notifications/of-our-own");
    for (const { method } of server.received.filter(isNotification)) expect(method).toMatch(/^notifications\//);
    for (const { method } of server.received.filter(isRequest)) expect(method).not.toMatch(/^notifications\//);
  },
});

proves("base.notification.no-response", {
  async server(world) {
    const peer = await world.serve({ tools: { echo } });
    const before = peer.received.length;
    peer.notify("notifications/unheard-of", { a: 1 });
    peer.notify("tools/call", { name: "none" });
    peer.notify("notifications/cancelled", { requestId: {} });
    await peer.settled();
    expect(peer.received.length).toBe(before);
  },
  async client(world) {
    const { client, server } = await world.connect();
    const { request, outcome } = await requested(client, server);
    const before = server.received.length;
    server.notify("notifications/unheard-of", { a: 1 }, request);
    server.notify("roots/list", undefined, request);
    server.notify("notifications/progress", { progressToken: {}, progress: "much" }, request);
    server.answer(request, gotPrompt);
    await outcome;
    expect(server.received.length).toBe(before);
  },
});

proves("base.batch.received", {
  async server(world) {
    const peer = await world.serve({ tools: { echo } });
    peer.send([
      { jsonrpc: "2.0", id: "a", method: "ping" },
      { jsonrpc: "2.0", method: "notifications/unheard-of" },
      { jsonrpc: "2.0", id: "b", method: "tools/call", params: { name: "echo", arguments: { n: 1 } } },
    ]);
    expect((await peer.response("a")).result).toEqual({});
    expect(textOf(await peer.response("b"))).toBe('{"n":1}');
  },
  async client(world) {
    const logs: unknown[] = [];
    const { client, server } = await world.connect({ roots: [], onLog: ({ data }) => logs.push(data) });
    const { request, outcome } = await requested(client, server);
    const notification = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "said" } };
    server.send([{ jsonrpc: "2.0", id: "r", method: "roots/list" }, notification], request);
    const answer = await server.next((message) => isResponse(message) && message.id === "r");
    expect(answer.result).toEqual({ roots: [] });
    expect(logs).toEqual(["said"]);
    server.answer(request, gotPrompt);
    await outcome;
  },
});

proves("base.batch.invalid-members", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  peer.send([1, { jsonrpc: "2.0", id: "a", method: "ping" }]);
  expect((await peer.next(isErrorWithoutId)).error.code).toBe(-32600);
  expect((await peer.response("a")).result).toEqual({});
});

proves("base.batch.empty", async (world) => {
  const peer = await world.serve();
  peer.send([]);
  expect((await peer.next(isErrorWithoutId)).error.code).toBe(-32600);
});

proves("base.batch.only-notifications", async (world) => {
  const peer = await world.serve();
  const before = peer.received.length;
  peer.send([{ jsonrpc: "2.0", method: "notifications/unheard-of" }]);
  await peer.settled();
  expect(peer.received.length).toBe(before);
});

proves("base.batch.gone", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  peer.send([{ jsonrpc: "2.0", id: "a", method: "tools/list", params: {} }]);
  expect((await peer.next(isErrorWithoutId)).error.code).toBe(-32600);
  await peer.settled();
  expect(peer.received.some(({ id }) => id === "a")).toBe(false);
});

proves("base.result.type", async (world) => {
  const peer = await world.serve(
    { tools: { echo, asking }, prompts: { p: prompt({ get: () => "hi" }) } },
    { capabilities: { elicitation: {} } },
  );
  for (const method of ["server/discover", "tools/list", "prompts/list"]) {
    expect((await peer.request(method)).result.resultType).toBe("complete");
  }
  expect((await peer.request("tools/call", { name: "echo" })).result.resultType).toBe("complete");
  expect((await peer.request("prompts/get", { name: "p" })).result.resultType).toBe("complete");
  expect((await peer.request("tools/call", { name: "asking" })).result.resultType).toBe("input_required");
});

proves("base.result.type-not-before", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  const { result } = await peer.request("tools/list");
  const { result: called } = await peer.request("tools/call", { name: "echo" });
  for (const one of [peer.opened!, result, called]) {
    for (const member of ["resultType", "ttlMs", "cacheScope"]) expect(one).not.toHaveProperty(member);
  }
});

proves("base.result.type-absent", async (world) => {
  const { client, server } = await world.connect();
  const { request, outcome } = await requested(client, server);
  server.answer(request, gotPrompt);
  expect(await outcome).toMatchObject(gotPrompt);
});

proves("base.result.type-unknown", async (world) => {
  const { client, server } = await world.connect();
  for (const resultType of ["com.example/half", "", 5, "Complete"]) {
    const { request, outcome } = await requested(client, server);
    server.answer(request, { ...gotPrompt, resultType });
    await expect(outcome).rejects.toMatchObject({ code: "invalid_message" });
  }
});

proves("base.result.type-of-extension", async (world) => {
  const { client, server } = await world.connect({ extensions: { "com.example/halves": {} } });
  const { request, outcome } = await requested(client, server);
  server.answer(request, { ...gotPrompt, resultType: "com.example/half" });
  expect(await outcome).toMatchObject({ resultType: "com.example/half" });
});

proves("base.server-requests.not-sent", async (world) => {
  const peer = await world.serve({ tools: { asking, rooted } }, { capabilities: { elicitation: {}, roots: {} } });
  for (const name of ["asking", "rooted"]) {
    expect((await peer.request("tools/call", { name })).result.resultType).toBe("input_required");
  }
  expect(peer.received.filter(isRequest)).toEqual([]);
});

const whoami = tool({ call: (_, { peer }) => JSON.stringify([peer.info?.name, Object.keys(peer.capabilities)]) });

const as = (name: string, capabilities: object): { meta: Record<string, unknown> } => ({
  meta: { [MetaKey.clientInfo]: { name, version: "1" }, [MetaKey.clientCapabilities]: capabilities },
});

proves("base.stateless.no-earlier-requests", async (world) => {
  const peer = await world.serve({ tools: { whoami, rooted } });
  const first = await peer.request("tools/call", { name: "whoami" }, as("one", { roots: {} }));
  expect(textOf(first)).toBe('["one",["roots"]]');
  const second = await peer.request("tools/call", { name: "whoami" }, as("two", {}));
  expect(textOf(second)).toBe('["two",[]]');
  expect((await peer.request("tools/call", { name: "rooted" }, as("two", {}))).error.code).toBe(-32021);
});

proves("base.stateless.interleaved", async (world) => {
  const peer = await world.serve({ tools: { whoami } });
  const names = ["a", "b", "c", "a", "b"];
  const answers = await Promise.all(names.map((name) => peer.request("tools/call", { name: "whoami" }, as(name, {}))));
  expect(answers.map((answer) => JSON.parse(textOf(answer))[0])).toEqual(names);
});

proves("base.stateless.any-connection", async (world) => {
  const stateKeys = [new Uint8Array(32).fill(7)];
  const options = { capabilities: { roots: {} } };
  const first = await world.serve({ tools: { rooted }, stateKeys }, options);
  const { result } = await first.request("tools/call", { name: "rooted" });
  const [key = ""] = Object.keys(result.inputRequests as object);
  const other = await world.serve({ tools: { rooted }, stateKeys }, options);
  const inputResponses = { [key]: { roots: [{ uri: "file:///a" }] } };
  const retry = { name: "rooted", inputResponses, requestState: result.requestState };
  expect(textOf(await other.request("tools/call", retry))).toBe("file:///a");
});

proves("base.stateless.explicit-state", async (world) => {
  const peer = await world.serve({ tools: { rooted } }, { capabilities: { roots: {} } });
  const { result } = await peer.request("tools/call", { name: "rooted" });
  expect(typeof result.requestState).toBe("string");
  const again = await peer.request("tools/call", { name: "rooted" });
  expect(again.result.resultType).toBe("input_required");
});

proves("base.support", {
  async server(world) {
    const peer = await world.serve({ tools: { echo } });
    expect(textOf(await peer.request("tools/call", { name: "echo", arguments: { a: 1 } }))).toBe('{"a":1}');
  },
  async client(world) {
    const { client, server } = await world.connect();
    expect(client.server.revision).toBe(world.version);
    const { request, outcome } = await requested(client, server);
    server.answer(request, gotPrompt);
    expect(await outcome).toMatchObject(gotPrompt);
    await client.close();
  },
});
