import { describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../rpc/messages.ts";
import { type RawPeer, modernMeta, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { prompt, resource, tool } from "./definition.ts";
import { createServer } from "./create-server.ts";

const modern = "2026-07-28";
const meta = modernMeta(modern);

const serve = (definition: object, options?: { meta?: JsonObject }): Promise<RawPeer> =>
  rawPeer(createServer({ name: "x", version: "1", ...definition }), { meta, ...options });

const callTool = async (peer: RawPeer, name = "t", args: JsonObject = {}): Promise<JsonObject> =>
  (await peer.request("tools/call", { name, arguments: args })).result;

describe("lists", () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${index}`, tool({ call: () => index })]));

  test("pages follow each other to the end, and a cursor stays valid when entries are added and removed", async () => {
    const server = createServer({ name: "x", version: "1", limits: { pageSize: 3 }, tools: many(7) });
    const peer = await rawPeer(server, { meta });
    const page = async (cursor?: unknown) =>
      (await peer.request("tools/list", cursor === undefined ? {} : { cursor })).result as {
        tools: { name: string }[];
        nextCursor?: string;
      };
    const first = await page();
    expect(first.tools.map(({ name }) => name)).toEqual(["t0", "t1", "t2"]);
    server.tools.delete("t2");
    server.tools.delete("t4");
    server.tools.set("late", tool({ call: () => "late" }));
    const second = await page(first.nextCursor);
    expect(second.tools.map(({ name }) => name)).toEqual(["t3", "t5", "t6"]);
    const third = await page(second.nextCursor);
    expect(third.tools.map(({ name }) => name)).toEqual(["late"]);
    expect(third.nextCursor).toBeUndefined();
  });

  test.each(["nonsense", "", "YWZ0ZXI6eA==", 5])("the cursor %j is rejected", async (cursor) => {
    const { error } = await (await serve({ tools: many(2) })).request("tools/list", { cursor });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("cursor") as string });
  });

  test("the order is stable, and a replaced entry keeps its position", async () => {
    const server = createServer({ name: "x", version: "1", tools: many(5) });
    const peer = await rawPeer(server, { meta });
    const names = async () =>
      ((await peer.request("tools/list")).result.tools as { name: string }[]).map(({ name }) => name);
    const before = await names();
    server.tools.set("t2", tool({ description: "new", call: () => "new" }));
    expect(await names()).toEqual(before);
    expect(await callTool(peer, "t2")).toMatchObject({ content: [{ text: "new" }] });
  });

  test("a page is prepared once for all callers", async () => {
    const schema = {
      type: "object",
      get properties() {
        reads();
        return {};
      },
    };
    const reads = vi.fn<() => void>();
    const server = createServer({ name: "x", version: "1", tools: { t: tool({ input: schema, call: () => "x" }) } });
    const peer = await rawPeer(server, { meta });
    await peer.request("tools/list");
    const after = reads.mock.calls.length;
    for (let index = 0; index < 5; index++) await peer.request("tools/list");
    await callTool(peer);
    expect(reads.mock.calls.length).toBe(after);
  });
});

describe("changes", () => {
  test("a session receives one notification for several changes in one turn, and only after it is ready", async () => {
    const server = createServer({ name: "x", version: "1", tools: {}, prompts: {} });
    const peer = await rawPeer(server);
    const clientInfo = { name: "c", version: "1" };
    await peer.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    server.tools.set("early", tool({ call: () => "x" }));
    await peer.settled();
    expect(peer.received).toHaveLength(1);
    peer.notify("notifications/initialized");
    await peer.settled();
    for (const name of ["a", "b", "c"]) server.tools.set(name, tool({ call: () => "x" }));
    server.prompts.set("p", prompt({ get: () => "x" }));
    await peer.settled();
    expect(peer.received.slice(1)).toEqual([
      { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
      { jsonrpc: "2.0", method: "notifications/prompts/list_changed" },
    ]);
  });

  test("a listen stream sends the acknowledgment first, then tagged notifications of its filter, and ends gracefully", async () => {
    const server = createServer({ name: "x", version: "1", tools: {}, resources: {} });
    const peer = await rawPeer(server, { meta });
    const notifications = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ["r://a"] };
    const ended = peer.request("subscriptions/listen", { notifications }, { id: "sub" });
    const tag = { "io.modelcontextprotocol/subscriptionId": "sub" };
    expect(await peer.next(() => true)).toEqual({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { _meta: tag, notifications: { toolsListChanged: true, resourceSubscriptions: ["r://a"] } },
    });
    server.tools.set("t", tool({ call: () => "x" }));
    server.resources.set("b", resource("r://b", { read: () => "b" }));
    server.resources.updated("r://b");
    server.resources.updated("r://a");
    await peer.settled();
    expect(peer.received.slice(1)).toEqual([
      { jsonrpc: "2.0", method: "notifications/resources/updated", params: { _meta: tag, uri: "r://a" } },
      { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { _meta: tag } },
    ]);
    const closing = server.close();
    expect((await ended).result).toMatchObject({ resultType: "complete", _meta: tag });
    await closing;
  });

  test("changes between a listen request and its acknowledgment are sent after it, each once", async () => {
    const server = createServer({ name: "x", version: "1", tools: {}, resources: {} });
    const peer = await rawPeer(server, { meta });
    const notifications = { toolsListChanged: true, resourceSubscriptions: ["r://a"] };
    peer.send({ jsonrpc: "2.0", id: 9, method: "subscriptions/listen", params: { _meta: meta, notifications } });
    // The request arrives within one microtask turn; its answer takes longer.
    await Promise.resolve();
    server.tools.set("t", tool({ call: () => "x" }));
    server.resources.updated("r://a");
    server.resources.updated("r://a");
    server.resources.updated("r://b");
    await peer.nextNotification("notifications/subscriptions/acknowledged");
    await peer.settled();
    const sent = peer.received as unknown as { method: string; params: JsonObject }[];
    expect(sent.map(({ method, params }) => [method, params.uri])).toEqual([
      ["notifications/subscriptions/acknowledged", undefined],
      ["notifications/resources/updated", "r://a"],
      ["notifications/tools/list_changed", undefined],
    ]);
  });

  test("a cancelled listen stream sends nothing more", async () => {
    const server = createServer({ name: "x", version: "1", tools: {} });
    const peer = await rawPeer(server, { meta });
    peer.send({
      jsonrpc: "2.0",
      id: 9,
      method: "subscriptions/listen",
      params: { _meta: meta, notifications: { toolsListChanged: true } },
    });
    await peer.nextNotification("notifications/subscriptions/acknowledged");
    peer.notify("notifications/cancelled", { requestId: 9 });
    await peer.settled();
    server.tools.set("t", tool({ call: () => "x" }));
    await peer.settled();
    expect(peer.received).toHaveLength(1);
  });

  test.each([
    [{}],
    [{ notifications: [] }],
    [{ notifications: { toolsListChanged: "yes" } }],
    [{ notifications: { resourceSubscriptions: [5] } }],
  ])("the filter %j is rejected", async (params) => {
    const { error } = await (await serve({ tools: {} })).request("subscriptions/listen", params);
    expect(error.code).toBe(-32602);
  });

  test("one stream more than limits.listenStreams is rejected", async () => {
    const peer = await serve({ limits: { listenStreams: 1 }, tools: {} });
    peer.send({
      jsonrpc: "2.0",
      id: "one",
      method: "subscriptions/listen",
      params: { _meta: meta, notifications: {} },
    });
    expect((await peer.request("subscriptions/listen", { notifications: {} })).error.message).toContain(
      "limits.listenStreams",
    );
  });
});

describe("progress and logs", () => {
  const busy = tool({
    call: (_, ctx) => {
      ctx.progress(1, 3, "one");
      ctx.progress(1, 3, "not more");
      ctx.progress(2);
      ctx.log.debug("fine");
      ctx.log.error({ what: "broken" }, "db");
      return "done";
    },
  });

  test("progress is sent if the request has a token, increases, and ends with the call", async () => {
    const peer = await serve({ tools: { busy } });
    await peer.request("tools/call", { name: "busy", _meta: { ...meta, progressToken: "p" } });
    const progress = peer.received.filter((message) => "method" in message).map((message) => message.params);
    expect(progress).toEqual([
      { progressToken: "p", progress: 1, total: 3, message: "one" },
      { progressToken: "p", progress: 2 },
    ]);
    await callTool(peer, "busy");
    expect(peer.received.filter((message) => "method" in message)).toHaveLength(2);
  });

  test("the first revision has no progress message", async () => {
    const peer = await rawPeer(createServer({ name: "x", version: "1", tools: { busy } }));
    await openSession(peer, "2024-11-05");
    await peer.request("tools/call", { name: "busy", _meta: { progressToken: 7 } });
    expect(await peer.nextNotification("notifications/progress")).toMatchObject({
      params: { progressToken: 7, progress: 1, total: 3 },
    });
    expect(JSON.stringify(peer.received)).not.toContain('"message":"one"');
  });

  test("a modern request receives log messages of the level that it names, and no messages without a level", async () => {
    const peer = await serve({ tools: { busy } });
    await callTool(peer, "busy");
    expect(peer.received.filter((message) => "method" in message)).toEqual([]);
    await peer.request("tools/call", { name: "busy", _meta: { ...meta, "io.modelcontextprotocol/logLevel": "error" } });
    expect(peer.received.filter((message) => "method" in message)).toMatchObject([
      { method: "notifications/message", params: { level: "error", logger: "db", data: { what: "broken" } } },
    ]);
  });

  test("a session sets its log level", async () => {
    const peer = await rawPeer(createServer({ name: "x", version: "1", tools: { busy } }));
    await openSession(peer, "2025-06-18");
    expect((await peer.request("logging/setLevel", { level: "debug" })).result).toEqual({});
    await callTool(peer, "busy");
    expect(peer.received.filter((message) => "method" in message)).toHaveLength(2);
    expect((await peer.request("logging/setLevel", { level: "loud" })).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("emergency") as string,
    });
  });
});
