import { expect } from "vitest";
import { prompt, resource, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { type Message, isNotification, isRequest } from "../world/inbox.ts";
import { asking, echo, gotPrompt, requested, rooted, textOf } from "../world/subjects.ts";
import { type World, discoverResult, initializeResult } from "../world/world.ts";

const sampling = tool({
  call: async (_, { sample }) => (await sample({ messages: [], maxTokens: 1 })).model,
});
const roots = { capabilities: { roots: {} } };

proves("lifecycle.initialize.first", async (world) => {
  const peer = await world.serve({ tools: { echo } }, { open: false });
  peer.send({ jsonrpc: "2.0", id: "early", method: "tools/list" });
  expect((await peer.response("early")).error.code).toBe(-32600);
});

proves("lifecycle.initialize.client-first", async (world) => {
  const { server } = await world.connect();
  expect(server.received[0]?.method).toBe("initialize");
});

proves("lifecycle.initialize.client-params", async (world) => {
  const info = { name: "mine", version: "3.0.0" };
  const { server } = await world.connect({ info, roots: [] });
  const { protocolVersion, capabilities, clientInfo } = server.received[0]?.params ?? {};
  expect(protocolVersion).toBe(world.version);
  expect(capabilities).toEqual({ roots: { listChanged: true } });
  expect(clientInfo).toEqual(info);
});

proves("lifecycle.initialize.server-result", async (world) => {
  const peer = await world.serve({ name: "mine", version: "3.0.0", tools: { echo } });
  expect(peer.opened).toMatchObject({
    protocolVersion: world.version,
    capabilities: { tools: {} },
    serverInfo: { name: "mine", version: "3.0.0" },
  });
});

proves("lifecycle.initialize.malformed", async (world) => {
  const peer = await world.serve({ tools: { echo } }, { open: false });
  for (const odd of [{ protocolVersion: 5 }, { capabilities: [] }, { clientInfo: { name: "no version" } }]) {
    expect((await peer.initialize(odd)).error.code).toBe(-32602);
  }
  expect((await peer.initialize()).result).toBeDefined();
});

proves("lifecycle.initialize.refused", async (world) => {
  const { connecting, server } = world.dial({ revision: world.version });
  server.refuse(await server.request("initialize"), { code: -32603, message: "not today" });
  await expect(connecting).rejects.toThrow("not today");
});

proves("lifecycle.initialize.not-in-a-batch", async (world) => {
  const peer = await world.serve({}, { open: false });
  const params = { protocolVersion: world.version, capabilities: {}, clientInfo: { name: "a", version: "1" } };
  peer.send([{ jsonrpc: "2.0", id: "i", method: "initialize", params }]);
  expect((await peer.next((message) => "error" in message)).error.code).toBe(-32600);
  expect(peer.received.some((message) => "result" in message)).toBe(false);
});

proves("lifecycle.initialized.sent", async (world) => {
  const { client, server } = await world.connect();
  await requested(client, server);
  expect(server.received.map(({ method }) => method)).toEqual([
    "initialize",
    "notifications/initialized",
    "prompts/get",
  ]);
});

proves("lifecycle.initialized.only-after-success", async (world) => {
  const { connecting, server } = world.dial({ revision: world.version });
  server.refuse(await server.request("initialize"), { code: -32602, message: "no" });
  await expect(connecting).rejects.toThrow();
  expect(server.received.filter(isNotification)).toEqual([]);
});

proves("lifecycle.initialized.client-waits", async (world) => {
  const { connecting, server } = world.dial({ revision: world.version });
  const asked = await server.request("initialize");
  await world.clock.advance(1_000);
  expect(server.received.length).toBe(1);
  server.answer(asked, initializeResult(world.version));
  await connecting;
});

/** Opens a session up to where the client is to say that it is ready, which it does not. */
async function halfOpen(world: World): Promise<Awaited<ReturnType<World["serve"]>>> {
  const peer = await world.serve({ tools: { rooted, echo } }, { ...roots, open: false });
  const clientInfo = { name: "raw", version: "1" };
  const params = { protocolVersion: world.version, capabilities: { roots: {} }, clientInfo };
  await peer.request("initialize", params, { bare: true });
  return peer;
}

proves("lifecycle.initialized.server-waits", async (world) => {
  const peer = await halfOpen(world);
  const id = peer.start("tools/call", { name: "rooted" });
  // The code that asks is loaded when a handler asks first, which takes more than turns of the event loop.
  while (world.clock.pending < 2) await peer.settled();
  expect(peer.received.filter(isRequest)).toEqual([]);
  peer.notify("notifications/initialized");
  const request = await peer.nextRequest("roots/list");
  peer.answer(request, { roots: [{ uri: "file:///a" }] });
  expect(textOf(await peer.response(id))).toBe("file:///a");
});

proves("lifecycle.initialized.changes-wait", async (world) => {
  const peer = await halfOpen(world);
  world.server.tools.set("more", echo);
  await peer.settled();
  expect(peer.received.filter(isNotification)).toEqual([]);
});

proves("lifecycle.initialized.ping-before", async (world) => {
  const peer = await world.serve({}, { open: false });
  expect((await peer.request("ping")).result).toEqual({});
});

proves("lifecycle.version.offered", async (world) => {
  const { server } = await world.connect();
  expect(server.received[0]?.params.protocolVersion).toBe(world.version);
});

/** Lets a client find out by itself that its server knows nothing but `initialize`; gives what it was asked. */
async function found(world: World): Promise<Message> {
  const { connecting, server } = world.dial();
  connecting.catch(() => {});
  server.refuse(await server.request("server/discover"), { code: -32601, message: "Method not found" });
  const request = await server.request("initialize");
  server.answer(request, initializeResult(world.version));
  await connecting;
  return request;
}

proves("lifecycle.version.latest-offered", async (world) => {
  const request = await found(world);
  expect(request.params.protocolVersion).toBe("2025-11-25");
});

proves("lifecycle.version.same", async (world) => {
  const peer = await world.serve();
  expect(peer.opened?.protocolVersion).toBe(world.version);
});

proves("lifecycle.version.other", async (world) => {
  const peer = await world.serve({}, { open: false });
  const { result } = await peer.initialize({ protocolVersion: "1999-01-01" });
  expect(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]).toContain(result.protocolVersion);
});

proves("lifecycle.version.latest", async (world) => {
  for (const protocolVersion of ["1999-01-01", "2026-07-28", "", "draft"]) {
    const peer = await world.serve({}, { open: false });
    expect((await peer.initialize({ protocolVersion })).result.protocolVersion).toBe("2025-11-25");
  }
});

proves("lifecycle.version.accepted", async (world) => {
  const { connecting, server } = world.dial();
  server.refuse(await server.request("server/discover"), { code: -32601, message: "Method not found" });
  const request = await server.request("initialize");
  server.answer(request, initializeResult(world.version));
  const client = await connecting;
  expect(client.server.revision).toBe(world.version);
});

proves("lifecycle.version.disconnect", async (world) => {
  const { connecting, server } = world.dial({ revision: world.version });
  const request = await server.request("initialize");
  server.answer(request, { ...initializeResult(world.version), protocolVersion: "1999-01-01" });
  await expect(connecting).rejects.toMatchObject({ code: "unsupported_revision" });
  await expect(connecting).rejects.toThrow("1999-01-01");
  expect(server.received.filter(isNotification)).toEqual([]);
  if (!world.isHttp) expect(server.isClosed).toBe(true);
});

proves("lifecycle.version.respected", async (world) => {
  const sound = tool({ title: "Sound", output: { type: "object" }, call: () => ({ a: 1 }) });
  const peer = await world.serve({ title: "A title", tools: { sound } });
  const { result } = await peer.request("tools/list");
  const [listed] = result.tools as [object];
  const hasTitles = world.version >= "2025-06-18";
  expect("title" in listed).toBe(hasTitles);
  expect("outputSchema" in listed).toBe(hasTitles);
  expect("title" in (peer.opened!.serverInfo as object)).toBe(hasTitles);
});

proves("lifecycle.version.no-later-methods", async (world) => {
  const { client, server } = await world.connect();
  for (const method of ["server/discover", "subscriptions/listen"]) {
    await expect(client.request(method)).rejects.toMatchObject({ code: "not_capable" });
  }
  expect(server.received.length).toBe(2);
});

proves("lifecycle.capabilities.declared", {
  async server(world) {
    const bare = await world.serve();
    expect(bare.opened?.capabilities).toEqual({ logging: {} });
    const peer = await world.serve({
      tools: { echo },
      prompts: { p: prompt({ get: () => "" }) },
      resources: { r: resource("r:a", { read: () => "" }) },
    });
    expect(peer.opened?.capabilities).toEqual({
      logging: {},
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
    });
  },
  async client(world) {
    const bare = await world.connect();
    expect(bare.server.received[0]?.params.capabilities).toEqual({});
    const { server } = await world.connect({
      roots: [],
      elicit: () => ({ action: "decline" }),
      sample: () => ({ role: "assistant", model: "m", content: { type: "text", text: "" } }),
    });
    expect(Object.keys(server.received[0]?.params.capabilities as object).toSorted()).toEqual([
      "elicitation",
      "roots",
      "sampling",
    ]);
  },
});

proves("lifecycle.capabilities.completions", async (world) => {
  const p = prompt({ arguments: { name: { complete: ["Ann"] } }, get: () => "" });
  const peer = await world.serve({ prompts: { p } });
  expect("completions" in (peer.opened!.capabilities as object)).toBe(world.version >= "2025-03-26");
  const params = { ref: { type: "ref/prompt", name: "p" }, argument: { name: "name", value: "A" } };
  expect((await peer.request("completion/complete", params)).result).toMatchObject({ completion: { values: ["Ann"] } });
});

proves("lifecycle.capabilities.server-respects", async (world) => {
  const tools = { roots: rooted, elicitation: asking, sampling };
  for (const name of Object.keys(tools)) {
    const capabilities: Record<string, object> = { roots: {}, elicitation: {}, sampling: {} };
    delete capabilities[name];
    const peer = await world.serve({ tools }, { capabilities });
    expect((await peer.request("tools/call", { name })).error.message).toContain(name);
    expect(peer.received.filter(isRequest)).toEqual([]);
  }
});

proves("lifecycle.capabilities.client-respects", async (world) => {
  const { client, server } = await world.connect({}, { capabilities: {} });
  const before = server.received.length;
  const asked = [client.listTools().all(), client.getPrompt("p"), client.readResource("r:a")];
  for (const one of asked) await expect(one).rejects.toMatchObject({ code: "not_capable" });
  expect(server.received.length).toBe(before);
});

proves("lifecycle.capabilities.undeclared-method", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  for (const method of ["prompts/list", "prompts/get", "resources/list", "resources/read"]) {
    expect((await peer.request(method, { name: "a", uri: "a:b" })).error.code).toBe(-32601);
  }
});

proves("lifecycle.capabilities.client-undeclared", async (world) => {
  const { server } = await world.connect();
  for (const method of ["roots/list", "sampling/createMessage", "elicitation/create"]) {
    expect((await server.ask(method, method, {})).error.code).toBe(-32601);
  }
});

proves("lifecycle.instructions", {
  async server(world) {
    const peer = await world.serve({ instructions: "Be brief." });
    const said = peer.opened ?? (await peer.request("server/discover")).result;
    expect(said.instructions).toBe("Be brief.");
  },
  async client(world) {
    const instructions = "Be brief.";
    const answers = {
      initialize: () => ({ ...initializeResult(world.version), instructions }),
      "server/discover": () => ({ ...discoverResult([world.version]), instructions }),
    };
    const { client } = await world.connect({}, { answers });
    expect(client.server.instructions).toBe("Be brief.");
  },
});

proves("lifecycle.timeouts.established", async (world) => {
  const { client, server } = await world.connect();
  const { outcome } = await requested(client, server);
  await world.clock.advance(59_999);
  let failed = false;
  outcome.catch(() => (failed = true));
  expect(failed).toBe(false);
  await world.clock.advance(1);
  await expect(outcome).rejects.toMatchObject({ code: "timeout" });
});

proves("lifecycle.timeouts.server-asks", async (world) => {
  const peer = await world.serve({ tools: { rooted }, limits: { askTimeout: 1_000 } }, roots);
  const id = peer.start("tools/call", { name: "rooted" });
  const request = await peer.nextRequest("roots/list");
  await world.clock.advance(1_000);
  expect((await peer.response(id)).error.code).toBe(-32603);
  expect((await peer.nextNotification("notifications/cancelled")).params.requestId).toBe(request.id);
});

proves("lifecycle.timeouts.initialize", async (world) => {
  const { connecting, server } = world.dial({ revision: world.version, timeout: { idle: 1_000 } });
  connecting.catch(() => {});
  await server.request("initialize");
  await world.clock.advance(1_000);
  await expect(connecting).rejects.toMatchObject({ code: "timeout" });
});

proves("lifecycle.timeouts.cancel", async (world) => {
  const { client, server } = await world.connect();
  const { request, outcome } = await requested(client, server, { timeout: { idle: 1_000 } });
  await world.clock.advance(1_000);
  await expect(outcome).rejects.toMatchObject({ code: "timeout" });
  if (world.isModern && world.isHttp) expect(server.httpOf(request).signal.aborted).toBe(true);
  else expect((await server.notification("notifications/cancelled")).params.requestId).toBe(request.id);
});

proves("lifecycle.timeouts.per-request", async (world) => {
  const { client, server } = await world.connect({ timeout: { idle: 10_000 } });
  const short = await requested(client, server, { timeout: { idle: 1_000 } });
  const long = await requested(client, server, { timeout: { idle: 20_000 } });
  await world.clock.advance(1_000);
  await expect(short.outcome).rejects.toMatchObject({ code: "timeout" });
  await world.clock.advance(18_000);
  server.answer(long.request, gotPrompt);
  await long.outcome;
});

proves("lifecycle.timeouts.progress-resets", async (world) => {
  const { client, server } = await world.connect({ timeout: { idle: 1_000 } });
  const { request, outcome } = await requested(client, server, { onProgress: () => {} });
  const { progressToken } = request.params._meta as { progressToken: unknown };
  for (let progress = 1; progress <= 5; progress++) {
    await world.clock.advance(900);
    server.notify("notifications/progress", { progressToken, progress }, request);
  }
  await world.clock.advance(900);
  server.answer(request, gotPrompt);
  await outcome;
});

proves("lifecycle.timeouts.maximum", async (world) => {
  const { client, server } = await world.connect();
  const { request, outcome } = await requested(client, server, { timeout: { idle: 1_000, total: 3_000 } });
  const { progressToken } = request.params._meta as { progressToken: unknown };
  for (let progress = 1; progress <= 3; progress++) {
    await world.clock.advance(900);
    server.notify("notifications/progress", { progressToken, progress }, request);
  }
  await world.clock.advance(300);
  await expect(outcome).rejects.toMatchObject({ code: "timeout" });
});
