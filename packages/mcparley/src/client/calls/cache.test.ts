import { expect, test } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import { resource, tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { fakeClock, settled } from "../../testing/fake-clock.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import { Cache } from "./cache.ts";
import type { Client } from "./client.ts";
import { serverTransports } from "../connect/transports.ts";
import { openClient } from "../connect/open-client.ts";
// Loaded when first needed elsewhere; here no test is to wait for the disk.
import "./on-demand.ts";
import "../input/input-requests.ts";
import "../subscriptions/subscriptions.ts";

const ttlMs = 1000;

async function connected(
  hints: JsonObject = { ttlMs, cacheScope: "private" },
  cache?: boolean,
): Promise<{
  clock: ReturnType<typeof fakeClock>;
  peer: ReturnType<typeof modernPeer>;
  client: Client;
  count: () => number;
}> {
  const clock = fakeClock();
  const peer = modernPeer({
    answers: {
      "tools/list": () => ({ tools: [], ...hints }),
      "prompts/list": () => ({ prompts: [], ...hints }),
      "resources/list": () => ({ resources: [], ...hints }),
      "resources/templates/list": () => ({ resourceTemplates: [], ...hints }),
      "resources/read": ({ params }) => ({ contents: [{ uri: params?.uri, text: "x" }], ...hints }),
      "tools/call": () => ({ content: [], ...hints }),
      "prompts/get": () => ({ messages: [], ...hints }),
    },
  });
  const client = await openClient(peerTransports(peer), { clock, ...(cache !== undefined && { cache }) });
  return { clock, peer, client, count: () => peer.arrived.length - 1 };
}

test("a result is kept for as long as it says, by method and params", async () => {
  const { clock, client, count } = await connected();
  await client.readResource("a:1");
  await client.readResource("a:1", { meta: { traceparent: "x" } });
  expect(count()).toBe(1);
  await client.readResource("a:2");
  expect(count()).toBe(2);
  await clock.advance(ttlMs - 1);
  await client.readResource("a:1");
  expect(count()).toBe(2);
  await clock.advance(1);
  await client.readResource("a:1");
  expect(count()).toBe(3);
});

test("a fresh result is asked for, and kept in the place of the one that was", async () => {
  const { client, count } = await connected();
  await client.readResource("a:1");
  await client.readResource("a:1", { fresh: true });
  expect(count()).toBe(2);
  await client.readResource("a:1");
  expect(count()).toBe(2);
});

test.each<JsonObject>([{}, { ttlMs: 0 }, { ttlMs: -5 }, { ttlMs: "1000" }, { ttlMs: null }, { ttlMs: NaN }])(
  "%j keeps nothing",
  async (hints) => {
    const { client, count } = await connected(hints);
    await client.readResource("a:1");
    await client.readResource("a:1");
    expect(count()).toBe(2);
  },
);

test("cache: false keeps nothing", async () => {
  const { client, count } = await connected({ ttlMs }, false);
  await client.listTools().all();
  await client.listTools().all();
  expect(count()).toBe(2);
});

test("calls, prompts and signs of life are never kept", async () => {
  const { peer, client } = await connected();
  for (let twice = 0; twice < 2; twice++) {
    await client.callTool("a");
    await client.getPrompt("a");
    await client.ping();
  }
  expect(peer.arrived.length).toBe(7);
});

test.each([
  ["notifications/tools/list_changed", undefined, 1],
  ["notifications/prompts/list_changed", undefined, 1],
  ["notifications/resources/list_changed", undefined, 2],
  ["notifications/resources/updated", { uri: "a:1" }, 1],
  ["notifications/resources/updated", { uri: "a:3" }, 0],
])("%s (%j) makes %d kept results stale", async (method, params, stale) => {
  const { peer, client, count } = await connected();
  const readAll = async (): Promise<void> => {
    await client.listTools().all();
    await client.listPrompts().all();
    await client.listResources().all();
    await client.listResourceTemplates().all();
    await client.readResource("a:1");
    await client.readResource("a:2");
  };
  await readAll();
  peer.notify(method, params);
  await readAll();
  expect(count()).toBe(6 + stale);
});

test("a result that was asked for before a change is not kept after it", async () => {
  const peer = modernPeer();
  const client = await openClient(peerTransports(peer));
  const reading = client.readResource("a:1");
  const request = await peer.request("resources/read");
  peer.notify("notifications/resources/updated", { uri: "a:1" });
  peer.answer(request, { contents: [], ttlMs });
  await reading;
  void client.readResource("a:1");
  await peer.request("resources/read");
});

test("what came of answers to questions is not kept", async () => {
  const peer = modernPeer();
  const client = await openClient(peerTransports(peer), { roots: [] });
  const reading = client.readResource("a:1");
  const inputRequests = { r: { method: "roots/list" } };
  peer.answer(await peer.request("resources/read"), { resultType: "input_required", inputRequests, ttlMs });
  peer.answer(await peer.request("resources/read"), { contents: [], ttlMs });
  await reading;
  void client.readResource("a:1");
  const again = await peer.request("resources/read");
  expect(again.params).not.toHaveProperty("inputResponses");
});

test("nor is what is answered to a request that carries answers or a state of its own", async () => {
  const { client, count } = await connected();
  for (const more of [{ requestState: "s" }, { inputResponses: {} }]) {
    for (let twice = 0; twice < 2; twice++) await client.request("resources/read", { uri: "a:1", ...more });
  }
  expect(count()).toBe(4);
});

test("legacy results, which carry no hint, are not kept", async () => {
  const peer = legacyPeer({ answers: { "tools/list": () => ({ tools: [] }) } });
  const client = await openClient(peerTransports(peer), { revision: "2025-11-25" });
  await client.listTools().all();
  await client.listTools().all();
  expect(peer.arrived.length).toBe(4);
});

test("a real server's hints and changes are followed", async () => {
  let reads = 0;
  const note = resource("note://a", { cache: { ttlMs: 60_000 }, read: () => `read ${++reads}` });
  const server = createServer({
    name: "s",
    version: "1",
    resources: { note },
    tools: {},
    listCache: { ttlMs: 60_000 },
  });
  const client = await openClient(serverTransports(server));
  const read = async (): Promise<unknown> => (await client.readResource("note://a")).contents[0];
  await read();
  expect(await read()).toMatchObject({ text: "read 1" });
  expect((await client.listTools().all()).length).toBe(0);
  const subscription = await client.listen({ tools: true, uris: ["note://a"] }, () => {});
  server.resources.updated("note://a");
  server.tools.set("t", tool({ call: () => "x" }));
  await settled();
  expect(await read()).toMatchObject({ text: "read 2" });
  expect((await client.listTools().all()).length).toBe(1);
  await subscription.close();
  await client.close();
});

test("so many results are kept and no more, those that were used last", () => {
  const cache = new Cache(fakeClock());
  const key = (index: number): string => cache.keyOf("resources/read", { uri: String(index) })!;
  for (let index = 0; index < 256; index++) cache.put(key(index), { ttlMs }, cache.generation);
  cache.get(key(0));
  cache.put(key(256), { ttlMs }, cache.generation);
  expect(cache.get(key(0))).toBeDefined();
  expect(cache.get(key(1))).toBeUndefined();
  expect(cache.get(key(256))).toBeDefined();
});

test("very long contents are not kept", () => {
  const cache = new Cache(fakeClock());
  for (const [length, kept] of [
    [1_000_000, true],
    [1_000_001, false],
  ] as const) {
    cache.put("resources/read {}", { ttlMs, contents: [{ blob: "x".repeat(length) }] }, cache.generation);
    expect(cache.get("resources/read {}") !== undefined).toBe(kept);
    cache.forget();
  }
});
