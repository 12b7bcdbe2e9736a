import { expect } from "vitest";
import {
  type ClientExtension,
  type JsonObject,
  type ServerExtension,
  ErrorCode,
  MetaKey,
  declaresExtension,
  requireExtension,
} from "../library.ts";
import { proves } from "../proves.ts";
import { declaredBy } from "../world/changes.ts";
import type { RawMessage } from "../../support/raw-message.ts";
import { echo, gotPrompt, requested, textOf } from "../world/subjects.ts";
import { allCapabilities } from "../world/world.ts";

const id = "com.example/greeting";
const declared = (settings: JsonObject = {}): JsonObject => ({ extensions: { [id]: settings } });

/** An extension with a custom result type for greetings, and a method that requires the extension. */
const greeting: ServerExtension = {
  id,
  settings: { languages: ["en"] },
  methods: {
    "greeting/say": {
      answer: async (call) => {
        requireExtension(call, id);
        return { said: "hello" };
      },
    },
  },
  middleware: async (call, next) => {
    const result = await next();
    const isGreeted = call.method === "tools/call" && declaresExtension(call, id);
    return isGreeted ? { resultType: "greeting", inner: result } : result;
  },
};

/** The extensions that a client declared in a request. */
const declaredIn = (message: RawMessage | undefined): unknown => {
  const meta = message?.params._meta as Record<string, JsonObject>;
  return meta[MetaKey.clientCapabilities]?.extensions;
};

const withoutPrefix = ["greeting", "", "/greeting", "greeting/"];
const malformed = [
  "com.example/",
  "com..example/a",
  ".example/a",
  "com.example./a",
  "1com.example/a",
  "com.-example/a",
  "com.example-/a",
  "com.exa_mple/a",
  "com.example/-a",
  "com.example/a.",
  "com.example/a/b",
  "com.example/a b",
  "com.éxample/a",
];
const wellFormed = ["example/a", "com.example/a", "com.ex-ample.x1/A-b_c.9", "c/1", "io.modelcontextprotocol/tasks"];

const reserved = [
  "io.modelcontextprotocol/mine",
  "dev.mcp/mine",
  "org.modelcontextprotocol.api/mine",
  "com.mcp.tools/mine",
  "dev.mcp/tasks",
];
const unreserved = ["com.example.mcp/mine", "mcp/mine", "io.modelcontextprotocol/skills", "com.mcparley/mine"];

proves("extensions.id.reserved", {
  async server(world) {
    for (const wrong of reserved) {
      await expect(world.serve({ extensions: [{ id: wrong }] })).rejects.toThrow(JSON.stringify(wrong));
    }
    for (const right of unreserved) {
      const peer = await world.serve({ extensions: [{ id: right }] });
      expect(Object.keys((await declaredBy(world, peer)).extensions ?? {})).toEqual([right]);
    }
  },
  async client(world) {
    for (const wrong of reserved) {
      for (const extensions of [{ [wrong]: {} }, [{ id: wrong }]]) {
        const { connecting, server } = world.dial({ extensions });
        await expect(connecting).rejects.toThrow(JSON.stringify(wrong));
        expect(server.received).toEqual([]);
      }
    }
    for (const right of unreserved) {
      const { client } = await world.connect({ extensions: { [right]: {} } });
      expect(client.state).toBe("open");
    }
  },
});

proves("extensions.id.prefix", {
  async server(world) {
    for (const wrong of withoutPrefix) {
      await expect(world.serve({ extensions: [{ id: wrong }] })).rejects.toThrow(JSON.stringify(wrong));
    }
    const peer = await world.serve({ extensions: [{ id }] });
    expect(Object.keys((await declaredBy(world, peer)).extensions ?? {})).toEqual([id]);
  },
  async client(world) {
    for (const wrong of withoutPrefix) {
      for (const extensions of [{ [wrong]: {} }, [{ id: wrong }]]) {
        const { connecting, server } = world.dial({ extensions });
        await expect(connecting).rejects.toThrow(JSON.stringify(wrong));
        expect(server.received).toEqual([]);
      }
    }
  },
});

proves("extensions.id.format", {
  async server(world) {
    for (const wrong of malformed) {
      await expect(world.serve({ extensions: [{ id: wrong }] })).rejects.toThrow(JSON.stringify(wrong));
    }
    const peer = await world.serve({ extensions: wellFormed.map((good) => ({ id: good })) });
    expect(Object.keys((await declaredBy(world, peer)).extensions ?? {})).toEqual(wellFormed);
  },
  async client(world) {
    for (const wrong of malformed) {
      const { connecting, server } = world.dial({ extensions: { [wrong]: {} } });
      await expect(connecting).rejects.toThrow(JSON.stringify(wrong));
      expect(server.received).toEqual([]);
    }
    const extensions = Object.fromEntries(wellFormed.map((good) => [good, {}]));
    const { client, server } = await world.connect({ extensions });
    const { request, outcome } = await requested(client, server);
    expect(declaredIn(request)).toEqual(extensions);
    server.answer(request, gotPrompt);
    await outcome;
  },
});

proves("extensions.server.declares", async (world) => {
  const settings = { depth: 2, nested: { a: [1, null, "b"] } };
  const peer = await world.serve({ extensions: [greeting, { id: "org.example/other", settings }] });
  expect((await declaredBy(world, peer)).extensions).toEqual({
    [id]: greeting.settings,
    "org.example/other": settings,
  });
});

proves("extensions.client.declares", async (world) => {
  const settings = { depth: 2, nested: { a: [1, null, "b"] } };
  for (const extensions of [{ [id]: settings }, [{ id, settings }]]) {
    const { client, server } = await world.connect({ extensions });
    for (let twice = 0; twice < 2; twice++) {
      const { request, outcome } = await requested(client, server);
      expect(declaredIn(request)).toEqual({ [id]: settings });
      server.answer(request, gotPrompt);
      await outcome;
    }
    const [met] = server.received;
    expect(declaredIn(met)).toEqual({ [id]: settings });
  }
});

proves("extensions.settings.empty", {
  async server(world) {
    const peer = await world.serve({ extensions: [{ id }] });
    expect((await declaredBy(world, peer)).extensions).toEqual({ [id]: {} });
  },
  async client(world) {
    const { server } = await world.connect({ extensions: [{ id }] });
    expect(declaredIn(server.received[0])).toEqual({ [id]: {} });
  },
});

proves("extensions.off-unless-chosen", {
  async server(world) {
    const peer = await world.serve({ tools: { echo } }, { capabilities: declared() });
    expect(await declaredBy(world, peer)).not.toHaveProperty("extensions");
    for (const method of ["greeting/say", "tasks/get", "skills/list"]) {
      expect((await peer.request(method)).error.code).toBe(ErrorCode.MethodNotFound);
    }
  },
  async client(world) {
    const { client, server } = await world.connect();
    const { request, outcome } = await requested(client, server);
    for (const message of [request, server.received[0]]) expect(declaredIn(message)).toBeUndefined();
    server.answer(request, gotPrompt);
    await outcome;
  },
});

proves("extensions.server.reverts", async (world) => {
  const peer = await world.serve({ tools: { echo }, extensions: [greeting] });
  const answer = await peer.request("tools/call", { name: "echo" });
  expect(textOf(answer)).toBe("{}");
  expect(answer.result.resultType).toBe("complete");
});

proves("extensions.server.rejects", async (world) => {
  const lacking = await world.serve({ extensions: [greeting] });
  const { result, error } = await lacking.request("greeting/say");
  expect(result).toBeUndefined();
  expect(error).toMatchObject({
    code: ErrorCode.MissingRequiredClientCapability,
    message: expect.stringContaining(id) as string,
    data: { requiredCapabilities: declared() },
  });
  const having = await world.serve({ extensions: [greeting] }, { capabilities: declared() });
  expect((await having.request("greeting/say")).result).toMatchObject({ said: "hello" });
});

proves("extensions.server.each-request", async (world) => {
  const peer = await world.serve({ extensions: [greeting] });
  const having = { meta: { [MetaKey.clientCapabilities]: declared() } };
  expect((await peer.request("greeting/say", {}, having)).result).toMatchObject({ said: "hello" });
  expect((await peer.request("greeting/say")).error.code).toBe(ErrorCode.MissingRequiredClientCapability);
  expect((await peer.request("greeting/say", {}, having)).result).toMatchObject({ said: "hello" });
});

proves("extensions.server.unknown", async (world) => {
  const bare = await world.serve({ tools: { echo } });
  const expected = (await bare.request("tools/call", { name: "echo" })).result;
  for (const extensions of [{ [id]: { a: 1 } }, { "no prefix": {}, "": {} }, {}, { "com.example/other": true }]) {
    const peer = await world.serve({ tools: { echo } }, { capabilities: { extensions } });
    expect((await peer.request("tools/call", { name: "echo" })).result).toEqual(expected);
    expect(await declaredBy(world, peer)).not.toHaveProperty("extensions");
  }
});

/** Requests a greeting if the server has the extension, and removes it from the result. */
const greeted: ClientExtension = {
  id,
  prepare: ({ capabilities }) =>
    (capabilities.extensions as JsonObject | undefined)?.[id] ? { greet: true } : undefined,
  follow: (result) => (result.resultType === "greeting" ? async () => result.inner as JsonObject : undefined),
};

proves("extensions.client.reverts", async (world) => {
  const { client, server } = await world.connect({ extensions: [greeted] });
  const { request, outcome } = await requested(client, server);
  expect(request.params).not.toHaveProperty("greet");
  server.answer(request, gotPrompt);
  expect(await outcome).toMatchObject(gotPrompt);
  const having = await world.connect(
    { extensions: [greeted] },
    { capabilities: { ...allCapabilities, ...declared() } },
  );
  const other = await requested(having.client, having.server);
  expect(other.request.params).toMatchObject({ greet: true });
  having.server.answer(other.request, gotPrompt);
  await other.outcome;
});

proves("extensions.client.rejected", async (world) => {
  const { client, server } = await world.connect({ extensions: [greeted] });
  const asking = client.request("greeting/say");
  asking.catch(() => {});
  server.refuse(await server.request("greeting/say"), { code: ErrorCode.MethodNotFound, message: "What?" });
  await expect(asking).rejects.toMatchObject({ code: ErrorCode.MethodNotFound });
});

proves("extensions.result-types.sent", async (world) => {
  const peer = await world.serve({ tools: { echo }, extensions: [greeting] }, { capabilities: declared() });
  const { result } = await peer.request("tools/call", { name: "echo" });
  expect(result).toMatchObject({ resultType: "greeting", inner: { content: [{ type: "text", text: "{}" }] } });
});

proves("extensions.result-types.accepted", async (world) => {
  const { client, server } = await world.connect({ extensions: [greeted] });
  for (const [result, isTaken] of [
    [{ resultType: "complete", ...gotPrompt }, true],
    [{ resultType: "greeting", inner: gotPrompt }, true],
    [{ resultType: "parting", inner: gotPrompt }, false],
  ] as const) {
    const { request, outcome } = await requested(client, server);
    server.answer(request, result);
    if (isTaken) expect(await outcome).toMatchObject(gotPrompt);
    else await expect(outcome).rejects.toMatchObject({ code: "invalid_message" });
  }
});
