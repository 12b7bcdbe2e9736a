import { describe, expect, test } from "vitest";
import { tool } from "../../server/definition.ts";
import type { AnyServerDefinition } from "../../server/core/options.ts";
import { rateLimit } from "../../server/observe/rate-limit.ts";
import { createServer } from "../../server/create-server.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { type FakeClock, fakeClock } from "../../testing/fake-clock.ts";
import { type RawAnswer, type RawHttp, rawHttp } from "mcparley-tests/support/raw-http.ts";
import type { HttpOptions } from "./options.ts";
import { toFetch } from "../fetch/to-fetch.ts";
import {
  type ServedHttp,
  echo,
  from,
  initialize,
  initialized,
  open,
  ping,
  protocolVersion,
  request,
  serve,
  statusOf,
  trustProxy,
} from "mcparley-tests/support/served-http.ts";

/** Returns an `initialize` request of which the session stores exactly `size` characters. */
function initializeOf(size: number): object {
  const kept = (title: string) => ({
    protocolVersion,
    capabilities: {},
    clientInfo: { name: "raw", version: "1", title },
  });
  const padding = size - JSON.stringify(kept("")).length;
  return request("initialize", kept("x".repeat(padding)));
}

const errorOf = async (answering: Promise<RawAnswer>) => (await (await answering).json()).error;

describe.each([
  ["in memory", () => ({})],
  ["in a store", () => ({ store: memoryStore() })],
])("a session %s", (_, where) => {
  const subscribe = (client: RawHttp, session: Record<string, string>, uri: string) =>
    client.post(request("resources/subscribe", { uri }), session);
  const isRefused = async (answering: Promise<RawAnswer>, limit: string): Promise<void> => {
    const error = await errorOf(answering);
    expect(error.code).toBe(-32602);
    expect(error.message).toContain(limit);
  };

  test("keeps at most 64 KiB of an initialize request", async () => {
    const { client } = serve({}, where());
    await open(client, initializeOf(65_536));
    const refused = await client.post(initializeOf(65_537));
    expect(refused.headers.get("mcp-session-id")).toBeNull();
    expect((await refused.json()).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/65537 characters.*65536.*limits\.sessionSize/) as string,
    });
  });

  test("counts the capabilities of its client", async () => {
    const { client } = serve({}, where());
    const capabilities = { experimental: { padding: { text: "x".repeat(65_536) } } };
    await isRefused(client.post(initialize({ name: "raw", version: "1" }, capabilities)), "limits.sessionSize");
  });

  test("counts the subscribed URIs until they are unsubscribed", async () => {
    const { client } = serve({}, { ...where(), limits: { sessionSize: 1000 } });
    const session = await open(client, initializeOf(980));
    const [first, second] = [`note://${"a".repeat(6)}`, `note://${"b".repeat(7)}`] as const;
    expect(await statusOf(subscribe(client, session, first))).toBe(200);
    await isRefused(subscribe(client, session, second), "limits.sessionSize");
    await statusOf(client.post(request("resources/unsubscribe", { uri: first }), session));
    expect(await errorOf(subscribe(client, session, second))).toBeUndefined();
  });

  test("has at most 1,000 subscriptions, each of at most 2,048 characters", async () => {
    const { client } = serve({}, { ...where(), limits: { sessionSize: 1_000_000 } });
    const session = await open(client);
    for (let id = 0; id < 999; id++) await statusOf(subscribe(client, session, `note://${id}`));
    await isRefused(subscribe(client, session, `note://${"x".repeat(2042)}`), "limits.uriLength");
    expect(await errorOf(subscribe(client, session, `note://${"x".repeat(2041)}`))).toBeUndefined();
    await isRefused(subscribe(client, session, "note://one-more"), "limits.subscriptions");
    expect(await errorOf(subscribe(client, session, "note://7"))).toBeUndefined();
    await statusOf(client.post(request("resources/unsubscribe", { uri: "note://7" }), session));
    expect(await errorOf(subscribe(client, session, "note://one-more"))).toBeUndefined();
  });

  test("is not subscribed to a resource whose subscription was refused", async () => {
    const { client, server } = serve({}, { ...where(), limits: { subscriptions: 1 } });
    const session = await open(client);
    await client.post(initialized, session);
    await statusOf(subscribe(client, session, "note://1"));
    await isRefused(subscribe(client, session, "note://2"), "limits.subscriptions");
    const stream = await client.send({ method: "GET", headers: session });
    server.resources.updated("note://2");
    server.resources.updated("note://1");
    let block: string | undefined;
    do block = await stream.block();
    while (block !== undefined && !block.includes("resources/updated"));
    expect(block).toContain('"note://1"');
    await stream.leave();
  });
});

describe("a subscriptions/listen stream", () => {
  const uris = (count: number) => Array.from({ length: count }, (_, id) => `note://${id}`);
  const listen = (client: RawHttp, resourceSubscriptions: string[], headers = {}) =>
    client.modern("subscriptions/listen", { notifications: { resourceSubscriptions } }, { headers });

  test("has at most 1,000 subscriptions, each of at most 2,048 characters", async () => {
    const { client } = serve();
    const opened = await listen(client, uris(1000));
    expect(opened.type).toBe("text/event-stream");
    await opened.leave();
    expect((await errorOf(listen(client, uris(1001)))).message).toContain("limits.subscriptions");
    const longest = await listen(client, [`note://${"x".repeat(2041)}`]);
    expect(longest.type).toBe("text/event-stream");
    await longest.leave();
    expect((await errorOf(listen(client, [`note://${"x".repeat(2042)}`]))).message).toContain("limits.uriLength");
  });

  test("keeps at most 64 KiB of URIs", async () => {
    const { client } = serve();
    const long = (count: number, last: number) =>
      Array.from({ length: count }, (_, id) => `note://${String(id).padEnd(id === count - 1 ? last : 2041, "x")}`);
    const opened = await listen(client, long(32, 2041));
    expect(opened.type).toBe("text/event-stream");
    await opened.leave();
    expect((await errorOf(listen(client, long(33, 1)))).message).toContain("limits.sessionSize");
  });
});

/** A caller with `authorization: alice` is the principal alice. */
const auth: HttpOptions["auth"] = (head) => {
  const subject = head.header("authorization");
  return subject ? { issuer: "https://issuer.example", subject, scopes: [] } : undefined;
};

type Session = Record<string, string>;

/** Opens a session and uses it. */
async function ready(client: RawHttp, headers: Record<string, string>): Promise<Session> {
  const session = await open(client, initialize(), headers);
  expect(await statusOf(client.post(initialized, session))).toBe(202);
  return session;
}

const isOpen = async (client: RawHttp, session: Session = {}): Promise<boolean> =>
  (await statusOf(client.post(ping, session))) === 200;

describe.each([
  ["in memory", () => ({})],
  ["with a store", (clock: FakeClock) => ({ store: memoryStore({ clock }) })],
])("sessions %s", (_, where) => {
  const serveFull = (max: number, definition: Partial<AnyServerDefinition> = {}): ServedHttp => {
    const clock = fakeClock();
    return serve({ sessions: { max }, trustProxy, auth }, { ...definition, ...where(clock) }, clock);
  };

  test("a flood of initialize requests from one address displaces no session of other callers", async () => {
    const { client } = serveFull(20);
    const others = await Promise.all([1, 2, 3].map((host) => ready(client, from(`192.0.2.${host}`))));
    for (let count = 0; count < 100; count++) await open(client, initialize(), from("203.0.113.66"));
    for (const session of others) expect(await isOpen(client, session)).toBe(true);
    const late = await ready(client, from("192.0.2.4"));
    for (let count = 0; count < 100; count++) await open(client, initialize(), from("203.0.113.66"));
    expect(await isOpen(client, late)).toBe(true);
  });

  test("the oldest newcomer of the caller with the most newcomers is displaced first", async () => {
    const { client } = serveFull(4);
    const used = await ready(client, from("192.0.2.1"));
    const single = await open(client, initialize(), from("192.0.2.2"));
    const older = await open(client, initialize(), from("192.0.2.3"));
    const newer = await open(client, initialize(), from("192.0.2.3"));
    await ready(client, from("192.0.2.4"));
    expect(await isOpen(client, older)).toBe(false);
    for (const session of [used, single, newer]) expect(await isOpen(client, session)).toBe(true);
  });

  test("all sessions together keep at most sessions.totalSize characters", async () => {
    const clock = fakeClock();
    const { client } = serve({ sessions: { totalSize: 3_000 }, trustProxy }, where(clock), clock);
    const flooded = () => open(client, initializeOf(900), from("203.0.113.66"));
    // One after another: with a store, concurrent requests can create their sessions in any order.
    const [first, second, third] = [await flooded(), await flooded(), await flooded()];
    const fitting = await open(client, initializeOf(300), from("192.0.2.1"));
    const more = await open(client, initializeOf(300), from("192.0.2.2"));
    expect(await isOpen(client, first)).toBe(false);
    for (const session of [second, third, fitting, more]) expect(await isOpen(client, session)).toBe(true);
  });

  test("a flood from many addresses of one IPv6 prefix counts as one caller", async () => {
    const { client } = serveFull(4);
    const used = await open(client, initialize(), from("2001:db8:0:1::1"));
    for (let host = 1; host < 20; host++) await open(client, initialize(), from(`2001:db8:0:2::${host}`));
    expect(await isOpen(client, used)).toBe(true);
  });

  test("a caller cannot displace sessions of callers that have fewer", async () => {
    const { client } = serveFull(3);
    const other = await open(client, initialize(), from("192.0.2.1"));
    const own = [await ready(client, from("192.0.2.2")), await ready(client, from("192.0.2.2"))];
    await open(client, initialize(), from("192.0.2.2"));
    expect(await isOpen(client, other)).toBe(true);
    expect(await isOpen(client, own[1])).toBe(true);
  });

  test("anonymous callers do not displace the sessions of principals", async () => {
    const { client } = serveFull(3);
    const alice = await ready(client, { authorization: "alice" });
    const bob = await ready(client, { authorization: "bob" });
    for (let host = 1; host < 20; host++) await ready(client, from(`192.0.2.${host}`));
    expect(await isOpen(client, alice)).toBe(true);
    expect(await isOpen(client, bob)).toBe(true);
  });

  test("the principal with the most sessions loses one to a principal with fewer, and not to one with the same number", async () => {
    const { client, clock } = serveFull(4);
    const alice = [];
    for (let count = 0; count < 4; count++) alice.push(await ready(client, { authorization: "alice" }));
    const bob = [await ready(client, { authorization: "bob" }), await ready(client, { authorization: "bob" })];
    await clock.advance(10_001);
    for (const session of [...alice.slice(2), ...bob]) expect(await isOpen(client, session)).toBe(true);
    const refused = await client.post(initialize(), { authorization: "bob" });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("60");
    expect((await refused.json()).error.message).toContain("sessions.max");
    for (const session of bob) expect(await isOpen(client, session)).toBe(true);
    expect(await isOpen(client, alice[3])).toBe(true);
  });

  test("a caller that keeps all sessions busy loses one to another caller", async () => {
    const { client } = serveFull(3);
    const busy: RawAnswer[] = [];
    for (let count = 0; count < 3; count++) {
      const session = await ready(client, from("203.0.113.66"));
      busy.push(await client.send({ method: "GET", headers: session }));
    }
    await open(client, initialize(), from("192.0.2.1"));
    const [first] = busy;
    let block: string | undefined;
    do block = await first?.block();
    while (block !== undefined);
    for (const stream of busy.slice(1)) await stream.leave();
  });

  test("ends a session whose client sends nothing for 30 s after initialize", async () => {
    const { client, clock } = serveFull(10);
    const early = await open(client);
    await clock.advance(10_000);
    const late = await open(client);
    const used = await open(client);
    await statusOf(client.post(ping, used));
    await clock.advance(19_999);
    const watching = await open(client);
    const stream = await client.send({ method: "GET", headers: watching });
    await clock.advance(1);
    expect(await isOpen(client, early)).toBe(false);
    await clock.advance(10_000);
    expect(await isOpen(client, late)).toBe(false);
    await clock.advance(60_000);
    expect(await isOpen(client, used)).toBe(true);
    expect(await isOpen(client, watching)).toBe(true);
    await stream.leave();
  });
});

describe("sessions in memory", () => {
  test("subscriptions count for the total size, and displace other sessions of the same caller", async () => {
    const { client } = serve({ sessions: { totalSize: 4_100 }, trustProxy });
    const other = await ready(client, from("192.0.2.1"));
    const [idle, growing] = [await ready(client, from("203.0.113.66")), await ready(client, from("203.0.113.66"))];
    for (let count = 0; count < 5; count++) {
      if (count === 4) expect(await isOpen(client, growing)).toBe(true);
      const uri = `note://${"x".repeat(950)}${count}`;
      expect((await client.post(request("resources/subscribe", { uri }), growing)).status).toBe(200);
    }
    // The growing session alone exceeds the total size, so it is displaced after the idle one.
    for (const session of [idle, growing]) expect(await isOpen(client, session)).toBe(false);
    expect(await isOpen(client, other)).toBe(true);
  });

  test("the longest idle session of the network with the most is displaced, unless it is busy", async () => {
    const { client, clock } = serve({ sessions: { max: 4 }, trustProxy });
    const [busy, idle, fresh] = [
      await ready(client, from("192.0.2.1")),
      await ready(client, from("192.0.2.1")),
      await ready(client, from("192.0.2.1")),
    ];
    const other = await ready(client, from("192.0.2.2"));
    const stream = await client.send({ method: "GET", headers: busy });
    await clock.advance(1000);
    await statusOf(client.post(ping, fresh));
    await ready(client, from("192.0.2.3"));
    expect(await isOpen(client, idle)).toBe(false);
    for (const session of [busy, fresh, other]) expect(await isOpen(client, session)).toBe(true);
    await stream.leave();
  });

  test("an unused session ends after sessions.handshake", async () => {
    const { client, clock } = serve({ sessions: { handshake: 500 } });
    const session = await open(client);
    await clock.advance(499);
    expect(await isOpen(client, session)).toBe(true);
    const unused = await open(client);
    await clock.advance(500);
    expect(await isOpen(client, unused)).toBe(false);
  });

  test("ignores the header of a proxy without trustProxy", async () => {
    const { client } = serve({ sessions: { max: 2 } });
    const first = await open(client, initialize(), from("192.0.2.1"));
    await open(client, initialize(), from("203.0.113.66"));
    await open(client, initialize(), from("203.0.113.66"));
    expect(await isOpen(client, first)).toBe(false);
  });
});

describe("sessions with a store", () => {
  test("an idle session continues after its process has released its copy for memory", async () => {
    const { client } = serve({ sessions: { totalSize: 150 }, trustProxy }, { store: memoryStore() });
    const first = await ready(client, from("192.0.2.1"));
    await ready(client, from("192.0.2.2"));
    expect(await isOpen(client, first)).toBe(true);
  });

  test("a session that was opened on one process and used on another does not end as unused", async () => {
    const clock = fakeClock();
    const store = memoryStore({ clock });
    const [one, two] = [serve({ sessions: { max: 2 }, trustProxy }, { store }, clock), serve({}, { store }, clock)];
    const session = await open(one.client);
    await statusOf(two.client.post(initialized, session));
    for (let count = 0; count < 4; count++) await open(one.client, initialize(), from("203.0.113.66"));
    await clock.advance(90_000);
    expect(await isOpen(one.client, session)).toBe(true);
    expect(await isOpen(two.client, session)).toBe(true);
  });
});

describe("sessions of HTTP+SSE", () => {
  const openSse = async (client: RawHttp, headers: Record<string, string>) => {
    const stream = await client.send({ method: "GET", path: "/sse", headers });
    const path = stream.status === 200 ? /data: (.*)/.exec((await stream.block()) ?? "")?.[1] : undefined;
    const json = { "content-type": "application/json", ...headers };
    const post = (body: unknown) => client.send({ path: path ?? "", headers: json, body });
    return { stream, status: stream.status, post };
  };
  const served = (options: HttpOptions = {}): ServedHttp =>
    serve({ legacySse: true, path: "/mcp", trustProxy, ...options });

  test("a flood of streams without initialize displaces no initialized session", async () => {
    const { client } = served({ sessions: { max: 3 } });
    const other = await openSse(client, from("192.0.2.1"));
    expect(await statusOf(other.post(initialize()))).toBe(202);
    for (let count = 0; count < 10; count++) {
      expect((await openSse(client, from("203.0.113.66"))).status).toBe(200);
    }
    expect(await statusOf(other.post(initialized))).toBe(202);
  });

  test("a caller with all sessions loses one to a caller with fewer, and not to one with the same number", async () => {
    const { client } = served({ sessions: { max: 2 } });
    const flood = [await openSse(client, from("203.0.113.66")), await openSse(client, from("203.0.113.66"))];
    for (const { post } of flood) expect(await statusOf(post(initialize()))).toBe(202);
    const other = await openSse(client, from("192.0.2.1"));
    expect(await statusOf(other.post(initialize()))).toBe(202);
    expect((await openSse(client, from("192.0.2.2"))).status).toBe(503);
  });

  test("keep at most 64 KiB of an initialize request", async () => {
    const { client } = served();
    const answerTo = async (message: object) => {
      const { stream, post } = await openSse(client, {});
      expect(await statusOf(post(message))).toBe(202);
      return stream.next();
    };
    // The session's revision differs from that of the request, but has the same length.
    expect(await answerTo(initializeOf(65_536))).toHaveProperty("result");
    expect(await answerTo(initializeOf(65_537))).toMatchObject({ error: { code: -32602 } });
  });
});

describe("listen streams", () => {
  const listen = (client: RawHttp, headers: Record<string, string>) =>
    client.modern("subscriptions/listen", { notifications: { toolsListChanged: true } }, { headers });
  const full = (): ServedHttp => serve({ trustProxy, auth }, { limits: { listenStreams: 3 } });

  /** Opens a stream and reads its acknowledgment. */
  async function opened(client: RawHttp, headers: Record<string, string>): Promise<RawAnswer> {
    const stream = await listen(client, headers);
    expect(stream.status).toBe(200);
    expect(await stream.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    return stream;
  }

  test("the caller with the most loses its oldest stream to a caller with at least two fewer", async () => {
    const { client, server } = full();
    const streams = [];
    for (let count = 0; count < 3; count++) streams.push(await opened(client, from("203.0.113.66")));
    const other = await opened(client, from("192.0.2.1"));
    const [oldest, ...kept] = streams;
    expect(await oldest?.next()).toMatchObject({ method: "notifications/cancelled" });
    expect(await oldest?.next()).toMatchObject({ result: { resultType: "complete" } });
    expect(await oldest?.next()).toBeUndefined();
    server.tools.set("more", echo);
    for (const stream of [other, ...kept]) {
      expect(await stream.next()).toMatchObject({ method: "notifications/tools/list_changed" });
      await stream.leave();
    }
  });

  test("a caller with only one fewer is answered with 503", async () => {
    const { client } = full();
    const streams = [await opened(client, from("192.0.2.1")), await opened(client, from("192.0.2.1"))];
    streams.push(await opened(client, from("192.0.2.2")));
    const refused = await listen(client, from("192.0.2.2"));
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await refused.json()).error.message).toContain("limits.listenStreams");
    for (const stream of streams) await stream.leave();
  });

  test("each principal has a separate share, also behind one address", async () => {
    const { client } = full();
    const streams = [];
    for (let count = 0; count < 3; count++) streams.push(await opened(client, from("192.0.2.1")));
    const alice = await opened(client, { ...from("192.0.2.1"), authorization: "alice" });
    expect(await streams[0]?.next()).toMatchObject({ method: "notifications/cancelled" });
    for (const stream of [alice, ...streams.slice(1)]) await stream.leave();
  });

  test("an open stream does not count as a request in flight", async () => {
    const { client } = serve({ trustProxy }, { limits: { inFlight: 1 } });
    const streams = [await opened(client, from("192.0.2.1")), await opened(client, from("192.0.2.1"))];
    expect(await statusOf(client.modern("tools/list", {}, { headers: from("192.0.2.1") }))).toBe(200);
    for (const stream of streams) await stream.leave();
  });
});

describe("the rate limit of anonymous callers", () => {
  const limited = (options: HttpOptions): RawHttp => {
    const clock = fakeClock();
    const server = createServer({ name: "test", version: "1.0.0", clock, tools: { echo } });
    server.use(rateLimit({ perSecond: 1, burst: 1, clock }));
    return rawHttp("http://localhost/mcp", toFetch(server, options).fetch);
  };
  const call = (client: RawHttp, address: string) =>
    statusOf(client.modern("tools/call", { name: "echo" }, { headers: from(address) }));

  test("counts the calls of each address separately", async () => {
    const client = limited({ trustProxy });
    expect(await call(client, "192.0.2.1")).toBe(200);
    expect(await call(client, "192.0.2.1")).toBe(429);
    expect(await call(client, "192.0.2.2")).toBe(200);
  });

  test("counts callers of unknown addresses as one", async () => {
    const client = limited({});
    expect(await call(client, "192.0.2.1")).toBe(200);
    expect(await call(client, "192.0.2.2")).toBe(429);
  });

  test.each([
    ["x-forwarded-for", (index: number) => `6.6.6.${index}, ", 192.0.2.1`],
    ["forwarded", (index: number) => `for=6.6.6.${index};by=", for=192.0.2.1`],
  ])("counts all callers with a malformed %s as one", async (name, forge) => {
    const client = limited({ trustProxy: name });
    const callWith = (value: string) =>
      statusOf(client.modern("tools/call", { name: "echo" }, { headers: { [name]: value } }));
    expect(await callWith(forge(1))).toBe(200);
    for (let index = 2; index < 6; index++) expect(await callWith(forge(index))).toBe(429);
    // Only the connection identifies them, as it does a caller without the header.
    expect(await statusOf(client.modern("tools/call", { name: "echo" }))).toBe(429);
  });

  test("counts the calls of sessions by address too", async () => {
    const client = limited({ trustProxy });
    const callIn = async (address: string): Promise<number | undefined> => {
      const session = await ready(client, from(address));
      return (await errorOf(client.post(request("tools/call", { name: "echo" }), session)))?.code;
    };
    expect(await callIn("192.0.2.1")).toBeUndefined();
    expect(await callIn("192.0.2.1")).toBe(-32600);
    expect(await callIn("192.0.2.2")).toBeUndefined();
  });
});

test("passes the address of the caller to the handler, on every revision", async () => {
  const where = tool({ call: (_, { peer }) => peer.address ?? "unknown" });
  const { client } = serve({ trustProxy }, { tools: { where } });
  const textOf = async (answering: Promise<RawAnswer>): Promise<unknown> =>
    ((await (await answering).json()).result.content as { text: string }[])[0]?.text;
  expect(await textOf(client.modern("tools/call", { name: "where" }, { headers: from("192.0.2.1") }))).toBe(
    "192.0.2.1",
  );
  expect(await textOf(client.modern("tools/call", { name: "where" }))).toBe("unknown");
  const session = await ready(client, from("192.0.2.1"));
  const call = request("tools/call", { name: "where" });
  expect(await textOf(client.post(call, session))).toBe("192.0.2.1");
  expect(await textOf(client.post(call, { ...session, ...from("192.0.2.9") }))).toBe("192.0.2.9");
});
