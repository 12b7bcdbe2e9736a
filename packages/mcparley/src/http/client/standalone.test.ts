import { describe, expect, test } from "vitest";
import type { SentRequest } from "mcparley-tests/support/fetch-stub.ts";
import { legacyTalk, nextGet } from "mcparley-tests/support/http-talk.ts";
import { flushPromises } from "../../testing/fake-clock.ts";

const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };

test("a 404 ends the session: the client opens a new one, subscribes again and reports the gap", async () => {
  const { client, clock, changes, errors, next, openSession } = await legacyTalk();
  const feed = (await nextGet(next)).stream();
  const opening = client.listen({ tools: true, uris: ["a:b"] }, (change) => changes.push(change));
  const subscribing = await next();
  subscribing.json({ jsonrpc: "2.0", id: subscribing.body.id, result: {} });
  await opening;
  feed.break();
  await flushPromises();
  expect(client.state).toBe("reconnecting");
  (await nextGet(next)).status(404);
  await flushPromises();
  expect(client.state).toBe("reconnecting");
  await openSession();
  // The stream and the subscription are opened at the same time.
  const hits = [await next(), await next()];
  const again = hits.find(({ method }) => method === "GET")?.stream();
  const resubscribing = hits.find(({ body }) => body.method === "resources/subscribe");
  expect(resubscribing?.headers.get("mcp-session-id")).toBe("s-2");
  resubscribing?.json({ jsonrpc: "2.0", id: resubscribing.body.id, result: {} });
  await flushPromises();
  expect(changes).toEqual([{ kind: "tools" }, { kind: "updated", uri: "a:b" }]);
  expect(client.state).toBe("open");
  expect(errors.map(({ message }) => message)).toContainEqual(expect.stringContaining("404 for GET"));
  again?.event(changed);
  await flushPromises();
  expect(changes).toHaveLength(3);
  expect(clock.pending).toBe(0);
});

test("a 404 without subscribers changes the state, and the next call opens a new session", async () => {
  const { client, next, openSession } = await legacyTalk();
  (await nextGet(next)).stream().break();
  (await nextGet(next)).status(404);
  await flushPromises();
  expect(client.state).toBe("reconnecting");
  const calling = client.ping();
  await openSession();
  const hits = [await next(), await next()];
  const ping = hits.find(({ body }) => body.method === "ping");
  ping?.json({ jsonrpc: "2.0", id: ping.body.id, result: {} });
  await calling;
  expect(client.state).toBe("open");
});

test("a server that answers 404 to every GET keeps its session", async () => {
  const { client, errors, next, waiting } = await legacyTalk();
  (await nextGet(next)).status(404);
  const check = await next();
  expect(check.method).toBe("POST");
  expect(check.body.method).toBe("ping");
  check.json({ jsonrpc: "2.0", id: check.body.id, result: {} });
  await flushPromises();
  expect(client.state).toBe("open");
  expect(waiting()).toBe(0);
  expect(errors.length).toBe(1);
});

test("a first GET that is answered with 404 loses the session if a ping is also answered with 404", async () => {
  const { client, next } = await legacyTalk();
  (await nextGet(next)).status(404);
  (await next()).status(404);
  await flushPromises();
  expect(client.state).toBe("reconnecting");
});

test("ten minutes of 503 do not end the stream while there are subscribers", async () => {
  const { client, clock, changes, errors, next, waiting } = await legacyTalk();
  const feed = (await nextGet(next)).stream();
  const subscription = await client.listen({ tools: true }, (change) => changes.push(change));
  feed.break();
  await flushPromises();
  let tries = 0;
  for (; clock.now() < 600_000; tries++) {
    (await nextGet(next)).status(503, { "retry-after": "20" });
    await clock.advance(20_000 - 500);
    expect(waiting()).toBe(0);
    expect(client.state).toBe("reconnecting");
  }
  expect(tries).toBeGreaterThan(20);
  expect(errors).toHaveLength(1);
  (await nextGet(next)).stream().event(changed);
  await flushPromises();
  expect(changes).toEqual([{ kind: "tools" }, { kind: "tools" }]);
  expect(client.state).toBe("open");
  await subscription.close();
});

test("lists that were cached before a break of the stream are requested again", async () => {
  const { client, next, waiting } = await legacyTalk();
  const feed = (await nextGet(next)).stream();
  const list = async (): Promise<void> => {
    const listing = client.listTools().all();
    const { body, json } = await next();
    json({ jsonrpc: "2.0", id: body.id, result: { tools: [], ttlMs: 3_600_000 } });
    await listing;
  };
  await list();
  await client.listTools().all();
  feed.break();
  (await nextGet(next)).stream();
  await flushPromises();
  await list();
  expect(waiting()).toBe(0);
});

test("a stream without subscribers stays closed after its last attempt, until listen reopens it", async () => {
  const { client, clock, changes, errors, next, waiting } = await legacyTalk();
  for (let time = 0; time < 11; time++) (await nextGet(next)).status(503);
  await flushPromises();
  expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining("could not be kept open")]);
  await clock.advance(3_600_000);
  expect(waiting()).toBe(0);
  expect(clock.pending).toBe(0);
  expect(client.state).toBe("open");
  await client.listen({ tools: true }, (change) => changes.push(change));
  expect(client.state).toBe("reconnecting");
  (await nextGet(next)).stream().event(changed);
  await flushPromises();
  expect(changes).toEqual([{ kind: "tools" }, { kind: "tools" }]);
  expect(client.state).toBe("open");
});

test("a response of the server reopens a stream that has been closed for a minute", async () => {
  const { client, clock, next, waiting } = await legacyTalk();
  for (let time = 0; time < 11; time++) (await nextGet(next)).stream().end();
  await flushPromises();
  const answer = async (): Promise<void> => {
    const calling = client.ping();
    const hit = await next();
    hit.json({ jsonrpc: "2.0", id: hit.body.id, result: {} });
    await calling;
  };
  await answer();
  expect(waiting()).toBe(0);
  await clock.advance(60_000);
  await answer();
  await nextGet(next);
});

test("a stream that the server does not offer is requested once, and a refusal is reported once", async () => {
  const quiet = await legacyTalk();
  (await nextGet(quiet.next)).status(405);
  const refusing = await legacyTalk();
  (await nextGet(refusing.next)).status(400);
  const check = await refusing.next();
  check.json({ jsonrpc: "2.0", id: check.body.id, result: {} });
  for (const { clock } of [quiet, refusing]) await clock.advance(3_600_000);
  expect(quiet.waiting()).toBe(0);
  expect(quiet.errors).toEqual([]);
  expect(refusing.waiting()).toBe(0);
  expect(refusing.errors).toEqual([expect.objectContaining({ code: "http" })]);
});

test("a stream stays closed after its last attempt if the last subscription has been closed", async () => {
  const { client, clock, next, waiting } = await legacyTalk();
  const subscription = await client.listen({ tools: true }, () => {});
  for (let time = 0; time < 15; time++) (await nextGet(next)).status(503);
  await flushPromises();
  await subscription.close();
  (await nextGet(next)).status(503);
  await clock.advance(3_600_000);
  expect(waiting()).toBe(0);
  expect(clock.pending).toBe(0);
});

test.each([5_000, 29_000, 59_000])(
  "a standalone stream that a proxy interrupts every %i ms is always reopened",
  async (ms) => {
    const { client, clock, errors, next } = await legacyTalk();
    for (let cut = 1; cut <= 50; cut++) {
      const feed = (await nextGet(next)).stream();
      await clock.advance(ms);
      feed.break();
      await flushPromises();
    }
    expect(errors).toEqual([]);
    expect(client.state).toBe("open");
  },
);

test("a stream that the server ends immediately with retry: 0 is opened at most four times a second", async () => {
  const { clock, next, waiting } = await legacyTalk();
  let gets = 0;
  for (const until = clock.now() + 20_000; clock.now() < until; await clock.advance(125)) {
    if (waiting() === 0) continue;
    const feed = (await nextGet(next)).stream();
    feed.raw("id: e1\nretry: 0\ndata: \n\n");
    feed.end();
    gets++;
  }
  expect(gets).toBeGreaterThan(20);
  expect(gets).toBeLessThanOrEqual(80);
});

test("an error of the sign-in does not start another sign-in in the background", async () => {
  const { client, clock, changes, next, waiting } = await legacyTalk();
  const feed = (await nextGet(next)).stream();
  const subscription = await client.listen({ tools: true }, (change) => changes.push(change));
  feed.break();
  (await nextGet(next)).status(401);
  expect(await subscription.closed).toMatchObject({ cause: { code: "unauthorized" } });
  await clock.advance(3_600_000);
  expect(waiting()).toBe(0);
});

describe("a client that answers input requests", () => {
  const elicit = (): { action: "decline" } => ({ action: "decline" });
  const isCall = ({ body }: SentRequest): boolean => body.method === "ping";

  test.each([
    ["opens it", (get: SentRequest) => void get.stream()],
    ["refuses it", (get: SentRequest) => get.status(405)],
    ["breaks the connection", (get: SentRequest) => get.fail(new TypeError("fetch failed"))],
  ])("sends its first request when the server %s, as some servers lose requests before that", async (_, answer) => {
    const { client, next, waiting } = await legacyTalk({ elicit });
    const calling = client.ping();
    const get = await nextGet(next);
    await flushPromises();
    expect(waiting()).toBe(0);
    answer(get);
    const ping = await next();
    expect(isCall(ping)).toBe(true);
    ping.json({ jsonrpc: "2.0", id: ping.body.id, result: {} });
    await calling;
  });

  test("sends its first request after a second if the server does not answer", async () => {
    const { client, clock, next, waiting } = await legacyTalk({ elicit });
    const calling = client.ping();
    await nextGet(next);
    await clock.advance(500);
    expect(waiting()).toBe(0);
    await clock.advance(500);
    const ping = await next();
    ping.json({ jsonrpc: "2.0", id: ping.body.id, result: {} });
    await calling;
  });
});

test("a client that answers no input requests does not wait for the stream", async () => {
  const { client, next } = await legacyTalk();
  const calling = client.ping();
  const hits = [await next(), await next()];
  const ping = hits.find(({ body }) => body.method === "ping");
  ping?.json({ jsonrpc: "2.0", id: ping.body.id, result: {} });
  await calling;
  expect(hits.map(({ method }) => method)).toContain("GET");
});
