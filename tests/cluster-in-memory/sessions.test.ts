import { describe, expect, test } from "vitest";
import { resource, tool } from "../../packages/mcparley/src/server/definition.ts";
import { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
import { flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { gate } from "../support/gate.ts";
import { authenticated, callTool, cluster, failing, getStream, message, messages, open, request } from "./cluster.ts";

const legacy = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/** A cluster whose tools return the number of their node. */
const servers = (more: object = {}) =>
  cluster({
    definition: (node) => ({
      tools: {
        where: tool({ call: (_, ctx) => `${node} ${ctx.peer.info?.name} ${ctx.peer.revision}` }),
        ask: tool({
          call: async (_, ctx) => {
            const answer = await ctx.elicit({ message: "Sure?", schema: { type: "object", properties: {} } });
            return `${node} ${JSON.stringify(answer)}`;
          },
        }),
        sample: tool({
          call: async (_, ctx) => {
            const { content } = await ctx.sample({ messages: [], maxTokens: 1 });
            return `${node} ${(content as { text: string }).text}`;
          },
        }),
      },
      resources: { note: resource("note://one", { read: () => "one" }) },
    }),
    ...more,
  });

describe("a session behind a balancer", () => {
  test.each(legacy)("of %s is served by every node, with the client's identity", async (version) => {
    const { nodes, client } = servers();
    const session = await open(client, version);
    for (const [index, node] of nodes.entries()) {
      const { result } = await (await callTool(node.client, session, "where")).json();
      expect(result.content).toMatchObject([{ text: `${index} raw ${version}` }]);
    }
  });

  test("is found by a node that started later, after the node that opened it has died", async () => {
    const { nodes, clock, client, store } = servers();
    const session = await open(nodes[0]!.client);
    nodes[0]!.kill();
    await clock.advance(60_000);
    expect((await callTool(client, session, "where")).status).toBe(200);
    expect(store).toBeDefined();
  });

  test("has the state that its client set on any node", async () => {
    const { nodes } = servers();
    const [a, b, c] = nodes;
    const session = await open(a!.client);
    await request(a!.client, session, "resources/subscribe", { params: { uri: "note://one" } });
    await request(b!.client, session, "resources/subscribe", { params: { uri: "note://two" } });
    await request(c!.client, session, "resources/unsubscribe", { params: { uri: "note://one" } });
    const stream = await getStream(a!.client, session);
    await flushPromises();
    b!.server.resources.updated("note://one");
    b!.server.resources.updated("note://two");
    b!.server.resources.updated("note://one");
    await flushPromises();
    expect((await message(stream))?.params).toEqual({ uri: "note://two" });
  });

  test("has no more subscriptions than limits.subscriptions, if its client subscribes on two nodes at once", async () => {
    const tools = { hello: tool({ call: () => "" }) };
    const note = resource("note://{id}", { read: () => "" });
    const definition = () => ({ tools, resources: { note }, limits: { subscriptions: 2 } });
    const { nodes, client, store } = cluster({ definition });
    const session = await open(client);
    const change = async (node: number, method: string, uri: string) => {
      const { error } = await (await request(nodes[node]!.client, session, method, { params: { uri } })).json();
      return error?.code ?? 0;
    };
    const subscribe = (node: number, uri: string) => change(node, "resources/subscribe", uri);
    const stored = async () =>
      JSON.parse((await store.get(`mcparley:test:session:${session["mcp-session-id"]}`))!).state.subscriptions;
    expect(await subscribe(0, "note://one")).toBe(0);
    expect(await Promise.all([subscribe(0, "note://two"), subscribe(1, "note://three")])).toEqual([0, -32602]);
    expect(await stored()).toEqual(["note://one", "note://two"]);
    expect(await change(1, "resources/unsubscribe", "note://one")).toBe(0);
    expect(await subscribe(1, "note://three")).toBe(0);
    expect(await subscribe(2, "note://four")).toBe(-32602);
    expect(await stored()).toEqual(["note://two", "note://three"]);
  });

  test("belongs to its principal on every node", async () => {
    const { nodes } = servers({ options: authenticated });
    const session = await open(nodes[0]!.client, "2025-11-25", { authorization: "Bearer alice" });
    for (const { client } of nodes) {
      const refused = await callTool(client, { ...session, authorization: "Bearer bob" }, "where");
      expect(refused.status).toBe(404);
      expect((await callTool(client, session, "where")).status).toBe(200);
    }
  });

  test("ends on all nodes at once, with its calls and streams", async () => {
    const held = gate();
    const { nodes, client } = servers({ definition: () => ({ tools: { slow: tool({ call: held.call }) } }) });
    const session = await open(client);
    const stream = await getStream(nodes[1]!.client, session);
    void callTool(nodes[0]!.client, session, "slow");
    const { signal } = await held.entered;
    expect((await nodes[2]!.client.send({ method: "DELETE", headers: session })).status).toBe(204);
    await flushPromises();
    expect(signal.aborted).toBe(true);
    expect(await messages(stream)).toEqual([]);
    for (const node of nodes) expect((await callTool(node.client, session, "where")).status).toBe(404);
  });

  test("ends on all nodes after exactly the idle timeout", async () => {
    const { nodes, clock, client } = servers({ options: { sessions: { idle: 60_000 } } });
    const session = await open(client);
    await clock.advance(50_000);
    expect((await callTool(nodes[2]!.client, session, "where")).status).toBe(200);
    await clock.advance(50_000);
    expect((await callTool(nodes[1]!.client, session, "where")).status).toBe(200);
    await clock.advance(60_000);
    for (const node of nodes) expect((await callTool(node.client, session, "where")).status).toBe(404);
  });

  test("is not idle on other nodes while it has a stream open on one", async () => {
    const { nodes, clock, client } = servers({ options: { sessions: { idle: 60_000 } } });
    const session = await open(client);
    await getStream(nodes[0]!.client, session);
    await clock.advance(200_000);
    expect((await callTool(nodes[1]!.client, session, "where")).status).toBe(200);
  });

  test("uses no memory while it is idle: a full process releases copies, and the sessions continue", async () => {
    const { nodes, clock } = servers({ options: { sessions: { totalSize: 400 } } });
    const sessions = [];
    for (let opened = 0; opened < 5; opened++) sessions.push(await open(nodes[0]!.client));
    for (const session of sessions) expect((await callTool(nodes[0]!.client, session, "where")).status).toBe(200);
    await clock.advance(200_000);
    expect((await callTool(nodes[1]!.client, sessions[0]!, "where")).status).toBe(200);
  });
});

describe("an input request of one node", () => {
  test.each([
    ["2025-06-18", "ask", { action: "accept", content: {} }, "{}"],
    ["2025-11-25", "ask", { action: "accept", content: {} }, "{}"],
    ["2024-11-05", "sample", { role: "assistant", content: { type: "text", text: "Hm" }, model: "m" }, "Hm"],
    ["2025-03-26", "sample", { role: "assistant", content: { type: "text", text: "Hm" }, model: "m" }, "Hm"],
  ])("in %s is answered through another node: %s", async (version, name, result, shown) => {
    const { nodes } = servers();
    const [a, b] = nodes;
    const session = await open(a!.client, version);
    const answer = await callTool(a!.client, session, name);
    const inputRequest = await message(answer);
    expect((await b!.client.post({ jsonrpc: "2.0", id: inputRequest?.id, result }, session)).status).toBe(202);
    expect(await message(answer)).toMatchObject({ id: 1, result: { content: [{ text: `0 ${shown}` }] } });
  });

  test("has an id that no other node uses", async () => {
    const { nodes } = servers();
    const session = await open(nodes[0]!.client);
    const ids = [];
    for (const [index, { client }] of nodes.entries()) {
      const answer = await callTool(client, session, "ask", index + 10);
      ids.push((await message(answer))?.id);
    }
    expect(new Set(ids).size).toBe(3);
  });

  test("is not answered by another session that knows its id", async () => {
    const { nodes } = servers({ options: authenticated });
    const [a, b] = nodes;
    const alice = await open(a!.client, "2025-11-25", { authorization: "Bearer alice" });
    const bob = await open(a!.client, "2025-11-25", { authorization: "Bearer bob" });
    const answer = await callTool(a!.client, alice, "ask");
    const inputRequest = await message(answer);
    const result = { action: "accept", content: { from: "bob" } };
    for (const { client } of [a!, b!]) await client.post({ jsonrpc: "2.0", id: inputRequest?.id, result }, bob);
    await flushPromises();
    await b!.client.post({ jsonrpc: "2.0", id: inputRequest?.id, result: { action: "accept", content: {} } }, alice);
    expect(await message(answer)).toMatchObject({ result: { content: [{ text: "0 {}" }] } });
  });
});

test("a call is cancelled by a notification that arrives at another node", async () => {
  const held = gate();
  const { nodes } = servers({ definition: () => ({ tools: { slow: tool({ call: held.call }) } }) });
  const session = await open(nodes[0]!.client);
  void callTool(nodes[0]!.client, session, "slow", 7);
  const { signal } = await held.entered;
  const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "7" } };
  await nodes[1]!.client.post(cancelled, session);
  await flushPromises();
  expect(signal.aborted).toBe(false);
  await nodes[1]!.client.post({ ...cancelled, params: { requestId: 7 } }, session);
  await flushPromises();
  expect(signal.aborted).toBe(true);
});

describe("while the store is unavailable", () => {
  test("requests of sessions are answered with 503 and Retry-After, and the sessions continue afterwards", async () => {
    let store!: ReturnType<typeof failing>;
    const { nodes, clock, client } = servers({
      store: (time: never) => (store = failing(memoryStore({ clock: time }))),
    });
    const session = await open(client);
    store.isAway = true;
    const refused = await callTool(nodes[1]!.client, session, "where");
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await refused.json()).error?.message).toBe(
      "The server's store is unavailable. Nothing was done: send the request again.",
    );
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
    expect((await request(client, {}, "initialize", { params })).status).toBe(503);
    await clock.advance(20_000);
    store.isAway = false;
    for (const node of nodes) expect((await callTool(node.client, session, "where")).status).toBe(200);
  });

  test("requests of modern revisions are answered without the store", async () => {
    const store = failing(memoryStore());
    const { nodes } = servers({ store: () => store });
    for (const { client } of nodes) {
      store.isAway = true;
      const answer = await client.modern("tools/call", { name: "where", arguments: {} });
      expect(answer.status).toBe(200);
      expect((await client.modern("tools/list")).status).toBe(200);
      expect((await client.modern("server/discover")).status).toBe(200);
      expect((await client.modern("resources/read", { uri: "note://one" })).status).toBe(200);
    }
    expect(store.operations).toEqual([]);
  });
});
