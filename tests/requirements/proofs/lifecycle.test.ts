import { expect } from "vitest";
import {
  type AnyServerDefinition,
  type ConnectOptions,
  type JsonObject,
  content,
  followTasks,
  prompt,
  resource,
  tool,
  toolResult,
} from "../library.ts";
import { proves } from "../proves.ts";
import { type RawMessage, isNotification, isRequest } from "../../support/raw-message.ts";
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
  for (const odd of [{ protocolVersion: 5 }, { capabilities: [1] }, { clientInfo: { name: "no version" } }]) {
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

/** Opens a session without sending `notifications/initialized`. */
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

/** Connects a client to a server that supports only `initialize`, and returns the request. */
async function found(world: World): Promise<RawMessage> {
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

/** A server that uses what later revisions have added. */
const rich: Partial<AnyServerDefinition> = {
  title: "A title",
  description: "A description",
  tools: {
    rich: tool({
      title: "Sound",
      icons: [{ src: "https://example.com/a.png" }],
      output: { type: "object" },
      call: (_, { progress }) => {
        progress(1, 2, "half");
        const link = { type: "resource_link" as const, uri: "note://a", name: "a" };
        return toolResult({ content: [link, content.audio("AQID", "audio/wav")], structuredContent: { a: 1 } });
      },
    }),
  },
  resources: {
    r: resource("note://r", { cache: { ttlMs: 1000 }, read: () => ({ text: "a", meta: { "example.com/a": 1 } }) }),
  },
};

proves("lifecycle.version.respected", async (world) => {
  const isSince = (version: string): boolean => world.version >= version;
  const peer = await world.serve(rich);
  const members = (value: unknown): string[] => Object.keys(value as object).toSorted();
  const { result } = await peer.request("tools/list");
  expect(members((result.tools as [object])[0])).toEqual(
    ["inputSchema", "name", ...(isSince("2025-06-18") ? ["outputSchema", "title"] : [])]
      .concat(isSince("2025-11-25") ? ["icons"] : [])
      .concat(world.version === "2025-03-26" ? ["annotations"] : [])
      .concat(world.version === "2024-11-05" ? ["description"] : [])
      .toSorted(),
  );
  expect(members(peer.opened!.serverInfo)).toEqual(
    [
      "name",
      "version",
      ...(isSince("2025-06-18") ? ["title"] : []),
      ...(isSince("2025-11-25") ? ["description"] : []),
    ].toSorted(),
  );

  const called = await peer.request("tools/call", { name: "rich" }, { meta: { progressToken: "t" } });
  expect("structuredContent" in called.result).toBe(isSince("2025-06-18"));
  expect((called.result.content as { type: string }[]).map(({ type }) => type)).toEqual([
    isSince("2025-06-18") ? "resource_link" : "text",
    isSince("2025-03-26") ? "audio" : "resource",
  ]);
  const { params } = await peer.nextNotification("notifications/progress");
  expect("message" in params).toBe(isSince("2025-03-26"));

  const [contents] = (await peer.request("resources/read", { uri: "note://r" })).result.contents as [object];
  expect("_meta" in contents).toBe(isSince("2025-06-18"));
  for (const response of [called, await peer.request("resources/read", { uri: "note://r" })]) {
    for (const member of ["resultType", "ttlMs", "cacheScope"]) expect(response.result).not.toHaveProperty(member);
  }
  expect((await peer.request("resources/read", { uri: "note://none" })).error.code).toBe(-32002);
  expect((await peer.request("server/discover")).error.code).toBe(-32602);
});

proves("lifecycle.version.no-later-methods", async (world) => {
  const info = {
    name: "mine",
    version: "1",
    title: "Mine",
    description: "A client",
    websiteUrl: "https://example.com",
  };
  const { client, server } = await world.connect({ info, extensions: [followTasks()] }, { answers });
  const isSince = (version: string): boolean => world.version >= version;
  expect(server.received[0]?.params.clientInfo).toEqual({
    name: "mine",
    version: "1",
    ...(isSince("2025-06-18") && { title: "Mine" }),
    ...(isSince("2025-11-25") && { description: "A client", websiteUrl: "https://example.com" }),
  });
  for (const method of ["server/discover", "subscriptions/listen"]) {
    await expect(client.request(method)).rejects.toMatchObject({ code: "not_capable" });
  }
  expect(server.received.length).toBe(2);

  // Changes are listened to with the methods of the session, and no request has the metadata of a later revision.
  const subscription = await client.listen({ tools: true, uris: ["r:a"] }, () => {});
  const ref = { type: "ref/prompt", name: "p" } as const;
  await client.complete(ref, { name: "a", value: "" }, { context: { b: "c" } });
  await client.callTool("t", { city: "Berlin" });
  await subscription.close();
  const later = server.received.slice(2).filter(isRequest);
  const methods = new Set(later.map(({ method }) => method));
  for (const method of ["resources/subscribe", "completion/complete", "tools/call"]) expect(methods).toContain(method);
  for (const method of methods) expect(legacyRequests).toContain(method);
  for (const request of later) {
    const { method, params } = request;
    expect(JSON.stringify(params._meta ?? {})).not.toContain("io.modelcontextprotocol/");
    expect("context" in params).toBe(method === "completion/complete" && isSince("2025-06-18"));
    expect(params).not.toHaveProperty("task");
    if (!world.isHttp) continue;
    const { headers } = server.httpOf(request);
    for (const name of ["mcp-method", "mcp-name", "mcp-param-city"]) expect(headers.has(name)).toBe(false);
    expect(headers.has("mcp-protocol-version")).toBe(isSince("2025-06-18"));
  }
});

/** The requests of clients that all legacy revisions have. */
const legacyRequests = [
  "completion/complete",
  "resources/subscribe",
  "resources/unsubscribe",
  "tools/call",
  "tools/list",
];

const listedTools = {
  tools: [
    {
      name: "t",
      inputSchema: { type: "object", properties: { city: { type: "string", "x-mcp-header": "City" } } },
      execution: { taskSupport: "optional" },
    },
  ],
};
const answers = {
  "tools/list": () => listedTools,
  "tools/call": () => ({ content: [] }),
  "resources/subscribe": () => ({}),
  "resources/unsubscribe": () => ({}),
  "completion/complete": () => ({ completion: { values: [] } }),
};

proves("lifecycle.capabilities.declared", {
  async server(world) {
    const p = prompt({ get: () => "" });
    const r = resource("r:a", { read: () => "" });
    const full = { tools: { echo }, prompts: { p }, resources: { r } };
    const listChanged = true;
    const each: [Partial<AnyServerDefinition>, JsonObject][] = [
      [{}, { logging: {} }],
      [{ tools: { echo } }, { logging: {}, tools: { listChanged } }],
      [{ prompts: { p } }, { logging: {}, prompts: { listChanged } }],
      [{ resources: { r } }, { logging: {}, resources: { listChanged, subscribe: true } }],
      [
        full,
        { logging: {}, tools: { listChanged }, prompts: { listChanged }, resources: { listChanged, subscribe: true } },
      ],
      [
        { ...full, capabilities: { logging: false, listChanged: false, subscribe: false } },
        { tools: {}, prompts: {}, resources: {} },
      ],
      [{ experimental: { "example.com/x": { a: 1 } } }, { logging: {}, experimental: { "example.com/x": { a: 1 } } }],
    ];
    for (const [definition, capabilities] of each) {
      const peer = await world.serve(definition);
      expect(peer.opened?.capabilities).toEqual(capabilities);
      // Exactly the declared features are available.
      for (const [feature, method] of features) {
        const { error } = await peer.request(
          method,
          method === "logging/setLevel" ? { level: "error" } : { uri: "r:a" },
        );
        expect(feature).toEqual(feature);
        expect(error?.code).toEqual(has(capabilities, feature) ? undefined : -32601);
      }
    }
  },
  async client(world) {
    const sample = () => ({ role: "assistant" as const, model: "m", content: { type: "text" as const, text: "" } });
    const elicit = () => ({ action: "decline" as const });
    const each: [ConnectOptions, JsonObject][] = [
      [{}, {}],
      [{ roots: [] }, { roots: { listChanged: true } }],
      [{ elicit }, { elicitation: { form: {}, url: {} } }],
      [{ elicit, elicitModes: ["form"] }, { elicitation: { form: {} } }],
      [{ elicit, elicitModes: [] }, {}],
      [{ sample }, { sampling: {} }],
      [{ sample, sampleTools: true }, { sampling: { tools: {} } }],
      [{ sample, sampleContext: true }, { sampling: { context: {} } }],
      [{ sampleTools: true, sampleContext: true, elicitModes: ["url"] }, {}],
      [{ experimental: { "example.com/x": {} } }, { experimental: { "example.com/x": {} } }],
    ];
    for (const [options, capabilities] of each) {
      const { server } = await world.connect(options);
      expect(server.received[0]?.params.capabilities).toEqual(capabilities);
    }
  },
});

const features = [
  ["tools", "tools/list"],
  ["prompts", "prompts/list"],
  ["resources", "resources/list"],
  ["resources.subscribe", "resources/subscribe"],
  ["logging", "logging/setLevel"],
] as const;

function has(capabilities: JsonObject, feature: string): boolean {
  const [name, part] = feature.split(".") as [string, string | undefined];
  const declared = capabilities[name] as JsonObject | undefined;
  return declared !== undefined && (part === undefined || declared[part] !== undefined);
}

proves("lifecycle.capabilities.completions", async (world) => {
  const p = prompt({ arguments: { name: { complete: ["Ann"] } }, get: () => "" });
  const peer = await world.serve({ prompts: { p } });
  expect("completions" in (peer.opened!.capabilities as object)).toBe(world.version >= "2025-03-26");
  const params = { ref: { type: "ref/prompt", name: "p" }, argument: { name: "name", value: "A" } };
  expect((await peer.request("completion/complete", params)).result).toMatchObject({ completion: { values: ["Ann"] } });
});

const visiting = tool({
  call: async (_, { elicit }) => String(await elicit({ message: "Go", url: "https://example.com" })),
});
const toolSampling = tool({
  call: async (_, { sample }) =>
    (await sample({ messages: [], maxTokens: 1, tools: [{ name: "t", inputSchema: { type: "object" } }] })).model,
});
const contextual = tool({
  call: async (_, { sample }) => (await sample({ messages: [], maxTokens: 1, includeContext: "allServers" })).model,
});

proves("lifecycle.capabilities.server-respects", async (world) => {
  const tools = { roots: rooted, elicitation: asking, visiting, sampling, toolSampling, contextual };
  const all = { roots: {}, elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} } };
  const refused: [name: string, capabilities: JsonObject, missing: string][] = [
    ["roots", { ...all, roots: undefined }, "roots"],
    ["elicitation", { ...all, elicitation: undefined }, "elicitation.form"],
    ["elicitation", { ...all, elicitation: { url: {} } }, "elicitation.form"],
    ["visiting", { ...all, elicitation: {} }, "elicitation.url"],
    ["sampling", { ...all, sampling: undefined }, "sampling"],
    ["toolSampling", { ...all, sampling: {} }, "sampling.tools"],
  ];
  for (const [name, capabilities, missing] of refused) {
    const peer = await world.serve({ tools }, { capabilities });
    const { error } = await peer.request("tools/call", { name });
    expect(error.code).toBe(-32600);
    expect(error.message).toContain(`the client capability ${missing}, which the client has not declared`);
    await peer.settled();
    expect(peer.received.filter(isRequest)).toEqual([]);
  }
  // With all capabilities, the server sends all fields of the revision.
  const asked: [name: string, method: string, isDefined: boolean][] = [
    ["roots", "roots/list", true],
    ["sampling", "sampling/createMessage", true],
    ["elicitation", "elicitation/create", world.version >= "2025-06-18"],
    ["visiting", "elicitation/create", world.version >= "2025-11-25"],
    ["toolSampling", "sampling/createMessage", world.version >= "2025-11-25"],
  ];
  for (const [name, method, isDefined] of asked) {
    const peer = await world.serve({ tools }, { capabilities: all });
    const id = peer.start("tools/call", { name });
    if (isDefined) {
      peer.refuse(await peer.nextRequest(method), { code: -1, message: "No" });
      expect((await peer.response(id)).error.message).toContain("No");
    } else {
      expect((await peer.response(id)).error.code).toBe(-32600);
      expect(peer.received.filter(isRequest)).toEqual([]);
    }
  }
  // If the revision has a capability for the context of servers, it is requested only of clients that declare it.
  for (const context of [{}, undefined]) {
    const peer = await world.serve({ tools }, { capabilities: { sampling: context ? { context } : {} } });
    peer.start("tools/call", { name: "contextual" });
    const { params } = await peer.nextRequest("sampling/createMessage");
    expect("includeContext" in params).toBe(context !== undefined || world.version < "2025-11-25");
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

proves("lifecycle.timeouts.server-requests", async (world) => {
  const peer = await world.serve({ tools: { rooted }, limits: { askTimeout: 1_000 } }, roots);
  const id = peer.start("tools/call", { name: "rooted" });
  const request = await peer.nextRequest("roots/list");
  await world.clock.advance(1_000);
  expect((await peer.response(id)).result).toMatchObject({ isError: true });
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
