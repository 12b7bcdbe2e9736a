import { describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../rpc/messages.ts";
import { type RawPeer, modernMeta, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { prompt, tool } from "./definition.ts";
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
