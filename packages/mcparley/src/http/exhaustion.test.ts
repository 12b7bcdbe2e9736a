import { describe, expect, test } from "vitest";
import { resource, tool } from "../server/definition.ts";
import type { AnyServerDefinition } from "../server/options.ts";
import { type Server, createServer } from "../server/server.ts";
import { memoryStore } from "../store/memory-store.ts";
import { type FakeClock, fakeClock } from "../testing/fake-clock.ts";
import { type RawAnswer, type RawHttp, rawHttp } from "../testing/raw-http.ts";
import type { HttpOptions } from "./options.ts";
import { toFetch } from "./to-fetch.ts";

interface Served {
  client: RawHttp;
  server: Server;
  clock: FakeClock;
}

const echo = tool({ input: { type: "object" }, call: (input) => JSON.stringify(input) });
const note = resource("note://{id}", { read: () => "" });

type Definition = Partial<AnyServerDefinition>;

function serve(options: HttpOptions = {}, definition: Definition = {}, clock: FakeClock = fakeClock()): Served {
  const server = createServer({
    name: "test",
    version: "1.0.0",
    clock,
    tools: { echo },
    resources: { note },
    ...definition,
  });
  const { fetch } = toFetch(server, options);
  return { client: rawHttp("http://localhost/mcp", fetch), server, clock };
}

const request = (method: string, params: object = {}, id: number | string = 1): object => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const protocolVersion = "2025-11-25";
const initialize = (clientInfo: object = { name: "raw", version: "1.0.0" }, capabilities: object = {}): object =>
  request("initialize", { protocolVersion, capabilities, clientInfo });
const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };

/** An `initialize` request of which the session keeps exactly so many characters. */
function initializeOf(size: number): object {
  const kept = (title: string) => ({
    protocolVersion,
    capabilities: {},
    clientInfo: { name: "raw", version: "1", title },
  });
  const padding = size - JSON.stringify(kept("")).length;
  return request("initialize", kept("x".repeat(padding)));
}

/** Opens a session and returns the headers that name it. */
async function open(client: RawHttp, message: object = initialize(), headers: Record<string, string> = {}) {
  const answer = await client.post(message, headers);
  expect(answer.status).toBe(200);
  const session = { ...headers, "mcp-session-id": answer.headers.get("mcp-session-id")! };
  await answer.text();
  return session;
}

async function statusOf(answering: Promise<RawAnswer>): Promise<number> {
  const answer = await answering;
  await answer.text();
  return answer.status;
}

const errorOf = async (answering: Promise<RawAnswer>) => (await (await answering).json()).error;

describe.each([
  ["in memory", () => ({})],
  ["in a store", () => ({ store: memoryStore() })],
])("a session that is kept %s", (_, where) => {
  const subscribe = (client: RawHttp, session: Record<string, string>, uri: string) =>
    client.post(request("resources/subscribe", { uri }), session);
  const isRefused = async (answering: Promise<RawAnswer>, limit: string): Promise<void> => {
    const error = await errorOf(answering);
    expect(error.code).toBe(-32602);
    expect(error.message).toContain(limit);
  };

  test("keeps at most 64 KiB of an initialize request", async () => {
    const { client } = serve(where());
    await open(client, initializeOf(65_536));
    const refused = await client.post(initializeOf(65_537));
    expect(refused.headers.get("mcp-session-id")).toBeNull();
    expect((await refused.json()).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/65537 characters.*65536.*limits\.sessionSize/) as string,
    });
  });

  test("counts the capabilities of its client", async () => {
    const { client } = serve(where());
    const capabilities = { experimental: { padding: { text: "x".repeat(65_536) } } };
    await isRefused(client.post(initialize({ name: "raw", version: "1" }, capabilities)), "limits.sessionSize");
  });

  test("counts the subscribed URIs, and an unsubscribed one frees its place", async () => {
    const { client } = serve(where(), { limits: { sessionSize: 1000 } });
    const session = await open(client, initializeOf(980));
    const [first, second] = [`note://${"a".repeat(6)}`, `note://${"b".repeat(7)}`] as const;
    expect(await statusOf(subscribe(client, session, first))).toBe(200);
    await isRefused(subscribe(client, session, second), "limits.sessionSize");
    await statusOf(client.post(request("resources/unsubscribe", { uri: first }), session));
    expect(await errorOf(subscribe(client, session, second))).toBeUndefined();
  });

  test("has at most 1,000 subscriptions, each of at most 2,048 characters", async () => {
    const { client } = serve(where(), { limits: { sessionSize: 1_000_000 } });
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
    const { client, server } = serve(where(), { limits: { subscriptions: 1 } });
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
