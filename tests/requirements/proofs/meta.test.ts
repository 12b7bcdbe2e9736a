import { expect } from "vitest";
import { type Context, MetaKey, prompt, tool, toolResult } from "../library.ts";
import { proves } from "../proves.ts";
import { type RawMessage, isRequest } from "../../support/raw-message.ts";
import { asking, echo, gotPrompt, requested, rooted, textOf } from "../world/subjects.ts";

const { protocolVersion, clientCapabilities, clientInfo } = MetaKey;
const metaOf = tool({ call: (_, ctx) => JSON.stringify(ctx.meta) });
const trace = {
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
  tracestate: "vendor=value",
  baggage: "user=ann",
};

proves("meta.request.required", async (world) => {
  const { client, server } = await world.connect({ roots: [] });
  await requested(client, server);
  const requests = server.received.filter(isRequest);
  expect(requests.length).toBe(2);
  for (const { params } of requests) {
    expect(params._meta).toMatchObject({ [protocolVersion]: world.version, [clientCapabilities]: { roots: {} } });
  }
});

proves("meta.request.client-info", async (world) => {
  const info = { name: "mine", version: "3.0.0" };
  const { client, server } = await world.connect({ info });
  const { request } = await requested(client, server);
  expect(request.params._meta).toMatchObject({ [clientInfo]: info });
});

proves("meta.request.not-overridden", async (world) => {
  const { client, server } = await world.connect();
  const meta = { [protocolVersion]: "1999-01-01", [clientCapabilities]: { roots: {} }, "com.example/a": 1 };
  const { request } = await requested(client, server, { meta });
  expect(request.params._meta).toMatchObject({
    [protocolVersion]: world.version,
    [clientCapabilities]: {},
    "com.example/a": 1,
  });
});

proves("meta.request.missing", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  for (const meta of [
    { [clientCapabilities]: undefined },
    { [clientCapabilities]: "all" },
    { [clientCapabilities]: null },
    { [protocolVersion]: 5 },
  ]) {
    const { error } = await peer.request("tools/list", {}, { meta });
    expect(error.code).toBe(-32602);
  }
  const { error } = await peer.request("server/discover", { _meta: {} }, { bare: true });
  expect(error.code).toBe(-32602);
});

proves("meta.request.missing-status", async (world) => {
  const peer = await world.serve();
  const { id } = await peer.request("server/discover", {}, { meta: { [clientCapabilities]: undefined } });
  expect(peer.carried(id)?.status).toBe(400);
});

proves("meta.request.info-optional", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  for (const info of [undefined, null, "raw", { name: 7 }]) {
    const { result } = await peer.request("tools/list", {}, { meta: { [clientInfo]: info } });
    expect(result.tools).toHaveLength(1);
  }
});

proves("meta.capability.not-relied-on", async (world) => {
  const peer = await world.serve({ tools: { rooted } });
  await peer.request("server/discover", {}, { meta: { [clientCapabilities]: { roots: {} } } });
  const { error } = await peer.request("tools/call", { name: "rooted" });
  expect(error.code).toBe(-32021);
});

proves("meta.capability.missing", async (world) => {
  const peer = await world.serve({ tools: { rooted, asking } });
  const first = await peer.request("tools/call", { name: "rooted" });
  expect(first.error).toMatchObject({ code: -32021, data: { requiredCapabilities: { roots: {} } } });
  const second = await peer.request("tools/call", { name: "asking" });
  expect(second.error).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: {} } } });
});

proves("meta.capability.missing-status", async (world) => {
  const peer = await world.serve({ tools: { rooted } });
  const { id } = await peer.request("tools/call", { name: "rooted" });
  expect(peer.carried(id)?.status).toBe(400);
});

proves("meta.response.server-info", async (world) => {
  const p = prompt({ arguments: { a: { complete: ["x"] } }, get: () => "" });
  const definition = { name: "mine", version: "3.0.0", tools: { echo, rooted }, prompts: { p } };
  const peer = await world.serve(definition, { capabilities: { roots: {} } });
  const asked: [string, object][] = [
    ["server/discover", {}],
    ["tools/list", {}],
    ["tools/call", { name: "echo" }],
    ["tools/call", { name: "rooted" }],
    ["prompts/list", {}],
    ["prompts/get", { name: "p", arguments: { a: "x" } }],
    ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } }],
  ];
  for (const [method, params] of asked) {
    const { result } = await peer.request(method, { ...params });
    expect(result._meta).toMatchObject({ [MetaKey.serverInfo]: { name: "mine", version: "3.0.0" } });
  }
});

proves("meta.info.not-trusted", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  const answers = [];
  for (const name of ["claude-code", "admin", "", "x".repeat(10_000)]) {
    const meta = { [clientInfo]: { name, version: "1" } };
    answers.push((await peer.request("tools/list", {}, { meta })).result);
  }
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});

const odd = {
  "io.modelcontextprotocol/unheard-of": [null],
  "dev.mcp/what": { deep: true },
  "": 0,
  "not a valid key": 1,
  constructor: "x",
};

proves("meta.keys.no-assumptions", {
  async server(world) {
    const peer = await world.serve({ tools: { metaOf } });
    const answer = await peer.request("tools/call", { name: "metaOf" }, { meta: odd });
    expect(JSON.parse(textOf(answer))).toMatchObject(odd);
  },
  async client(world) {
    const { client, server } = await world.connect();
    const { request, outcome } = await requested(client, server);
    server.notify("notifications/message", { level: "info", data: "x", _meta: odd }, request);
    server.answer(request, { ...gotPrompt, _meta: odd });
    expect(await outcome).toMatchObject({ _meta: odd });
  },
});

const key =
  /^(?:[a-z](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z](?:[a-z0-9-]*[a-z0-9])?)*\/)?(?:[a-z0-9](?:[\w.-]*[a-z0-9])?)?$/i;

/** All the keys of metadata anywhere within messages. */
function keysOf(messages: readonly RawMessage[]): string[] {
  const found: string[] = [];
  JSON.stringify(messages, (name, value: unknown) => {
    if (name === "_meta") found.push(...Object.keys(value as object));
    return value;
  });
  return found;
}

const wrongKeys = ["a b", "-a", "a/b/c", "com..example/a", "1.example/a", "com.example/a-", "größe", "x".repeat(300)];

proves("meta.keys.format", {
  async server(world) {
    const slow = tool({ call: (_, ctx) => (ctx.progress(1), "done") });
    const peer = await world.serve({ tools: { slow, echo } });
    await peer.request("tools/list");
    await peer.request("tools/call", { name: "slow" }, { meta: { progressToken: 1 } });
    expect(keysOf(peer.received).filter((name) => !key.test(name))).toEqual([]);
    // Those of handlers and definitions are checked before they are sent.
    for (const wrong of wrongKeys) {
      const _meta = { [wrong]: 1 };
      expect(() => world.server.tools.set("t", tool({ meta: _meta, call: () => "" })), wrong).toThrow();
      const attempts = [
        (ctx: Context) => ctx.progress({ progress: 1, _meta }),
        (ctx: Context) => ctx.notify("com.example/a", { _meta }),
        () => toolResult({ content: [{ type: "text", text: "a", _meta }] }),
        () => toolResult({ content: [], _meta }),
      ];
      for (const attempt of attempts) {
        const failing = tool({ call: (_, ctx) => attempt(ctx) as never });
        const other = await world.serve({ tools: { failing } });
        const { result, error } = await other.request(
          "tools/call",
          { name: "failing" },
          { meta: { progressToken: 1 } },
        );
        expect(error ?? result.isError, wrong).toBeTruthy();
        expect(keysOf(other.received)).not.toContain(wrong);
      }
    }
  },
  async client(world) {
    const { client, server } = await world.connect();
    for (const wrong of wrongKeys) {
      const meta = { [wrong]: 1 };
      await expect(client.getPrompt("p", {}, { meta }), wrong).rejects.toThrow("_meta");
      await expect(client.request("prompts/get", { name: "p", _meta: meta }), wrong).rejects.toThrow("_meta");
    }
    expect(server.received.filter(({ method }) => method === "prompts/get")).toEqual([]);
    await requested(client, server, { onProgress: () => {}, logLevel: "debug" });
    const keys = keysOf(server.received);
    expect(keys).toContain("progressToken");
    expect(keys.filter((name) => !key.test(name))).toEqual([]);
  },
});

const isReversed = (name: string): boolean => !name.includes("/") || name.startsWith("io.modelcontextprotocol/");

proves("meta.keys.reverse-dns", {
  async server(world) {
    const peer = await world.serve({ tools: { echo } });
    await peer.request("tools/list");
    expect(keysOf(peer.received).every(isReversed)).toBe(true);
  },
  async client(world) {
    const { client, server } = await world.connect();
    await requested(client, server, { logLevel: "debug" });
    expect(keysOf(server.received).every(isReversed)).toBe(true);
  },
});

proves("meta.attached.by-client", {
  async server(world) {
    const peer = await world.serve({ tools: { metaOf } });
    const answer = await peer.request("tools/call", { name: "metaOf" }, { meta: { "com.example/a": { b: 1 } } });
    expect(JSON.parse(textOf(answer))).toMatchObject({ "com.example/a": { b: 1 } });
  },
  async client(world) {
    const { client, server } = await world.connect();
    const { request } = await requested(client, server, { meta: { "com.example/a": { b: 1 } } });
    expect(request.params._meta).toMatchObject({ "com.example/a": { b: 1 } });
  },
});

proves("meta.attached.by-server", {
  async server(world) {
    const tagged = tool({
      call: () => ({ content: [{ type: "text" as const, text: "" }], _meta: { "com.example/a": 1 } }),
    });
    const peer = await world.serve({ tools: { tagged } });
    const { result } = await peer.request("tools/call", { name: "tagged" });
    expect(result._meta).toMatchObject({ "com.example/a": 1 });
  },
  async client(world) {
    const { client, server } = await world.connect();
    const { request, outcome } = await requested(client, server);
    server.answer(request, { ...gotPrompt, _meta: { "com.example/a": 1 } });
    expect(await outcome).toMatchObject({ _meta: { "com.example/a": 1 } });
  },
});

proves("meta.trace-context", {
  async server(world) {
    const peer = await world.serve({ tools: { metaOf } });
    const answer = await peer.request("tools/call", { name: "metaOf" }, { meta: trace });
    expect(JSON.parse(textOf(answer))).toMatchObject(trace);
  },
  async client(world) {
    const { client, server } = await world.connect();
    const { request } = await requested(client, server, { meta: trace });
    expect(request.params._meta).toMatchObject(trace);
  },
});
