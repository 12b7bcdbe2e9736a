import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { type RawPeer, openPeer, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { openClient } from "../client/open-client.ts";
import type { Client } from "../client/client.ts";
import type { ConnectOptions } from "../client/options.ts";
import type { JsonObject } from "../rpc/messages.ts";
import { createServer } from "../server/create-server.ts";
import { prompt, resource, tool } from "../server/definition.ts";
import { legacyPeer, modernPeer, peerTransports } from "../testing/peer-transports.ts";
import { readMessage, readResult } from "./read-message.ts";
import { revisions } from "./revisions/index.ts";

const versions = revisions.map(({ version }) => version);

function paramsOf(method: string, params: unknown): unknown {
  const read = readMessage({ jsonrpc: "2.0", id: 1, method, params });
  return read.kind === "request" ? read.message.params : read;
}

const metaKey = "io.modelcontextprotocol/clientCapabilities";

test.each<[string, JsonObject, JsonObject]>([
  ["members of params", { cursor: null, a: 1 }, { a: 1 }],
  ["the arguments", { name: "t", arguments: null }, { name: "t" }],
  [
    "members of _meta",
    { _meta: { progressToken: null, traceparent: null, "ui/resourceUri": null, [metaKey]: null, "com.example/b": 1 } },
    { _meta: { "com.example/b": 1 } },
  ],
  ["an empty array as _meta", { _meta: [] }, { _meta: {} }],
  [
    "members of the client's name",
    { clientInfo: { name: "c", title: null, icons: null } },
    { clientInfo: { name: "c" } },
  ],
  [
    "capabilities",
    { capabilities: { roots: null, elicitation: { form: {}, url: null } } },
    { capabilities: { elicitation: { form: {} } } },
  ],
  [
    "empty arrays as capabilities",
    { capabilities: { roots: [], elicitation: { form: [] }, sampling: [] } },
    { capabilities: { roots: {}, elicitation: { form: {} }, sampling: {} } },
  ],
  ["an empty array as all capabilities", { capabilities: [] }, { capabilities: {} }],
  [
    "capabilities of a modern request",
    { _meta: { [metaKey]: { sampling: [], roots: null } } },
    { _meta: { [metaKey]: { sampling: {} } } },
  ],
  [
    "an empty array as the capabilities of a modern request",
    { _meta: { [metaKey]: [] } },
    { _meta: { [metaKey]: {} } },
  ],
  [
    "settings of extensions",
    { capabilities: { extensions: { "com.example/a": null, "com.example/b": {} } } },
    { capabilities: { extensions: { "com.example/b": {} } } },
  ],
  [
    "input responses",
    { inputResponses: { a: { action: "accept", _meta: null } } },
    { inputResponses: { a: { action: "accept" } } },
  ],
  [
    "input responses whose keys are names of other members",
    { inputResponses: { data: { action: "accept", _meta: null }, _meta: { roots: null } } },
    { inputResponses: { data: { action: "accept" }, _meta: {} } },
  ],
  [
    "items of lists",
    { messages: [{ role: "user", content: { type: "text", text: "a", annotations: null } }] },
    { messages: [{ role: "user", content: { type: "text", text: "a" } }] },
  ],
  [
    "fields of a form",
    {
      requestedSchema: {
        type: "object",
        properties: { size: { type: "string", title: null, default: null } },
        required: null,
      },
    },
    { requestedSchema: { type: "object", properties: { size: { type: "string" } } } },
  ],
])("null and empty arrays in params are absent and empty: %s", (_, params, expected) => {
  const copy = structuredClone(params);
  expect(paramsOf("tools/call", params)).toEqual(expected);
  expect(params).toEqual(copy);
  expect(readResult("tools/list", params)).toEqual(expected);
});

test.each<[string, JsonObject]>([
  ["arguments of a tool", { arguments: { a: null, b: [], c: { d: null } } }],
  ["arguments of a tool that a model uses", { content: { type: "tool_use", input: { a: null } } }],
  ["structured content", { structuredContent: { a: null } }],
  ["a list as structured content", { structuredContent: [{ a: null }, []] }],
  [
    "schemas",
    { tools: [{ inputSchema: { properties: { a: { default: null, const: null } } }, outputSchema: { const: null } }] },
  ],
  ["the data of a log message", { level: "info", data: null }],
  ["a list as the data of a log message", { level: "info", data: [{ a: null }] }],
  ["the settings of a provider", { metadata: { a: null } }],
  [
    "metadata of an author",
    {
      _meta: {
        "com.example/a": { b: null },
        "com.example/c": [],
        "com.example/d": [{ e: null }],
        "com.example/f": null,
      },
    },
  ],
  [
    "the answer to a form, whose fields have names of other members",
    { action: "accept", content: { capabilities: [], input: [], properties: [], annotations: [] } },
  ],
  [
    "the answer to a form whose key is the name of another member",
    { inputResponses: { capabilities: { action: "accept", content: { sizes: [] } } } },
  ],
  [
    "a form whose key is the name of another member",
    { inputRequests: { capabilities: { params: { requestedSchema: { required: [] } } } } },
  ],
  [
    "settings of extensions",
    { capabilities: { extensions: { "com.example/a": { b: null, c: [] } }, experimental: { x: { y: null } } } },
  ],
  ["the lifetime of a task", { task: { ttl: null } }],
  ["items of lists", { values: [null, "a"], empty: [], contents: [] }],
])("null and empty arrays are not changed in %s", (_, params) => {
  expect(paramsOf("tools/call", params)).toBe(params);
  expect(readResult("tools/call", params)).toBe(params);
});

test("params and results of methods that MCP does not define are not changed", () => {
  const params = { a: null, _meta: null };
  expect(paramsOf("com.example/search", params)).toBe(params);
  expect(readResult("notes/search", params)).toBe(params);
});

test("an object without null is not copied", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (params) => {
      if (/null|\[\]/.test(JSON.stringify(params))) return;
      expect(paramsOf("tools/call", params)).toBe(params);
    }),
  );
});

test("a value that is nested 100,000 levels deep does not exhaust the stack", () => {
  const params = JSON.parse(`${'{"a":'.repeat(100_000)}{"b":null}${"}".repeat(100_000)}`) as JsonObject;
  expect(paramsOf("tools/call", params)).toBe(params);
});

test("a notification whose id is null is a notification, and a request whose id is null is invalid", () => {
  expect(readMessage({ jsonrpc: "2.0", id: null, method: "notifications/initialized" }).kind).toBe("notification");
  expect(readMessage({ jsonrpc: "2.0", id: null, method: "tools/list" }).kind).toBe("invalid");
  expect(readMessage({ jsonrpc: "2.0", id: {}, method: "notifications/initialized" }).kind).toBe("invalid");
});

describe.each(versions)("a server on %s", (version) => {
  const server = createServer({
    name: "s",
    version: "1",
    tools: { echo: tool({ input: { type: "object" }, call: (input) => JSON.stringify(input) }) },
    prompts: {
      greet: prompt({ arguments: { name: { required: false } }, get: (args) => `Hello ${JSON.stringify(args)}` }),
    },
    resources: { notes: resource("note://{id}", { read: ({ id }) => `note ${id}`, complete: { id: () => ["1"] } }) },
  });
  let peer: RawPeer;
  beforeAll(async () => {
    peer = await openPeer(server, version);
  });

  test.each<[string, JsonObject]>([
    ["tools/list", { cursor: null }],
    ["tools/call", { name: "echo", arguments: null }],
    ["tools/call", { name: "echo", arguments: [] }],
    ["tools/call", { name: "echo", task: null }],
    ["prompts/list", { cursor: null }],
    ["prompts/get", { name: "greet", arguments: null }],
    ["prompts/get", { name: "greet", arguments: [] }],
    ["prompts/get", { name: "greet", arguments: { name: null } }],
    ["resources/templates/list", { cursor: null }],
    ["resources/read", { uri: "note://1", other: null }],
    [
      "completion/complete",
      {
        ref: { type: "ref/resource", uri: "note://{id}", title: null },
        argument: { name: "id", value: "" },
        context: null,
      },
    ],
    [
      "completion/complete",
      {
        ref: { type: "ref/resource", uri: "note://{id}" },
        argument: { name: "id", value: "" },
        context: { arguments: null },
      },
    ],
    [
      "completion/complete",
      {
        ref: { type: "ref/resource", uri: "note://{id}" },
        argument: { name: "id", value: "" },
        context: { arguments: { a: null } },
      },
    ],
  ])("answers %s with %j", async (method, params) => {
    expect(await peer.request(method, { ...params, _meta: { progressToken: null } })).toHaveProperty("result");
  });

  test("passes null in the arguments of a tool to its handler", async () => {
    const { result } = await peer.request("tools/call", { name: "echo", arguments: { a: null, b: [] } });
    expect(result.content).toMatchObject([{ text: '{"a":null,"b":[]}' }]);
  });
});

test.each([[null], [[]], [{}]])("a server of sessions answers requests whose params are %j", async (params) => {
  const peer = await openPeer(
    createServer({ name: "s", version: "1", tools: { t: tool({ call: () => "" }) } }),
    "2025-11-25",
  );
  for (const [id, method] of ["ping", "tools/list"].entries()) {
    peer.send({ jsonrpc: "2.0", id: `x${id}`, method, params });
    expect(await peer.response(`x${id}`)).toHaveProperty("result");
  }
});

test.each<[string, JsonObject]>([
  ["null", { title: null, capabilities: { roots: null, elicitation: { url: null, form: null } } }],
  ["empty arrays", { capabilities: [], _meta: [] }],
])("a server opens a session for a client that sends %s", async (_, { title, ...params }) => {
  const server = createServer({
    name: "s",
    version: "1",
    tools: {
      can: tool({
        call: (_input, ctx) => JSON.stringify([ctx.can("elicit"), ctx.can("elicit.url"), ctx.can("roots")]),
      }),
    },
  });
  const peer = await rawPeer(server);
  await peer.initialize({ clientInfo: { name: "c", version: "1", title, icons: null }, ...params });
  const { result } = await peer.request("tools/call", { name: "can" });
  const canElicit = isNullForm(params);
  expect(result.content).toMatchObject([{ text: JSON.stringify([canElicit, false, false]) }]);
});

/** An elicitation without modes means the form. */
const isNullForm = ({ capabilities }: JsonObject): boolean => !Array.isArray(capabilities);

const input = { type: "object", properties: { name: { type: "string" }, size: { type: "integer" } } } as const;

describe.each(["2025-06-18", "2025-11-25", "2026-07-28"])(
  "a server on %s reads answers of a client with null",
  (version) => {
    const server = createServer({
      name: "s",
      version: "1",
      tools: {
        form: tool({ call: async (_, ctx) => JSON.stringify(await ctx.elicit({ message: "?", schema: input })) }),
        sample: tool({
          call: async (_, ctx) =>
            JSON.stringify(
              await ctx.sample({ messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 5 }),
            ),
        }),
        roots: tool({ call: async (_, ctx) => JSON.stringify(await ctx.roots()) }),
      },
    });

    test.each<[string, JsonObject, string]>([
      ["form", { action: "accept", content: { name: "a", size: null }, _meta: null }, '{"name":"a"}'],
      ["form", { action: "accept", content: null }, "{}"],
      ["form", { action: "accept", content: [] }, "{}"],
      [
        "sample",
        {
          role: "assistant",
          model: "m",
          content: { type: "text", text: "a", annotations: null, _meta: null },
          stopReason: null,
        },
        '{"role":"assistant","model":"m","content":{"type":"text","text":"a"}}',
      ],
      ["roots", { roots: [{ uri: "file:///a", name: null }], _meta: null }, '[{"uri":"file:///a"}]'],
    ])("of %s: %j", async (name, answer, expected) => {
      const capabilities = { elicitation: {}, sampling: {}, roots: {} };
      const peer = await openPeer(server, version, capabilities);
      let response;
      if (version === "2026-07-28") {
        const { result } = await peer.request("tools/call", { name });
        const [key = ""] = Object.keys(result.inputRequests as JsonObject);
        const params = { name, inputResponses: { [key]: answer }, requestState: result.requestState };
        response = await peer.request("tools/call", params);
      } else {
        const id = peer.start("tools/call", { name });
        const methods: Record<string, string> = {
          form: "elicitation/create",
          sample: "sampling/createMessage",
          roots: "roots/list",
        };
        peer.answer(await peer.nextRequest(methods[name] ?? ""), answer);
        response = await peer.response(id);
      }
      expect(response.result).toMatchObject({ content: [{ text: expected }] });
    });
  },
);

describe.each(versions)("a client on %s", (version) => {
  const isModern = version === "2026-07-28";
  const entries = { title: null, description: null, annotations: null, icons: null, _meta: null };
  const schema = { type: "object" };

  async function connected(
    answers: Record<string, JsonObject>,
    options: ConnectOptions = {},
  ): Promise<{ client: Client; errors: Error[] }> {
    const errors: Error[] = [];
    const functions = Object.fromEntries(Object.entries(answers).map(([method, result]) => [method, () => result]));
    const capabilities = {
      tools: { listChanged: null },
      prompts: {},
      resources: { subscribe: true },
      completions: {},
      logging: [],
      other: null,
    };
    const opened = isModern
      ? {
          supportedVersions: [version],
          capabilities,
          instructions: null,
          ttlMs: 0,
          cacheScope: "public",
          _meta: { "io.modelcontextprotocol/serverInfo": { name: "s", version: "1", title: null } },
        }
      : {
          protocolVersion: version,
          capabilities,
          serverInfo: { name: "s", version: "1", title: null, icons: null },
          instructions: null,
          _meta: null,
        };
    const peer = (isModern ? modernPeer : legacyPeer)({
      answers: { [isModern ? "server/discover" : "initialize"]: () => opened, ...functions },
    });
    const client = await openClient(peerTransports(peer), {
      revision: version,
      onError: (error) => errors.push(error),
      ...options,
    });
    return { client, errors };
  }

  test("reads the description of a server with null", async () => {
    const { client, errors } = await connected({});
    expect(client.server.info).toEqual({ name: "s", version: "1" });
    expect(client.server.instructions).toBeUndefined();
    expect(client.server.capabilities).toEqual({
      tools: {},
      prompts: {},
      resources: { subscribe: true },
      completions: {},
      logging: {},
    });
    expect(errors).toEqual([]);
  });

  test("reads lists with null", async () => {
    const { client, errors } = await connected({
      "tools/list": {
        tools: [{ name: "t", inputSchema: schema, outputSchema: null, ...entries }],
        nextCursor: null,
        _meta: null,
      },
      "prompts/list": { prompts: [{ name: "p", arguments: null, ...entries }], nextCursor: null },
      "resources/list": {
        resources: [{ uri: "a://b", name: "r", mimeType: null, size: null, ...entries }],
        nextCursor: null,
      },
      "resources/templates/list": {
        resourceTemplates: [{ uriTemplate: "a://{b}", name: "r", mimeType: null, ...entries }],
      },
    });
    expect(await client.listTools().all()).toEqual([{ name: "t", inputSchema: schema }]);
    expect(await client.listPrompts().all()).toEqual([{ name: "p" }]);
    expect(await client.listResources().all()).toEqual([{ uri: "a://b", name: "r" }]);
    expect(await client.listResourceTemplates().all()).toEqual([{ uriTemplate: "a://{b}", name: "r" }]);
    expect(errors).toEqual([]);
  });

  test("reads results with null", async () => {
    const text = { type: "text", text: "a", annotations: null, _meta: null };
    const { client } = await connected({
      "tools/call": { content: [text], structuredContent: null, isError: null, _meta: null },
      "prompts/get": { description: null, messages: [{ role: "user", content: text }] },
      "resources/read": { contents: [{ uri: "a://b", mimeType: null, text: "a", blob: null, _meta: null }] },
      "completion/complete": { completion: { values: ["a"], total: null, hasMore: null } },
    });
    expect(await client.callToolResult("t")).toEqual({ content: [{ type: "text", text: "a" }] });
    expect(await client.callTool("t")).toBe("a");
    expect(await client.getPrompt("p")).toEqual({ messages: [{ role: "user", content: { type: "text", text: "a" } }] });
    expect(await client.readResource("a://b")).toMatchObject({ contents: [{ uri: "a://b", text: "a" }] });
    const argument = { name: "a", value: "" };
    expect(await client.complete({ type: "ref/prompt", name: "p" }, argument)).toEqual({ values: ["a"] });
  });

  test("returns structured content that is null if it is the value of the tool", async () => {
    const { client } = await connected({
      "tools/call": { content: [{ type: "text", text: "null" }], structuredContent: null },
      "tools/list": { tools: [] },
    });
    expect(await client.callToolResult("t")).toHaveProperty("structuredContent", null);
  });

  test("reads null in the data of errors and of log messages", async () => {
    const logs: unknown[] = [];
    const peer = (isModern ? modernPeer : legacyPeer)({
      ...(!isModern && {
        answers: {
          initialize: () => ({
            protocolVersion: version,
            capabilities: { tools: {} },
            serverInfo: { name: "s", version: "1" },
          }),
        },
      }),
    });
    const client = await openClient(peerTransports(peer), { revision: version, onLog: (log) => logs.push(log) });
    if (!isModern) await peer.notification("notifications/initialized");
    const call = client.callTool("t");
    const request = await peer.request("tools/call");
    peer.notify("notifications/message", { level: "info", logger: null, data: null, _meta: null });
    peer.send({ jsonrpc: "2.0", id: request.id, result: null, error: { code: 7, message: "no", data: null } });
    await expect(call).rejects.toMatchObject({ code: 7, data: null });
    expect(logs).toEqual([{ level: "info", data: null }]);
  });

  if (!isModern) {
    test.each([[null], [[]]])("accepts %j as the result of methods without members", async (value) => {
      const peer = legacyPeer({
        answers: {
          initialize: () => ({
            protocolVersion: version,
            capabilities: { logging: {}, resources: { subscribe: true } },
            serverInfo: { name: "s", version: "1" },
          }),
        },
      });
      const client = await openClient(peerTransports(peer), { revision: version });
      await peer.notification("notifications/initialized");
      const answer = async (method: string): Promise<void> => {
        const { id } = await peer.request(method);
        peer.send({ jsonrpc: "2.0", id, method: null, error: null, result: value });
      };
      await Promise.all([client.ping(), answer("ping")]);
      await Promise.all([client.setLogLevel("error"), answer("logging/setLevel")]);
    });
  }
});
