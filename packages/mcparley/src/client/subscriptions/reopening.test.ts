import { expect, test, vi } from "vitest";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonRpcRequest } from "../../rpc/messages.ts";
import { httpTransports } from "../../http/client/transport.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { discoverResult, initializeResult, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import type { ScriptedPeer } from "../../testing/scripted-peer.ts";
import { type EventFeed, type SentRequest, fetchStub } from "mcparley-tests/support/fetch-stub.ts";
import type { Client } from "../client.ts";
import { openClient } from "../open-client.ts";
import type { ConnectOptions } from "../options.ts";
import type { ServerChange, Subscription } from "./subscription.ts";

const subscriptionId = "io.modelcontextprotocol/subscriptionId";

function acknowledge(peer: ScriptedPeer, { id, params }: JsonRpcRequest): void {
  const _meta = { [subscriptionId]: id };
  peer.notify("notifications/subscriptions/acknowledged", { notifications: params?.notifications, _meta });
}

interface RecordedClient {
  client: Client;
  clock: FakeClock;
  changes: ServerChange[];
  errors: Error[];
}

interface OnPeer extends RecordedClient {
  peer: ScriptedPeer;
  subscription: Subscription;
  /** The request of the subscription. */
  request: JsonRpcRequest;
}

/** Opens a subscription to tools on a modern peer over HTTP. Each of its requests can fail independently. */
async function onPeer(options: ConnectOptions = {}, peer = modernPeer()): Promise<OnPeer> {
  const clock = fakeClock();
  const changes: ServerChange[] = [];
  const errors: Error[] = [];
  const transports = Object.assign(peerTransports(peer), { kind: "http" as const });
  const client = await openClient(transports, { clock, onError: (error) => errors.push(error), ...options });
  const opening = client.listen({ tools: true }, (change) => changes.push(change));
  const request = await peer.request("subscriptions/listen");
  acknowledge(peer, request);
  return { client, clock, changes, errors, peer, subscription: await opening, request };
}

interface OnHttp extends RecordedClient {
  subscription: Subscription;
  next: () => Promise<SentRequest>;
  waiting: () => number;
  /** Accepts the next request as a subscription. */
  accept: () => Promise<EventFeed>;
  feed: EventFeed;
}

/** Opens a subscription to tools on a modern server over HTTP. */
async function onHttp(): Promise<OnHttp> {
  const clock = fakeClock();
  const changes: ServerChange[] = [];
  const errors: Error[] = [];
  const { fetch, next, waiting } = fetchStub();
  const target = httpTransports({ url: `https://${crypto.randomUUID()}.example/mcp`, fetch, clock });
  const connecting = openClient(target, { clock, onError: (error) => errors.push(error) });
  const discover = await next();
  discover.json({ jsonrpc: "2.0", id: discover.body.id, result: discoverResult() });
  const client = await connecting;
  const accept = async (): Promise<EventFeed> => {
    const { body, stream } = await next();
    expect(body.method).toBe("subscriptions/listen");
    const feed = stream();
    feed.event({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { toolsListChanged: true }, _meta: { [subscriptionId]: body.id } },
    });
    await flushPromises();
    return feed;
  };
  const opening = client.listen({ tools: true }, (change) => changes.push(change));
  const feed = await accept();
  return { client, clock, changes, errors, subscription: await opening, next, waiting, accept, feed };
}

const graceful: [string, (peer: ScriptedPeer, request: JsonRpcRequest) => void][] = [
  ["its result", (peer, request) => peer.answer(request, { resultType: "complete" })],
  ["a cancellation", (peer, { id }) => peer.notify("notifications/cancelled", { requestId: id })],
];

test.each(graceful)(
  "a subscription that the server ends with %s is reopened, and the gap is reported",
  async (_, end) => {
    const { client, clock, changes, errors, peer, request } = await onPeer();
    end(peer, request);
    await flushPromises();
    expect(client.state).toBe("reconnecting");
    expect(errors.map(({ message }) => message)).toEqual(["The server ended the subscription."]);
    await clock.advance(500);
    const again = (await peer.next()) as JsonRpcRequest;
    acknowledge(peer, again.method === "notifications/cancelled" ? await peer.request("subscriptions/listen") : again);
    await flushPromises();
    expect(changes).toEqual([{ kind: "tools" }]);
    expect(client.state).toBe("open");
  },
);

const bodies: [string, (hit: SentRequest, status: number) => void][] = [
  ["no body", (hit, status) => hit.status(status, { "retry-after": "7" })],
  [
    "a JSON-RPC error",
    (hit, status) => {
      const headers = { "content-type": "application/json", "retry-after": "7" };
      const error = { code: -32_000, message: "busy" };
      hit.json({ jsonrpc: "2.0", id: hit.body.id, error }, { status, headers });
    },
  ],
];

test.each(
  [408, 429, 502, 503, 504].flatMap((status) => bodies.map(([name, refuse]) => [status, name, refuse] as const)),
)("a subscription that is refused with %i and %s is requested again after Retry-After", async (status, _, refuse) => {
  const { clock, changes, errors, feed, next, waiting, accept } = await onHttp();
  feed.break();
  await clock.advance(500);
  for (let time = 0; time < 3; time++) {
    refuse(await next(), status);
    await clock.advance(6_999);
    expect(waiting()).toBe(0);
    await clock.advance(701);
    expect(waiting()).toBe(1);
  }
  await accept();
  expect(changes).toEqual([{ kind: "tools" }]);
  expect(errors).toHaveLength(1);
});

test("a subscription that the server accepts and ends immediately is reopened ten times, with increasing delays", async () => {
  const { clock, errors, peer, request, subscription } = await onPeer();
  const at: number[] = [];
  let last = request;
  peer.answer(last, { resultType: "complete" });
  for (let time = 0; time < 10; time++) {
    const asked = peer.request("subscriptions/listen");
    await clock.advance(30_000);
    at.push(clock.now());
    last = await asked;
    acknowledge(peer, last);
    peer.answer(last, { resultType: "complete" });
    await flushPromises();
  }
  expect(await subscription.closed).toMatchObject({
    code: "closed",
    message: expect.stringContaining("The server ended the subscription."),
  });
  expect(errors.at(-1)).toBe(await subscription.closed);
  expect(clock.pending).toBe(0);
});

test("changes of one subscription do not restore the attempts of another", async () => {
  const { client, clock, peer, request, subscription } = await onPeer();
  const opening = client.listen({ prompts: true }, () => {});
  const steady = await peer.request("subscriptions/listen");
  acknowledge(peer, steady);
  await opening;
  peer.answer(request, { resultType: "complete" });
  for (let time = 0; time < 10; time++) {
    const asked = peer.request("subscriptions/listen");
    await clock.advance(30_000);
    peer.notify("notifications/prompts/list_changed", { _meta: { [subscriptionId]: steady.id } });
    const again = await asked;
    acknowledge(peer, again);
    peer.answer(again, { resultType: "complete" });
    await flushPromises();
  }
  expect(await subscription.closed).toMatchObject({ code: "closed" });
});

test("20 rolling restarts lose no change", async () => {
  const { client, clock, changes, errors, subscription, next, accept, ...first } = await onHttp();
  let { feed } = first;
  for (let restart = 0; restart < 20; restart++) {
    changes.length = 0;
    feed.event({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "other" } });
    feed.end();
    // The process is gone, then a proxy answers, then the next process starts.
    await clock.advance(500);
    (await next()).fail(new TypeError("fetch failed"));
    await clock.advance(1_000);
    (await next()).status(503, { "retry-after": "1" });
    await clock.advance(2_000);
    feed = await accept();
    expect(changes).toEqual([{ kind: "tools" }]);
    expect(client.state).toBe("open");
    await clock.advance(2_000);
  }
  expect(errors).toHaveLength(20);
  let isClosed = false;
  void subscription.closed.then(() => (isClosed = true));
  await flushPromises();
  expect(isClosed).toBe(false);
  await subscription.close();
});

test.each([5_000, 29_000, 59_000])(
  "a subscription that a proxy interrupts every %i ms is always reopened",
  async (ms) => {
    const { client, clock, changes, accept, ...first } = await onHttp();
    let { feed } = first;
    for (let cut = 1; cut <= 50; cut++) {
      await clock.advance(ms);
      feed.break();
      await clock.advance(500);
      feed = await accept();
      expect(changes).toHaveLength(cut);
    }
    expect(client.state).toBe("open");
  },
);

test("lists that were cached before a gap are requested again", async () => {
  const lists = vi.fn(() => ({ resultType: "complete", tools: [], ttlMs: 3_600_000, cacheScope: "public" }));
  const peer = modernPeer({ answers: { "tools/list": lists } });
  const { client, clock, request } = await onPeer({}, peer);
  await client.listTools().all();
  await client.listTools().all();
  expect(lists).toHaveBeenCalledTimes(1);
  peer.fail(request, new LocalError("closed", "broke"));
  await clock.advance(500);
  acknowledge(peer, await peer.request("subscriptions/listen"));
  await flushPromises();
  await client.listTools().all();
  expect(lists).toHaveBeenCalledTimes(2);
});

test("a rejection of onChange is reported", async () => {
  const errors: Error[] = [];
  const peer = modernPeer();
  const client = await openClient(peerTransports(peer), { onError: (error) => errors.push(error) });
  const opening = client.listen({ tools: true }, () => Promise.reject(new Error("mine")) as never);
  acknowledge(peer, await peer.request("subscriptions/listen"));
  await opening;
  peer.notify("notifications/tools/list_changed");
  await flushPromises();
  expect(errors.map(({ message }) => message)).toEqual(["mine"]);
});

test("closed resolves without a reason when the subscription or the client is closed", async () => {
  const one = await onPeer();
  await one.subscription.close();
  expect(await one.subscription.closed).toBeUndefined();
  const two = await onPeer();
  await two.client.close();
  expect(await two.subscription.closed).toBeUndefined();
  expect([...one.errors, ...two.errors]).toEqual([]);
});

test("the total limit of listen includes the time to open a session", async () => {
  const { fetch, next } = fetchStub();
  const clock = fakeClock();
  const client = await connectLegacy(fetch, next, clock);
  const refused = client.callTool("a").catch((error: unknown) => error);
  (await next()).status(404);
  await next(); // The client opens a new session, and the server is silent.
  const listening = client.listen({ tools: true }, () => {}, { timeout: { total: 3_000 } });
  const outcome = listening.catch((error: unknown) => error);
  await clock.advance(3_000);
  expect(await outcome).toMatchObject({ code: "timeout", message: expect.stringContaining("3000 ms in total") });
  await client.close();
  await refused;
});

test("the total limit of the client applies to listen", async () => {
  const clock = fakeClock();
  const peer = modernPeer();
  const client = await openClient(peerTransports(peer), { clock, timeout: { total: 2_000 } });
  const outcome = client.listen({ tools: true }, () => {}).catch((error: unknown) => error);
  await peer.request("subscriptions/listen");
  await clock.advance(2_000);
  expect(await outcome).toMatchObject({ code: "timeout" });
  expect(clock.pending).toBe(0);
});

/** Connects to a legacy server over HTTP that offers no standalone stream. */
async function connectLegacy(
  fetch: typeof globalThis.fetch,
  next: () => Promise<SentRequest>,
  clock: FakeClock,
): Promise<Client> {
  const target = httpTransports({ url: `https://${crypto.randomUUID()}.example/mcp`, fetch, clock });
  const connecting = openClient(target, { clock, revision: "2025-11-25" });
  await openLegacySession(next);
  const client = await connecting;
  (await next()).status(405);
  await flushPromises();
  return client;
}

async function openLegacySession(next: () => Promise<SentRequest>): Promise<void> {
  const initialize = await next();
  const headers = { "content-type": "application/json", "mcp-session-id": "s" };
  initialize.json({ jsonrpc: "2.0", id: initialize.body.id, result: initializeResult() }, { headers });
  (await next()).status(202);
}

test("a server that is replaced by a legacy version keeps its subscribers", async () => {
  const { client, clock, changes, feed, next } = await onHttp();
  feed.end();
  await clock.advance(500);
  const { body, json } = await next();
  const notFound = { jsonrpc: "2.0", id: body.id, error: { code: -32_601, message: "Method not found" } };
  json(notFound, { status: 404 });
  // The first request asks whether the server has changed, the second opens the next session.
  for (let time = 0; time < 2; time++) {
    const discover = await next();
    expect(discover.body.method).toBe("server/discover");
    discover.json({ ...notFound, id: discover.body.id }, { status: 400 });
  }
  await openLegacySession(next);
  await flushPromises();
  expect(changes).toEqual([{ kind: "tools" }]);
  expect(client.server.revisionKind).toBe("legacy");
  const standalone = await next();
  expect(standalone.method).toBe("GET");
  standalone.stream().event({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  await flushPromises();
  expect(changes).toHaveLength(2);
});

test("a method that the server refuses ends the subscription if its revision has not changed", async () => {
  const { clock, feed, next, waiting, subscription, errors } = await onHttp();
  feed.end();
  while (waiting() === 0) await clock.advance(500);
  const listen = await next();
  listen.json({ jsonrpc: "2.0", id: listen.body.id, error: { code: -32_601, message: "no" } }, { status: 404 });
  const discover = await next();
  discover.json({ jsonrpc: "2.0", id: discover.body.id, result: discoverResult() });
  expect(await subscription.closed).toMatchObject({ cause: { code: -32_601 } });
  expect(errors.at(-1)).toBe(await subscription.closed);
});

test("a lost session is replaced once at a time, also if every session is lost immediately", async () => {
  const clock = fakeClock();
  const { fetch, next, waiting } = fetchStub();
  const client = await connectLegacy(fetch, next, clock);
  const outcome = client.listen({ uris: ["a:b"] }, () => {}).catch((error: unknown) => error);
  for (let time = 0; time < 2; time++) {
    let hit = await next();
    while (hit.body.method !== "resources/subscribe") {
      const headers = { "content-type": "application/json", "mcp-session-id": "s" };
      if (hit.body.method === "initialize")
        hit.json({ jsonrpc: "2.0", id: hit.body.id, result: initializeResult() }, { headers });
      else hit.status(hit.method === "GET" ? 405 : 202);
      hit = await next();
    }
    hit.status(404);
    await flushPromises();
  }
  expect(await outcome).toMatchObject({ code: "session_lost" });
  await flushPromises();
  for (let rest = waiting(); rest > 0; rest--) expect((await next()).method).not.toBe("POST");
});

/** Counts the reactions of each promise (without those of `await`) and the listeners of each signal, while `run` runs. */
async function countReactions(run: () => Promise<void>): Promise<{ reactions: number; listeners: number }> {
  const reactions = new Map<unknown, number>();
  const listeners = new Map<unknown, number>();
  const count = (counts: Map<unknown, number>, key: unknown, by: number): void =>
    void counts.set(key, (counts.get(key) ?? 0) + by);
  const promise = Promise.prototype as { then: (...given: never[]) => unknown };
  const signal = AbortSignal.prototype as unknown as Record<
    "addEventListener" | "removeEventListener",
    typeof promise.then
  >;
  const { then } = promise;
  const { addEventListener, removeEventListener } = signal;
  const counted = (call: typeof then, counts: Map<unknown, number>, by: number): typeof then =>
    function (this: unknown, ...given) {
      count(counts, this, by);
      return call.apply(this as never, given);
    };
  Reflect.set(promise, "then", counted(then, reactions, 1));
  signal.addEventListener = counted(addEventListener, listeners, 1);
  signal.removeEventListener = counted(removeEventListener, listeners, -1);
  try {
    await run();
  } finally {
    Reflect.set(promise, "then", then);
    Object.assign(signal, { addEventListener, removeEventListener });
  }
  const most = (counts: Map<unknown, number>): number => [...counts.values()].reduce((a, b) => Math.max(a, b), 0);
  return { reactions: most(reactions), listeners: most(listeners) };
}

test.each(["2026-07-28", "2025-11-25"])(
  "2,000 subscriptions leave no listeners or promise reactions on the connection (%s)",
  async (revision) => {
    const { createServer } = await import("../../server/create-server.ts");
    const { resource } = await import("../../server/definition.ts");
    const { serverTransports } = await import("../connect/transports.ts");
    const server = createServer({
      name: "s",
      version: "1",
      resources: { n: resource("note://a", { read: () => "x" }) },
    });
    const client = await openClient(serverTransports(server), { revision });
    const { signal } = new AbortController();
    const once = async (): Promise<void> => (await client.listen({ uris: ["note://a"] }, () => {}, { signal })).close();
    const counted = await countReactions(async () => {
      for (let time = 0; time < 2_000; time++) await once();
    });
    expect(counted).toEqual({
      reactions: expect.toSatisfy((most: number) => most < 10),
      listeners: expect.toSatisfy((most: number) => most < 10),
    });
    await client.close();
  },
);
