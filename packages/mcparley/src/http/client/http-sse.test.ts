import { afterEach, describe, expect, test } from "vitest";
import type { Client } from "../../client/client.ts";
import { forgetRevisions } from "../../client/connect/remembered-revisions.ts";
import { openClient } from "../../client/open-client.ts";
import type { ConnectOptions } from "../../client/options.ts";
import type { ServerChange } from "../../client/subscriptions/subscription.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { until } from "mcparley-tests/support/http-talk.ts";
import { type EventFeed, type FetchStub, type SentRequest, fetchStub } from "mcparley-tests/support/fetch-stub.ts";
import { httpTransports } from "./transport.ts";
import type { HttpTarget } from "./settings.ts";

afterEach(forgetRevisions);

const url = "https://old.example/sse";

interface Connecting {
  stub: FetchStub;
  clock: FakeClock;
  reports: Error[];
  client: Promise<Client>;
}

function connecting(options: ConnectOptions = {}, target: Partial<HttpTarget> = {}, stub = fetchStub()): Connecting {
  const clock = fakeClock();
  const reports: Error[] = [];
  const dialer = httpTransports({ url, fetch: stub.fetch, clock, ...target });
  const client = openClient(dialer, { clock, onError: (error) => reports.push(error), ...options });
  client.catch(() => {});
  return { stub, clock, reports, client };
}

/** Refuses `server/discover` and `initialize`, as a server with another transport at its URL does. */
async function refuseBoth(stub: FetchStub, refuse: (request: SentRequest) => void): Promise<void> {
  for (const method of ["server/discover", "initialize"]) {
    const request = await stub.next();
    expect(request.method).toBe("POST");
    expect(request.body.method).toEqual(method);
    refuse(request);
  }
}

async function openStream(stub: FetchStub, endpoint = "/messages?sessionId=1"): Promise<[EventFeed, SentRequest]> {
  const get = await stub.next();
  expect(get.method).toBe("GET");
  expect(get.url).toEqual(url);
  expect(get.headers.get("accept")).toBe("text/event-stream");
  const feed = get.stream();
  feed.raw(`event: endpoint\ndata: ${endpoint}\n\n`);
  return [feed, get];
}

const initializeResult = {
  protocolVersion: "2024-11-05",
  capabilities: { tools: { listChanged: true }, resources: {} },
  serverInfo: { name: "old", version: "1" },
};

/** Accepts a POST. Sends a response on the stream if `result` is given. */
async function take(stub: FetchStub, feed: EventFeed, method: string, result?: JsonObject): Promise<SentRequest> {
  const post = await stub.next();
  expect(post.body.method).toBe(method);
  expect(post.url).toBe("https://old.example/messages?sessionId=1");
  expect(post.headers.get("content-type")).toBe("application/json");
  post.status(202);
  if (result) feed.event({ jsonrpc: "2.0", id: post.body.id, result });
  return post;
}

async function handshake(stub: FetchStub): Promise<EventFeed> {
  const [feed] = await openStream(stub);
  await take(stub, feed, "initialize", initializeResult);
  await take(stub, feed, "notifications/initialized");
  return feed;
}

const notAllowed = (request: SentRequest): void => request.text("Method Not Allowed", { status: 405 });

describe("a server of 2024-11-05 is detected", () => {
  test.each([
    ["405", notAllowed],
    ["404", (request: SentRequest) => request.text("Cannot POST /sse", { status: 404 })],
    ["400", (request: SentRequest) => request.text("Bad Request", { status: 400 })],
    [
      "400 with an error that is not modern",
      (request: SentRequest) =>
        request.json({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "no" } }, { status: 400 }),
    ],
  ])("if initialize is refused with %s", async (_, refuse) => {
    const { stub, client } = connecting();
    await refuseBoth(stub, refuse);
    const feed = await handshake(stub);
    const { server } = await client;
    expect(server).toMatchObject({ revisionKind: "legacy", revision: "2024-11-05", info: { name: "old" } });
    const calling = (await client).callTool("add");
    await take(stub, feed, "tools/call", { content: [{ type: "text", text: "3" }] });
    expect(await calling).toBe("3");
  });

  test("and remembered: the next connection starts with its stream", async () => {
    const { stub, client } = connecting();
    await refuseBoth(stub, notAllowed);
    await handshake(stub);
    await client;
    const again = connecting({}, {}, stub);
    await handshake(stub);
    expect((await again.client).server.revision).toBe("2024-11-05");
  });

  test("and forgotten when it is replaced: the revision is negotiated again", async () => {
    const { stub, client } = connecting();
    await refuseBoth(stub, notAllowed);
    await handshake(stub);
    await client;
    const again = connecting({}, {}, stub);
    (await stub.next()).status(405);
    const initialize = await stub.next();
    initialize.status(400);
    (await stub.next()).status(405);
    const discover = await stub.next();
    expect(discover.body.method).toBe("server/discover");
    const result = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {}, ttlMs: 0 };
    discover.json({ jsonrpc: "2.0", id: discover.body.id, result: { ...result, cacheScope: "public" } });
    expect((await again.client).server.revisionKind).toBe("modern");
  });

  test("with its pinned revision, and not with a modern one", async () => {
    const { stub, client } = connecting({ revision: "2024-11-05" });
    notAllowed(await stub.next());
    await handshake(stub);
    expect((await client).server.revision).toBe("2024-11-05");
    const pinned = connecting({ revision: "2026-07-28" }, {}, stub);
    notAllowed(await stub.next());
    await expect(pinned.client).rejects.toMatchObject({ code: "http" });
    expect(stub.waiting()).toBe(0);
  });

  test("with a later revision over its transport if the server answers with it", async () => {
    const { stub, client } = connecting();
    await refuseBoth(stub, notAllowed);
    const [feed] = await openStream(stub);
    const initialize = await take(stub, feed, "initialize", { ...initializeResult, protocolVersion: "2025-06-18" });
    expect(initialize.body).toMatchObject({ params: { protocolVersion: "2025-11-25" } });
    await take(stub, feed, "notifications/initialized");
    expect((await client).server.revision).toBe("2025-06-18");
  });
});

describe("a server of 2024-11-05 is not searched for", () => {
  const modern = (code: number, status: number) => (request: SentRequest) =>
    request.json({ jsonrpc: "2.0", id: request.body.id, error: { code, message: "no", data: {} } }, { status });

  test.each([
    ["another status", (request: SentRequest) => request.text("oops", { status: 422 })],
    ["an error with status 200", modern(-32000, 200)],
    ["a method that a modern server lacks", modern(-32601, 404)],
  ])("after %s", async (_, refuse) => {
    const { stub, client } = connecting();
    await refuseBoth(stub, refuse);
    await expect(client).rejects.toThrow();
    expect(stub.waiting()).toBe(0);
  });

  test("after a modern error", async () => {
    const { stub, client } = connecting({ revision: "2025-11-25" });
    modern(-32022, 400)(await stub.next());
    await expect(client).rejects.toMatchObject({ code: "unsupported_revision" });
    expect(stub.waiting()).toBe(0);
  });
});

describe("the first refusal is the error of a server without HTTP+SSE", () => {
  const cases: [string, (get: SentRequest, clock: FakeClock) => void | Promise<void>][] = [
    ["no stream", (get) => get.status(405)],
    ["a response that is not a stream", (get) => get.text("<html>", { headers: { "content-type": "text/html" } })],
    ["a stream that ends at once", (get) => get.stream().end()],
    ["a stream that begins with a message", (get) => get.stream().event({ jsonrpc: "2.0", method: "x" })],
    ["a redirect", (get) => get.status(302, { location: "https://elsewhere.example/" })],
    [
      "a stream that stays silent",
      async (get, clock) => {
        get.stream();
        await clock.advance(10_000);
      },
    ],
    ["a server that does not answer", (_, clock) => clock.advance(10_000)],
  ];

  test.each(cases)("%s", async (_, answer) => {
    const { stub, clock, client } = connecting();
    await refuseBoth(stub, notAllowed);
    const get = await stub.next();
    await answer(get, clock);
    await expect(client).rejects.toMatchObject({ code: "http", data: { status: 405 } });
    await flushPromises();
    expect(clock.pending).toBe(0);
  });

  test("and a stream without an endpoint event is closed after ten seconds", async () => {
    const { stub, clock } = connecting();
    await refuseBoth(stub, notAllowed);
    const get = await stub.next();
    get.stream();
    await clock.advance(9_999);
    expect(get.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(get.signal.aborted).toBe(true);
  });
});

test.each([
  ["the connection breaks", (get: SentRequest) => get.fail(new TypeError("fetch failed")), { code: "closed" }],
  ["the stream breaks", (get: SentRequest) => get.stream().break(), { code: "closed" }],
  ["a proxy is busy", (get: SentRequest) => get.status(503, { "retry-after": "3" }), { data: { retryAfterMs: 3_000 } }],
])("rejects with the reason if %s each time that the stream is opened", async (_, answer, error) => {
  const { stub, clock, client } = connecting();
  await refuseBoth(stub, notAllowed);
  for (let attempts = 0; attempts < 4; attempts++) {
    const sent = stub.next();
    await until(sent, clock);
    answer(await sent);
  }
  await until(client, clock);
  await expect(client).rejects.toMatchObject(error);
});

describe("refusals", () => {
  test.each([
    "https://evil.example/messages",
    "http://old.example/messages",
    "https://old.example:444/messages",
    "//evil.example/messages",
    "https://user:secret@old.example/messages",
    "javascript:alert(1)",
    "https://",
  ])("no message is sent to an endpoint that is invalid or of another origin (%s)", async (endpoint) => {
    const { stub, client } = connecting({}, { headers: { authorization: "Bearer token" } });
    await refuseBoth(stub, notAllowed);
    const [, get] = await openStream(stub, endpoint);
    await expect(client).rejects.toThrow(/only sent to the origin of the target/);
    await client.catch((error: Error) => expect(error.message).not.toContain("secret"));
    expect(stub.waiting()).toBe(0);
    expect(get.signal.aborted).toBe(true);
  });

  test("a challenge for the stream rejects connecting", async () => {
    const { stub, client } = connecting();
    await refuseBoth(stub, notAllowed);
    (await stub.next()).status(401, { "www-authenticate": "Bearer" });
    await expect(client).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("connecting rejects with aborted if the caller aborts while the stream is opened", async () => {
    const controller = new AbortController();
    const { stub, client } = connecting({ signal: controller.signal });
    await refuseBoth(stub, notAllowed);
    const get = await stub.next();
    get.stream();
    controller.abort();
    await expect(client).rejects.toMatchObject({ code: "aborted" });
    expect(get.signal.aborted).toBe(true);
  });
});

describe("a session", () => {
  async function connected(
    options?: ConnectOptions,
    target?: Partial<HttpTarget>,
  ): Promise<Connecting & { feed: EventFeed }> {
    const opened = connecting(options, target);
    await refuseBoth(opened.stub, notAllowed);
    const feed = await handshake(opened.stub);
    await opened.client;
    return { ...opened, feed };
  }

  test("sends its headers and its authorization on the stream and on each POST", async () => {
    const auth = { headers: async () => ({ Authorization: "Bearer 1" }), challenged: async () => false };
    const { stub, client, feed } = await connected({}, { headers: { "X-Tenant": "a" }, auth });
    const listing = (await client).listTools().all();
    const post = await take(stub, feed, "tools/list", { tools: [] });
    await listing;
    expect(post.headers.get("x-tenant")).toBe("a");
    expect(post.headers.get("authorization")).toBe("Bearer 1");
  });

  test("answers the server's requests by POST", async () => {
    const sample = (): never => ({ role: "assistant", model: "m", content: { type: "text", text: "Hi" } }) as never;
    const { stub, feed } = await connected({ sample });
    feed.event({ jsonrpc: "2.0", id: 9, method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } });
    const answer = await stub.next();
    expect(answer.body).toMatchObject({ id: 9, result: { content: { text: "Hi" } } });
  });

  test.each([
    ["has lost the session", 404, 0, "The session has ended"],
    ["is unavailable for half a minute", 502, 35_000, "The server answered a response with 502"],
  ])("ends its calls if the server does not receive an answer, because it %s", async (_, status, ms, reason) => {
    const sample = (): never => ({ role: "assistant", model: "m", content: { type: "text", text: "Hi" } }) as never;
    const { stub, feed, clock, client } = await connected({ sample });
    const outcome = (await client).callTool("add").catch((error: unknown) => error);
    await take(stub, feed, "tools/call");
    feed.event({ jsonrpc: "2.0", id: 9, method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } });
    const refuse = async (): Promise<void> => {
      const request = await stub.next();
      if (request.method === "POST") request.status(status);
      return refuse();
    };
    void refuse();
    await clock.advance(ms);
    const message = expect.stringContaining(`did not receive the answer to its request: ${reason}`) as string;
    expect(await Promise.race([outcome, flushPromises()])).toMatchObject({ code: "closed", message });
  });

  test("sends no request before the server has accepted notifications/initialized", async () => {
    const { stub, client } = connecting();
    await refuseBoth(stub, notAllowed);
    const [feed] = await openStream(stub);
    await take(stub, feed, "initialize", initializeResult);
    const initialized = await stub.next();
    const listing = (await client).listTools().all();
    await flushPromises();
    expect(stub.waiting()).toBe(0);
    initialized.status(202);
    await take(stub, feed, "tools/list", { tools: [] });
    expect(await listing).toEqual([]);
  });

  test("sends requests after five seconds if notifications/initialized is not accepted", async () => {
    const { stub, clock, client } = connecting();
    await refuseBoth(stub, notAllowed);
    const [feed] = await openStream(stub);
    await take(stub, feed, "initialize", initializeResult);
    await stub.next();
    const listing = (await client).listTools().all();
    await clock.advance(5_000);
    await take(stub, feed, "tools/list", { tools: [] });
    expect(await listing).toEqual([]);
  });

  test.each<[string, (request: SentRequest) => void]>([
    ["404", (request) => request.status(404)],
    ["404 and text", (request) => request.text("Could not find session", { status: 404 })],
    ["410", (request) => request.status(410)],
    ["400 and a text about the session", (request) => request.text("Session ID not found.", { status: 400 })],
    [
      "400 and a JSON-RPC error",
      (request) =>
        request.json(
          { jsonrpc: "2.0", id: null, error: { code: -32602, message: "Invalid session ID" } },
          { status: 400 },
        ),
    ],
  ])("that the server has lost is replaced after %s, and the call is repeated", async (_, refuse) => {
    const { stub, client } = await connected();
    const calling = (await client).callTool("add");
    refuse(await stub.next());
    const feed = await handshake(stub);
    await take(stub, feed, "tools/call", { content: [{ type: "text", text: "3" }] });
    expect(await calling).toBe("3");
  });

  test("that was lost before notifications/initialized is replaced for a subscription", async () => {
    const { stub, client } = connecting();
    await refuseBoth(stub, notAllowed);
    const [feed] = await openStream(stub);
    await take(stub, feed, "initialize", initializeResult);
    const changes: unknown[] = [];
    const listening = (await client).listen({ tools: true }, (change) => changes.push(change));
    (await stub.next()).status(404);
    const next = await handshake(stub);
    await listening;
    await flushPromises();
    next.event({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    await flushPromises();
    expect(changes).toContainEqual({ kind: "tools" });
    expect((await client).state).toBe("open");
  });

  test("whose stream ends rejects its calls, and the next call opens another", async () => {
    const { stub, client, feed } = await connected();
    const calling = (await client).callTool("add");
    (await stub.next()).status(202);
    feed.end();
    await expect(calling).rejects.toMatchObject({ code: "closed" });
    const again = (await client).callTool("add");
    const other = await handshake(stub);
    await take(stub, other, "tools/call", { content: [{ type: "text", text: "4" }] });
    expect(await again).toBe("4");
  });

  test.each([5_000, 29_000, 59_000])("that a proxy cuts every %i ms keeps its subscribers", async (ms) => {
    const { stub, client, clock } = connecting();
    await refuseBoth(stub, notAllowed);
    let feed = await handshake(stub);
    const changes: ServerChange[] = [];
    await (await client).listen({ tools: true }, (change) => changes.push(change));
    for (let cut = 1; cut <= 30; cut++) {
      await clock.advance(ms);
      feed.break();
      while (stub.waiting() === 0) await clock.advance(500);
      feed = await handshake(stub);
      await flushPromises();
      expect(changes).toHaveLength(cut);
    }
    expect((await client).state).toBe("open");
  });

  test("stays open when a POST fails: only that call fails", async () => {
    const { stub, client, feed } = await connected();
    const first = (await client).callTool("a");
    const second = (await client).callTool("b");
    (await stub.next()).text("busy", { status: 503 });
    await take(stub, feed, "tools/call", { content: [{ type: "text", text: "b" }] });
    await expect(first).rejects.toMatchObject({ code: "http", data: { status: 503 } });
    expect(await second).toBe("b");
  });

  test("stays open after an event that is not JSON, which is reported", async () => {
    const { stub, client, feed, reports } = await connected();
    feed.raw("data: {nonsense\n\n");
    feed.raw("event: ping\ndata: now\n\n");
    const calling = (await client).callTool("a");
    await take(stub, feed, "tools/call", { content: [{ type: "text", text: "a" }] });
    expect(await calling).toBe("a");
    expect(reports).toMatchObject([{ code: "invalid_message" }]);
  });

  test("ends at an event over the size limit", async () => {
    const { stub, client, feed } = await connected({}, { limits: { message: 1_000 } });
    const calling = (await client).callTool("a");
    (await stub.next()).status(202);
    feed.event({ jsonrpc: "2.0", id: 0, result: { content: [{ type: "text", text: "x".repeat(2_000) }] } });
    const message = "The server sent an event of more than 1000 characters. Raise limits.message.";
    await expect(calling).rejects.toMatchObject({ code: "too_large", message });
  });

  test("stays open after the large reply to a cancelled read", async () => {
    const { stub, client, feed } = await connected();
    const abort = new AbortController();
    const reading = (await client).readResource("skill://a/b", { signal: abort.signal });
    const post = await stub.next();
    post.status(202);
    abort.abort();
    await expect(reading).rejects.toMatchObject({ code: "aborted" });
    await take(stub, feed, "notifications/cancelled");
    const large = "x".repeat(17_000_000);
    feed.event({ jsonrpc: "2.0", id: post.body.id, result: { contents: [{ uri: "skill://a/b", text: large }] } });
    const calling = (await client).callTool("a");
    await take(stub, feed, "tools/call", { content: [{ type: "text", text: "a" }] });
    expect(await calling).toBe("a");
    const failing = (await client).callTool("a");
    await take(stub, feed, "tools/call", { content: [{ type: "text", text: large }] });
    await expect(failing).rejects.toMatchObject({ code: "too_large" });
  });

  test("ends with its client", async () => {
    const { stub, client } = connecting();
    await refuseBoth(stub, notAllowed);
    const [feed, get] = await openStream(stub);
    await take(stub, feed, "initialize", initializeResult);
    await take(stub, feed, "notifications/initialized");
    await (await client).close();
    expect(get.signal.aborted).toBe(true);
    expect(stub.waiting()).toBe(0);
  });
});
