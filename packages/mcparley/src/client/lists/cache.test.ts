import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import { resource, tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import { Cache } from "./cache.ts";
import type { Client } from "../client.ts";
import { serverTransports } from "../connect/transports.ts";
import { openClient } from "../open-client.ts";

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

test("a result is cached for its ttlMs, by method and params", async () => {
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

test("the option fresh sends the request, and its result replaces the cached one", async () => {
  const { client, count } = await connected();
  await client.readResource("a:1");
  await client.readResource("a:1", { fresh: true });
  expect(count()).toBe(2);
  await client.readResource("a:1");
  expect(count()).toBe(2);
});

test.each<JsonObject>([{}, { ttlMs: 0 }, { ttlMs: -5 }, { ttlMs: "1000" }, { ttlMs: null }, { ttlMs: NaN }])(
  "a result with the cache hints %j is not cached",
  async (hints) => {
    const { client, count } = await connected(hints);
    await client.readResource("a:1");
    await client.readResource("a:1");
    expect(count()).toBe(2);
  },
);

test("cache: false disables the cache", async () => {
  const { client, count } = await connected({ ttlMs }, false);
  await client.listTools().all();
  await client.listTools().all();
  expect(count()).toBe(2);
});

test("calls, prompts and pings are never cached", async () => {
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
])("%s (%j) makes %d cached results stale", async (method, params, stale) => {
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

test("a result that was requested before a change is not cached after it", async () => {
  const peer = modernPeer();
  const client = await openClient(peerTransports(peer));
  const reading = client.readResource("a:1");
  const request = await peer.request("resources/read");
  peer.notify("notifications/resources/updated", { uri: "a:1" });
  peer.answer(request, { contents: [], ttlMs });
  await reading;
  const again = client.readResource("a:1");
  peer.answer(await peer.request("resources/read"), { contents: [] });
  await again;
});

test("a result that depends on answers to input requests is not cached", async () => {
  const peer = modernPeer();
  const client = await openClient(peerTransports(peer), { roots: [] });
  const reading = client.readResource("a:1");
  const inputRequests = { r: { method: "roots/list" } };
  peer.answer(await peer.request("resources/read"), { resultType: "input_required", inputRequests, ttlMs });
  peer.answer(await peer.request("resources/read"), { contents: [], ttlMs });
  await reading;
  const rereading = client.readResource("a:1");
  const again = await peer.request("resources/read");
  expect(again.params).not.toHaveProperty("inputResponses");
  peer.answer(again, { contents: [] });
  await rereading;
});

test("the result of a request with inputResponses or requestState is not cached", async () => {
  const { client, count } = await connected();
  for (const more of [{ requestState: "s" }, { inputResponses: {} }]) {
    for (let twice = 0; twice < 2; twice++) await client.request("resources/read", { uri: "a:1", ...more });
  }
  expect(count()).toBe(4);
});

test("legacy results, which have no cache hint, are not cached", async () => {
  const peer = legacyPeer({ answers: { "tools/list": () => ({ tools: [] }) } });
  const client = await openClient(peerTransports(peer), { revision: "2025-11-25" });
  await client.listTools().all();
  await client.listTools().all();
  expect(peer.arrived.length).toBe(4);
});

test("the cache hints and changes of a real server are followed", async () => {
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
  await flushPromises();
  expect(await read()).toMatchObject({ text: "read 2" });
  expect((await client.listTools().all()).length).toBe(1);
  await subscription.close();
  await client.close();
});

describe("the limits of the cache", () => {
  const limited = (
    clock = fakeClock(),
  ): { put: (uri: string, length?: number, ttl?: number) => void; has: (uri: string) => boolean } => {
    const results = new Cache(clock);
    return {
      put(uri, length = 0, ttl = ttlMs) {
        const pending = { key: uri, method: "resources/read", uri, isStale: false, credentials: undefined };
        results.put(pending, { ttlMs: ttl, contents: [{ text: "x".repeat(length) }] });
      },
      has: (uri) => results.get(uri) !== undefined,
    };
  };

  test("256 results are cached, and a further one displaces the least recently used", () => {
    const results = new Cache(fakeClock());
    const put = (uri: string): void =>
      results.put({ key: uri, method: "m", uri, isStale: false, credentials: undefined }, { ttlMs });
    for (let index = 0; index < 256; index++) put(String(index));
    void results.get("0");
    put("256");
    expect(["0", "1", "256"].map((uri) => results.get(uri) !== undefined)).toEqual([true, false, true]);
  });

  test("a result with over 1 MiB of JSON is not cached", () => {
    const { put, has } = limited();
    const overhead = JSON.stringify({ ttlMs, contents: [{ text: "" }] }).length;
    put("fits", 2 ** 20 - overhead);
    put("too long", 2 ** 20 - overhead + 1);
    expect(has("fits")).toBe(true);
    expect(has("too long")).toBe(false);
  });

  test("all results together have at most 8 Mi characters of JSON", () => {
    const { put, has } = limited();
    for (let index = 0; index < 10; index++) put(String(index), 1_000_000);
    const cached = Array.from({ length: 10 }, (_, index) => has(String(index)));
    expect(cached).toEqual([false, false, ...Array<boolean>(8).fill(true)]);
  });

  test("an insertion removes expired results", async () => {
    const clock = fakeClock();
    const { put, has } = limited(clock);
    put("long", 1_000_000, 1000);
    for (let index = 0; index < 7; index++) put(`short ${index}`, 1_000_000, 10);
    await clock.advance(10);
    // With the expired results it would displace the oldest.
    put("new", 1_000_000);
    expect(has("short 0")).toBe(false);
    expect(has("long")).toBe(true);
    expect(has("new")).toBe(true);
  });

  test("a result that replaces another does not count twice", () => {
    const { put, has } = limited();
    for (let times = 0; times < 20; times++) put("same", 1_000_000);
    for (let index = 0; index < 7; index++) put(String(index), 1_000_000);
    expect(has("same")).toBe(true);
  });
});

describe("updates of resources", () => {
  test("an update makes the resource stale, and the cached resources that contain it", async () => {
    const { peer, client, count } = await connected();
    const uris = ["note://1", "note://1/a", "note://1?q", "note://10", "note://2"];
    for (const uri of uris) await client.readResource(uri);
    const before = count();
    const readAgain = async (): Promise<string[]> => {
      const start = peer.arrived.length;
      for (const uri of uris) await client.readResource(uri);
      return peer.arrived
        .slice(start)
        .map(({ message }) => (message as unknown as { params: { uri: string } }).params.uri);
    };
    peer.notify("notifications/resources/updated", { uri: "note://1/a" });
    expect(await readAgain()).toEqual(["note://1", "note://1/a"]);
    peer.notify("notifications/resources/updated", { uri: "note://1?q" });
    expect(await readAgain()).toEqual(["note://1", "note://1?q"]);
    peer.notify("notifications/resources/updated", { uri: "note://10" });
    expect(await readAgain()).toEqual(["note://10"]);
    expect(before).toBe(5);
  });

  test("updates of one resource do not prevent the caching of others", async () => {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer));
    const reading = client.readResource("a:1");
    const request = await peer.request("resources/read");
    for (let times = 0; times < 10; times++) peer.notify("notifications/resources/updated", { uri: "a:busy" });
    peer.answer(request, { contents: [], ttlMs });
    await reading;
    await client.readResource("a:1");
    expect(peer.arrived.length).toBe(2);
  });

  test("a change of the list of tools does not prevent the caching of a resource that is being read", async () => {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer));
    const reading = client.readResource("a:1");
    const request = await peer.request("resources/read");
    peer.notify("notifications/tools/list_changed");
    peer.answer(request, { contents: [], ttlMs });
    await reading;
    await client.readResource("a:1");
    expect(peer.arrived.length).toBe(2);
  });
});

describe("private results", () => {
  /** A client whose user can sign in as another one. */
  async function signedIn(hints: JsonObject): Promise<{
    client: Client;
    count: () => number;
    as(this: void, user: string, isSent?: boolean): Promise<void>;
  }> {
    let user = "ann";
    let generation = 1;
    let sent = user;
    const peer = modernPeer({
      answers: { "resources/read": () => ({ contents: [{ uri: "a:1", text: user }], ...hints }) },
    });
    const read = async (): Promise<number> => {
      if (sent !== user) generation++;
      sent = user;
      return generation;
    };
    const credentials = {
      get generation() {
        return generation;
      },
      read,
    };
    const client = await openClient(Object.assign(peerTransports(peer), { credentials }));
    return {
      client,
      count: () => peer.arrived.length - 1,
      async as(next, isSent = false) {
        user = next;
        if (isSent) await read();
      },
    };
  }
  const textOf = async (client: Client): Promise<unknown> => (await client.readResource("a:1")).contents[0];

  test.each([{ ttlMs, cacheScope: "private" }, { ttlMs }])("%j is served to one user only", async (hints) => {
    const { client, count, as } = await signedIn(hints);
    await textOf(client);
    expect(await textOf(client)).toMatchObject({ text: "ann" });
    expect(count()).toBe(1);
    await as("bob", true);
    expect(await textOf(client)).toMatchObject({ text: "bob" });
    expect(count()).toBe(2);
  });

  test("a change of the user is noticed before a request is sent", async () => {
    const { client, as } = await signedIn({ ttlMs });
    await textOf(client);
    await as("bob");
    expect(await textOf(client)).toMatchObject({ text: "bob" });
  });

  test("public results are served to all users", async () => {
    const { client, count, as } = await signedIn({ ttlMs, cacheScope: "public" });
    await textOf(client);
    await as("bob", true);
    expect(await textOf(client)).toMatchObject({ text: "ann" });
    expect(count()).toBe(1);
  });

  test("a result is not cached if the user changed while it was requested", async () => {
    const { client, count, as } = await signedIn({ ttlMs });
    const reading = textOf(client);
    while (count() === 0) await Promise.resolve();
    await as("bob", true);
    await reading;
    await textOf(client);
    expect(count()).toBe(2);
  });
});

test("a closed client and an aborted call receive nothing from the cache", async () => {
  const { client, count } = await connected();
  await client.listTools().all();
  await expect(client.listTools({ signal: AbortSignal.abort() }).all()).rejects.toMatchObject({ code: "aborted" });
  await client.close();
  await expect(client.listTools().all()).rejects.toMatchObject({ code: "closed" });
  await expect(client.readResource("a:1")).rejects.toMatchObject({ code: "closed" });
  expect(count()).toBe(1);
});

test("ttlMs of a cached result is the remaining time", async () => {
  const { clock, client } = await connected();
  await client.readResource("a:1");
  await clock.advance(400);
  expect(await client.readResource("a:1")).toMatchObject({ ttlMs: 600 });
});

test("cached results are not used after a reconnect, because the server may have another version", async () => {
  const answers = { "tools/call": () => ({ content: [{ type: "text", text: "x" }] }) };
  const listing = (name: string) => ({
    ...answers,
    "tools/list": () => ({
      tools: [{ name, inputSchema: { type: "object" } }],
      ttlMs: 3_600_000,
      cacheScope: "public",
    }),
  });
  const [first, second] = [modernPeer({ answers: listing("old") }), modernPeer({ answers: listing("new") })];
  const client = await openClient(peerTransports(first, second), { revision: "2026-07-28" });
  for (let count = 0; count < 2; count++) {
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(["old"]);
  }
  first.close();
  await flushPromises();
  await client.callTool("a");
  expect((await client.listTools().all()).map(({ name }) => name)).toEqual(["new"]);
  await client.close();
});
