import { expect } from "vitest";
import {
  type AnyServerDefinition,
  type Client,
  type ConnectOptions,
  type JsonObject,
  ErrorCode,
  prompt,
  resource,
  tool,
} from "../library.ts";
import { proves } from "../proves.ts";
import { serveGranted } from "../world/callers.ts";
import { clientListens, listenTo, notificationCount } from "../world/changes.ts";
import { type RawMessage, turns } from "../../support/raw-message.ts";
import type { ScriptedServer } from "../../support/scripted-server.ts";
import { echo } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const ttlMs = 60_000;
const kept = { ttlMs, cacheScope: "public" };
const note = resource("note:", { read: () => "text" });
const hello = prompt({ get: () => "hello" });
const family = resource("family:{name}", { read: () => "text" });
const everything: Partial<AnyServerDefinition> = {
  tools: { echo },
  prompts: { hello },
  resources: { note, family },
};

const cacheable = [
  ["server/discover", {}],
  ["tools/list", {}],
  ["prompts/list", {}],
  ["resources/list", {}],
  ["resources/templates/list", {}],
  ["resources/read", { uri: "note:" }],
] as const;

const textIn = ({ contents }: { contents: readonly object[] }): string => (contents[0] as { text: string }).text;

interface Reader {
  client: Client;
  server: ScriptedServer;
  /** Reads a resource and returns its text, which is the number of reads so far. */
  read: (uri?: string) => Promise<string>;
  count: (method: string) => number;
}

/** A client of a scripted server that sends these hints with all that may be kept. */
async function reader(world: World, hints: JsonObject, options: ConnectOptions = {}): Promise<Reader> {
  let reads = 0;
  const complete = { resultType: "complete", ...hints };
  const answers = {
    "resources/read": ({ params }: RawMessage) => ({
      contents: [{ uri: params.uri, text: `${++reads}` }],
      ...complete,
    }),
    "resources/list": () => ({ resources: [], ...complete }),
    "resources/templates/list": () => ({ resourceTemplates: [], ...complete }),
    "prompts/list": () => ({ prompts: [], ...complete }),
    "tools/list": () => ({ tools: [], ...complete }),
  };
  const { client, server } = await world.connect(options, { answers });
  return {
    client,
    server,
    read: async (uri = "a:1") => textIn(await client.readResource(uri)),
    count: (method) => server.received.filter((message) => message.method === method).length,
  };
}

async function listAll(client: Client): Promise<void> {
  await client.listTools().all();
  await client.listPrompts().all();
  await client.listResources().all();
  await client.listResourceTemplates().all();
}

proves("caching.hints.present", async (world) => {
  const bare = await world.serve(everything);
  for (const [method, params] of cacheable) {
    const { result } = await bare.request(method, params);
    expect(result.resultType).toBe("complete");
    expect(result.ttlMs).toBe(0);
    expect(["public", "private"]).toContain(result.cacheScope);
  }
  const cached = resource("note:", { cache: { ttlMs, cacheScope: "public" }, read: () => "text" });
  const peer = await world.serve({ ...everything, listCache: { ttlMs }, resources: { note: cached, family } });
  for (const [method, params] of cacheable) expect((await peer.request(method, params)).result).toMatchObject(kept);
});

proves("caching.hints.not-on-input-required", async (world) => {
  const rooted = resource("rooted:", {
    cache: { ttlMs, cacheScope: "public" },
    read: async (_, { roots }) => (await roots()).map(({ uri }) => uri).join(" "),
  });
  const peer = await world.serve({ resources: { rooted } }, { capabilities: { roots: {} } });
  const { result } = await peer.request("resources/read", { uri: "rooted:" });
  expect(result.resultType).toBe("input_required");
  expect(result).not.toHaveProperty("ttlMs");
  expect(result).not.toHaveProperty("cacheScope");
});

proves("caching.key", async (world) => {
  const { client, read, count } = await reader(world, kept);
  expect(await read("a:1")).toBe("1");
  expect(await read("a:2")).toBe("2");
  expect(await read("a:1")).toBe("1");
  await listAll(client);
  for (const [method] of cacheable.slice(1)) expect(count(method)).toBe(method === "resources/read" ? 2 : 1);
  await client.request("prompts/list", { cursor: "next" });
  expect(count("prompts/list")).toBe(2);
});

proves("caching.retries", async (world) => {
  const { client, server } = await world.connect({ roots: [{ uri: "file:///a" }] });
  const final = { resultType: "complete", contents: [{ uri: "a:1", text: "x" }], ...kept };
  const inputRequests = { r: { method: "roots/list" } };
  for (let twice = 0; twice < 2; twice++) {
    const reading = client.readResource("a:1");
    const request = await server.request("resources/read");
    expect(request.params).not.toHaveProperty("inputResponses");
    server.answer(request, { resultType: "input_required", inputRequests, requestState: "s" });
    server.answer(await server.request("resources/read"), final);
    await reading;
  }
  for (const own of [{ requestState: "s" }, { inputResponses: { r: {} } }]) {
    for (let twice = 0; twice < 2; twice++) {
      const reading = client.request("resources/read", { uri: "a:1", ...own });
      server.answer(await server.request("resources/read"), final);
      await reading;
    }
  }
});

proves("caching.ttl.not-negative", async (world) => {
  const listCache = { ttlMs: -1 };
  const negative = resource("note:", { cache: listCache, read: () => "text" });
  await expect(world.serve({ listCache })).rejects.toThrow("ttlMs");
  await expect(world.serve({ resources: { negative } })).rejects.toThrow("ttlMs");
  const returned = resource("note:", { read: () => ({ contents: [{ uri: "note:", text: "" }], ...listCache }) });
  const peer = await world.serve({ resources: { returned } });
  expect((await peer.request("resources/read", { uri: "note:" })).result).toBeUndefined();
});

/** Checks that results with these hints are asked for each time. */
async function expectNothingKept(world: World, hints: JsonObject): Promise<void> {
  const { client, read, count } = await reader(world, hints);
  expect(await read()).toBe("1");
  expect(await read()).toBe("2");
  await listAll(client);
  await listAll(client);
  for (const [method] of cacheable.slice(1)) expect(count(method)).toBe(2);
}

proves("caching.ttl.zero", (world) => expectNothingKept(world, { ttlMs: 0, cacheScope: "public" }));

proves("caching.ttl.absent", (world) => expectNothingKept(world, { cacheScope: "public" }));

proves("caching.ttl.negative", (world) => expectNothingKept(world, { ttlMs: -60_000, cacheScope: "public" }));

proves("caching.ttl.fresh", async (world) => {
  const { client, read, count } = await reader(world, kept);
  expect(await read()).toBe("1");
  await listAll(client);
  await world.clock.advance(ttlMs - 1);
  expect(await read()).toBe("1");
  await listAll(client);
  for (const [method] of cacheable.slice(1)) expect(count(method)).toBe(1);
});

proves("caching.stale.requested-again", async (world) => {
  const { client, read, count } = await reader(world, kept);
  expect(await read()).toBe("1");
  await listAll(client);
  await world.clock.advance(ttlMs);
  expect(await read()).toBe("2");
  await listAll(client);
  for (const [method] of cacheable.slice(1)) expect(count(method)).toBe(2);
});

proves("caching.no-polling", async (world) => {
  const { client, read, server } = await reader(world, kept);
  await read();
  await listAll(client);
  const before = server.received.length;
  await world.clock.advance(10 * ttlMs);
  await turns();
  expect(server.received.length).toBe(before);
});

proves("caching.refetch-early", async (world) => {
  const { client, read, count } = await reader(world, kept);
  expect(await read()).toBe("1");
  expect(textIn(await client.readResource("a:1", { fresh: true }))).toBe("2");
  expect(await read()).toBe("2");
  expect(count("resources/read")).toBe(2);
});

proves("caching.scope.private", async (world) => {
  const { client, read, count } = await reader(world, { ttlMs, cacheScope: "private" });
  expect(await read()).toBe("1");
  expect(await read()).toBe("1");
  await listAll(client);
  await listAll(client);
  expect(count("tools/list")).toBe(1);
});

proves("caching.scope.not-shared", async (world) => {
  const ada = await reader(world, { ttlMs, cacheScope: "private" });
  const bob = await reader(world, { ttlMs, cacheScope: "private" });
  for (const { client, read, count } of [ada, bob]) {
    await read();
    await listAll(client);
    for (const [method] of cacheable.slice(1)) expect(count(method)).toBe(1);
  }
});

proves("caching.changes.declared", async (world) => {
  const peer = await world.serve({ tools: { echo }, listCache: { ttlMs } });
  await listenTo(world, peer, { toolsListChanged: true });
  expect((await peer.request("tools/list")).result.ttlMs).toBe(ttlMs);
  world.server.tools.set("another", echo);
  expect(await notificationCount(peer, "notifications/tools/list_changed")).toBe(1);
  const { result } = await peer.request("tools/list");
  expect((result.tools as { name: string }[]).map(({ name }) => name)).toEqual(["echo", "another"]);
});

proves("caching.changes.invalidate", async (world) => {
  const { client, server, read, count } = await reader(world, kept);
  const filter = { tools: true, prompts: true, resources: true, uris: ["a:1"] };
  const { tell } = await clientListens(world, { client, server }, filter, () => {});
  const needAll = async (): Promise<void> => {
    await listAll(client);
    await read("a:1");
    await read("a:2");
  };
  const methods = cacheable.slice(1).map(([method]) => method);
  const asked = (): number => methods.reduce((sum, method) => sum + count(method), 0);
  await needAll();
  for (const [method, params, stale] of [
    ["notifications/tools/list_changed", {}, 1],
    ["notifications/prompts/list_changed", {}, 1],
    ["notifications/resources/list_changed", {}, 2],
    ["notifications/resources/updated", { uri: "a:1" }, 1],
  ] as const) {
    const before = asked();
    tell(method, params);
    await turns();
    await needAll();
    expect(method).toEqual(method);
    expect(asked() - before).toEqual(stale);
  }
});

/** A client of a server whose list of prompts has two pages with the given lifetimes. */
async function pager(world: World, [first, second]: readonly [number, number]) {
  const cursors: unknown[] = [];
  const page = ({ params: { cursor } }: RawMessage): JsonObject => {
    cursors.push(cursor);
    const more = cursor === undefined ? { nextCursor: "two", ttlMs: first } : { ttlMs: second };
    const name = `${String(cursor)} ${cursors.length}`;
    return { resultType: "complete", prompts: [{ name }], cacheScope: "public", ...more };
  };
  const { client } = await world.connect({}, { answers: { "prompts/list": page } });
  return { client, cursors };
}

proves("caching.pages.clocks", async (world) => {
  const { client, cursors } = await pager(world, [2 * ttlMs, ttlMs]);
  await client.listPrompts().all();
  await world.clock.advance(ttlMs);
  const names = (await client.listPrompts().all()).map(({ name }) => name);
  expect(cursors).toEqual([undefined, "two", "two"]);
  expect(names).toEqual(["undefined 1", "two 3"]);
});

proves("caching.pages.snapshot", async (world) => {
  const { client, cursors } = await pager(world, [ttlMs, ttlMs]);
  await client.listPrompts().all();
  await client.listPrompts({ fresh: true }).all();
  expect(cursors).toEqual([undefined, "two", undefined, "two"]);
});

proves("caching.pages.cursor-refused", async (world) => {
  const { client, server } = await world.connect();
  const page = (name: string, more: JsonObject): JsonObject => ({
    resultType: "complete",
    prompts: [{ name }],
    cacheScope: "public",
    ...more,
  });
  const asked = async (cursor: string | undefined): Promise<RawMessage> => {
    const request = await server.request("prompts/list");
    expect(request.params.cursor).toBe(cursor);
    return request;
  };
  const first = client.listPrompts().all();
  server.answer(await asked(undefined), page("old", { nextCursor: "old", ttlMs }));
  server.answer(await asked("old"), page("older", { ttlMs: 0 }));
  await first;
  const second = client.listPrompts().all();
  server.refuse(await asked("old"), { code: ErrorCode.InvalidParams, message: "What cursor is that?" });
  server.answer(await asked(undefined), page("new", { nextCursor: "new", ttlMs }));
  server.answer(await asked("new"), page("newer", { ttlMs: 0 }));
  expect((await second).map(({ name }) => name)).toEqual(["new", "newer"]);
});

proves("caching.pages.same-scope", async (world) => {
  const scoped = tool({ scopes: ["secret"], call: () => "secret" });
  for (const [last, expected] of [
    [echo, "public"],
    [scoped, "private"],
  ] as const) {
    const peer = await world.serve({ tools: { a: echo, b: echo, c: echo, last }, limits: { pageSize: 1 } });
    const found: unknown[] = [];
    let cursor: unknown;
    do {
      const { result } = await peer.request("tools/list", cursor === undefined ? {} : { cursor });
      found.push(result.cacheScope);
      cursor = result.nextCursor;
    } while (cursor !== undefined);
    expect(found.length).toBeGreaterThan(2);
    expect(new Set(found)).toEqual(new Set([expected]));
  }
});

proves("caching.security.scope", async (world) => {
  const scopes = ["secret"];
  const secret = resource("secret:", { scopes, read: () => "secret" });
  const own = resource("own:{name}", { list: () => ["own:1"], read: () => "own" });
  for (const [resources, list] of [
    [{ note }, "public"],
    [{ note, secret }, "private"],
    [{ note, own }, "private"],
  ] as const) {
    const peer = await world.serve({ resources: { ...resources } });
    expect((await peer.request("resources/list")).result.cacheScope).toBe(list);
    expect((await peer.request("resources/read", { uri: "note:" })).result.cacheScope).toBe("private");
  }
});

proves("caching.security.access", async (world) => {
  const cache = { ttlMs, cacheScope: "public" } as const;
  const secret = resource("secret:", { scopes: ["secret"], cache, read: () => "the secret" });
  const granted = await serveGranted(world, { resources: { secret } }, ["secret"]);
  expect((await granted.request("resources/read", { uri: "secret:" })).result).toMatchObject(cache);
  const lacking = await serveGranted(world, { resources: { secret } }, ["another"]);
  const { result, error } = await lacking.request("resources/read", { uri: "secret:" });
  expect(result).toBeUndefined();
  expect(JSON.stringify(error)).not.toContain("the secret");
});
