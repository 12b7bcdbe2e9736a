import { EventEmitter, once } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openClient } from "../client/open-client.ts";
import type { Client } from "../client/client.ts";
import type { ConnectOptions } from "../client/options.ts";
import type { HttpTarget } from "../http/client/settings.ts";
import { httpTransports } from "../http/client/transport.ts";
import { LocalError } from "../rpc/errors.ts";
import type { JsonObject } from "../rpc/messages.ts";
import { createServer as defineServer } from "../server/create-server.ts";
import { resource } from "../server/definition.ts";
import { listen } from "./listen.ts";
import { createSender } from "./http-client/sender.ts";
import { discoverResult } from "../testing/peer-transports.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const json = { "content-type": "application/json" };
const result = ({ id }: JsonObject, value: JsonObject): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", ...value } });
const text = (value: string): JsonObject => ({ content: [{ type: "text", text: value }] });

interface World {
  client: Client;
  connections: Socket[];
  /** The names of the tools that were called. */
  called: unknown[];
  /** The errors that belong to no call. */
  errors: unknown[];
}

/** A client of a server of 2026-07-28 over `node:http`. `call` answers `tools/call`. */
async function world(
  call: (message: JsonObject, response: ServerResponse, request: IncomingMessage) => void,
  given: { target?: Partial<HttpTarget>; options?: ConnectOptions } = {},
): Promise<World> {
  const [connections, called, errors]: [Socket[], unknown[], unknown[]] = [[], [], []];
  const answer = (message: JsonObject, response: ServerResponse, request: IncomingMessage): void => {
    const known: Record<string, JsonObject> = {
      "server/discover": discoverResult(),
      "tools/list": { tools: [], ttlMs: 60_000, cacheScope: "public" },
    };
    const value = known[String(message.method)];
    if (value) return void response.writeHead(200, json).end(result(message, value));
    called.push((message.params as JsonObject).name);
    call(message, response, request);
  };
  const server: Server = createServer((request, response) => {
    void request.toArray().then((parts) => answer(JSON.parse(parts.join("")) as JsonObject, response, request));
  });
  server.on("connection", (socket: Socket) => connections.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const client = await openClient(httpTransports({ url, ...given.target }), {
    onError: (error) => errors.push(error),
    ...given.options,
  });
  closers.push(() => client.close());
  return { client, connections, called, errors };
}

test.each([
  ["a response", json, ""],
  ["an event stream", { "content-type": "text/event-stream" }, ": begin\n\n"],
])("a server may be silent for fifteen minutes before %s", async (_, headers, begin) => {
  // The timers of the client are faked, and those of the system's connections are not.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  closers.push(() => vi.useRealTimers());
  const asked = new EventEmitter<{ call: [JsonObject, ServerResponse] }>();
  const { client } = await world((message, response) => {
    if (begin !== "") response.writeHead(200, headers).write(begin);
    asked.emit("call", message, response);
  });
  const received = once(asked, "call");
  const calling = client.callTool("slow", {}, { timeout: { idle: 20 * 60_000 } });
  const [message, response] = (await received) as [JsonObject, ServerResponse];
  vi.advanceTimersByTime(15 * 60_000 + 1);
  if (begin === "") response.writeHead(200, headers).end(result(message, text("done")));
  else response.end(`data: ${result(message, text("done"))}\n\n`);
  expect(await calling).toBe("done");
});

describe("a client that is closed at once reports nothing", () => {
  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const)(
    "on %s",
    async (revision) => {
      const note = resource("note://a", { read: () => "x" });
      const running = await listen(defineServer({ name: "notes", version: "1.0.0", resources: { note } }), { port: 0 });
      closers.push(() => running.close());
      const errors: string[] = [];
      const onError = (error: Error): void => void errors.push(error.message);
      const open = () => openClient(httpTransports({ url: running.url }), { revision, onError });
      await (await open()).close();
      const client = await open();
      const subscription = await client.listen({ uris: ["note://a"] }, () => {});
      await subscription.close();
      await client.close();
      expect(errors).toEqual([]);
    },
  );
});

test("500 parallel calls share a few connections", async () => {
  const { client, connections } = await world((message, response) =>
    response.writeHead(200, json).end(result(message, text("done"))),
  );
  await client.listTools().all();
  const calls = Array.from({ length: 500 }, () => client.callTool("quick"));
  expect(new Set(await Promise.all(calls))).toEqual(new Set(["done"]));
  expect(connections.length).toBeLessThanOrEqual(256);
});

test("10,000 concurrent calls of one client settle over at most 128 connections, if the server is quick", async () => {
  const { client, connections } = await world((message, response) =>
    response.writeHead(200, json).end(result(message, text(String((message.params as JsonObject).name)))),
  );
  await client.listTools().all();
  const names = Array.from({ length: 10_000 }, (_, i) => `tool-${i}`);
  expect(await Promise.all(names.map((name) => client.callTool(name)))).toEqual(names);
  // On a busy machine some requests count as slow. The limit for slow ones is 1,024.
  expect(connections.length).toBeLessThanOrEqual(1_024);
});

/** A target on which one request at a time is sent. */
const oneAtATime = (): Partial<HttpTarget> => ({
  fetch: createSender({ burst: 1, connections: 1, roundMs: 3_600_000, waitMs: 3_600_000 }) as unknown as typeof fetch,
});

test("the timeout of a call begins when it is sent, and not while it waits for others", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  closers.push(() => vi.useRealTimers());
  const asked = new EventEmitter<{ call: [JsonObject, ServerResponse] }>();
  const { client } = await world((...call) => asked.emit("call", call[0], call[1]), { target: oneAtATime() });
  await client.listTools().all();
  const firstCall = once(asked, "call");
  const first = client.callTool("first", {}, { timeout: { idle: 20 * 60_000 } });
  const [message, response] = (await firstCall) as [JsonObject, ServerResponse];
  const second = client.callTool("second", {}, { timeout: { idle: 60_000 } });
  await new Promise((resolve) => setImmediate(resolve));
  vi.advanceTimersByTime(15 * 60_000);
  const secondCall = once(asked, "call");
  response.writeHead(200, json).end(result(message, text("done")));
  expect(await first).toBe("done");
  const [next, nextResponse] = (await secondCall) as [JsonObject, ServerResponse];
  vi.advanceTimersByTime(59_000);
  nextResponse.writeHead(200, json).end(result(next, text("done")));
  expect(await second).toBe("done");
});

test("a call that waits for others can be cancelled, and ends when the client is closed", async () => {
  const asked = new EventEmitter<{ call: [] }>();
  const { client, called } = await world(() => asked.emit("call"), { target: oneAtATime() });
  await client.listTools().all();
  const firstCall = once(asked, "call");
  const calls = Array.from({ length: 200 }, (_, i) => client.callTool(`tool-${i}`));
  for (const call of calls) call.catch(() => {});
  await firstCall;
  const controller = new AbortController();
  const cancelled = client.callTool("cancelled", {}, { signal: controller.signal });
  controller.abort();
  await expect(cancelled).rejects.toMatchObject({ code: "aborted" });
  await client.close();
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: "closed" });
  expect(called).toEqual(["tool-0"]);
});

test("a call whose connection breaks after the request was sent rejects with closed, and is not sent again", async () => {
  const { client, called } = await world((_, __, { socket }) => void socket.resetAndDestroy());
  await expect(client.callTool("add")).rejects.toMatchObject({
    code: "closed",
    message: expect.stringContaining('The connection was lost before tools/call "add" was answered.') as string,
    data: { code: "ECONNRESET", safeToRepeat: false },
  });
  expect(called).toEqual(["add"]);
});

test("a compressed response is limited by its size after decompression", async () => {
  const { client } = await world(
    (message, response) =>
      response
        .writeHead(200, { ...json, "content-encoding": "gzip" })
        .end(gzipSync(result(message, text("x".repeat(1_000_000))))),
    { target: { limits: { message: 100_000 } } },
  );
  await expect(client.callTool("bomb")).rejects.toMatchObject({ code: "too_large" });
});

type Answer = (exchange: { id: unknown; request: IncomingMessage; response: ServerResponse }) => void;

const events = { "content-type": "text/event-stream" };
const resultOf = (id: unknown, value = "done"): string => result({ id }, text(value));
const progressOf = (id: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: id, progress: 1 } });

/*
 * The transport behaves in the same way with undici and with `fetch`: replies, redirects, limits, event streams, cancellation,
 * authorization and errors.
 */
describe.each([
  ["undici", undefined],
  ["fetch", globalThis.fetch],
])("with %s", (_, fetch) => {
  async function connected(answer: Answer, target: Partial<HttpTarget> = {}): Promise<World> {
    const call = ({ id }: JsonObject, response: ServerResponse, request: IncomingMessage): void =>
      answer({ id, request, response });
    const connection = await world(call, { target: { ...(fetch && { fetch }), ...target } });
    await connection.client.listTools().all();
    return connection;
  }

  test.each<[string, Answer]>([
    ["JSON", ({ id, response }) => response.writeHead(200, json).end(resultOf(id))],
    [
      "compressed JSON",
      ({ id, response }) =>
        response.writeHead(200, { ...json, "content-encoding": "gzip" }).end(gzipSync(resultOf(id))),
    ],
    ["JSON with a byte order mark", ({ id, response }) => response.writeHead(200, json).end(`\uFEFF${resultOf(id)}`)],
    [
      "compressed JSON with a byte order mark",
      ({ id, response }) =>
        response.writeHead(200, { ...json, "content-encoding": "gzip" }).end(gzipSync(`\uFEFF${resultOf(id)}`)),
    ],
    [
      "an event stream with byte order marks at its start and in its data",
      ({ id, response }) =>
        response.writeHead(200, events).end(`\uFEFFdata: \uFEFF${progressOf(id)}\n\ndata: \uFEFF${resultOf(id)}\n\n`),
    ],
    [
      "an event stream with an event of blanks",
      ({ id, response }) => response.writeHead(200, events).end(`data: \t \uFEFF\n\ndata: ${resultOf(id)}\n\n`),
    ],
    [
      "JSON with three encodings",
      ({ id, response }) =>
        response
          .writeHead(200, { ...json, "content-encoding": "gzip, gzip, gzip" })
          .end(gzipSync(gzipSync(gzipSync(resultOf(id))))),
    ],
    ["an event stream", ({ id, response }) => response.writeHead(200, events).end(`data: ${resultOf(id)}\n\n`)],
    [
      "an event stream in small parts",
      ({ id, response }) => {
        response.writeHead(200, events);
        for (const character of `: comment\r\n\r\nid: 1\r\ndata: ${resultOf(id)}\r\n\r\n`) response.write(character);
        response.end();
      },
    ],
    [
      "a redirect that keeps the origin and the method",
      ({ id, request, response }) => {
        if (request.url === "/mcp") response.writeHead(307, { location: "/moved" }).end();
        else response.writeHead(200, json).end(resultOf(id));
      },
    ],
  ])("%s is read", async (_name, answer) => {
    const { client, errors } = await connected(answer);
    expect(await client.callTool("tool")).toBe("done");
    expect(errors).toEqual([]);
  });

  test("text of many bytes for a character arrives unchanged", async () => {
    const long = "größe 🎉 ".repeat(20_000);
    const { client } = await connected(({ id, response }) => response.writeHead(200, json).end(resultOf(id, long)));
    expect(await client.callTool("tool")).toBe(long);
  });

  test.each<[string, Answer, Partial<HttpTarget>, { code: string; message: string }]>([
    [
      "a redirect to another origin",
      ({ response }) => response.writeHead(307, { location: "https://other.example/mcp" }).end(),
      {},
      { code: "http", message: "redirects to https://other.example/mcp (307), which is not followed" },
    ],
    [
      "a redirect without end",
      ({ response }) => response.writeHead(308, { location: "/mcp" }).end(),
      {},
      { code: "http", message: "more than 3 times" },
    ],
    [
      "a reply over the limit",
      ({ id, response }) => response.writeHead(200, json).end(resultOf(id, "x".repeat(20_000))),
      { limits: { message: 10_000 } },
      { code: "too_large", message: "more than 10000 bytes. Raise limits.message." },
    ],
    [
      "a compressed reply over the limit",
      ({ id, response }) =>
        response
          .writeHead(200, { ...json, "content-encoding": "gzip" })
          .end(gzipSync(resultOf(id, "x".repeat(1_000_000)))),
      { limits: { message: 10_000 } },
      { code: "too_large", message: "more than 10000 bytes. Raise limits.message." },
    ],
    [
      "a reply with too many content encodings",
      ({ id, response }) =>
        response.writeHead(200, { ...json, "content-encoding": "identity, gzip, br, gzip" }).end(resultOf(id)),
      {},
      { code: "too_large", message: "The reply has more than 3 content encodings" },
    ],
    [
      "an event over the limit",
      ({ id, response }) => response.writeHead(200, events).end(`data: ${resultOf(id, "x".repeat(20_000))}\n\n`),
      { limits: { message: 10_000 } },
      { code: "too_large", message: "more than 10000 characters. Raise limits.message." },
    ],
    [
      "a page instead of JSON",
      ({ response }) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Hello"),
      {},
      { code: "invalid_message", message: 'with 200 and content of type "text/html" instead of JSON' },
    ],
    [
      "invalid JSON",
      ({ response }) => response.writeHead(200, json).end("{"),
      {},
      { code: "invalid_message", message: 'is not valid JSON: "{"' },
    ],
    [
      "a refusal",
      ({ response }) => response.writeHead(401, { "www-authenticate": "Bearer" }).end("The key is wrong."),
      {},
      { code: "unauthorized", message: "The key is wrong." },
    ],
    [
      "an error of a proxy",
      ({ response }) => response.writeHead(502).end("No server is available."),
      {},
      { code: "http", message: "502" },
    ],
    [
      "a connection that ends without a reply",
      ({ request }) => void request.socket.destroy(),
      {},
      { code: "closed", message: "The connection was lost" },
    ],
    [
      "a body that ends too early",
      ({ response }) => {
        response.writeHead(200, { ...json, "content-length": "100" });
        response.write("{", () => response.destroy());
      },
      {},
      { code: "closed", message: "The response could not be read" },
    ],
  ])("%s is an error", async (_name, answer, target, expected) => {
    const { client } = await connected(answer, target);
    const error: unknown = await client.callTool("tool").catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(LocalError);
    expect((error as LocalError).code).toBe(expected.code);
    expect((error as LocalError).message).toContain(expected.message);
  });

  test("a call that is cancelled closes its connection", async () => {
    let arrived: (socket: Socket) => void = () => {};
    const arrival = new Promise<Socket>((resolve) => (arrived = resolve));
    const { client } = await connected(({ request }) => arrived(request.socket));
    const controller = new AbortController();
    const calling = client.callTool("tool", {}, { signal: controller.signal });
    const socket = await arrival;
    const closed = once(socket, "close");
    controller.abort();
    await expect(calling).rejects.toMatchObject({ code: "aborted" });
    await closed;
  });

  test("authorization is sent with each request, and again after a challenge", async () => {
    let token = "old";
    const sent: unknown[] = [];
    const { client } = await connected(
      ({ id, request, response }) => {
        sent.push(request.headers.authorization);
        if (request.headers.authorization === "Bearer new") response.writeHead(200, json).end(resultOf(id));
        else response.writeHead(401, { "www-authenticate": 'Bearer realm="x"' }).end();
      },
      {
        auth: {
          headers: () => Promise.resolve({ Authorization: `Bearer ${token}` }),
          challenged({ status, headers, shown }) {
            expect([status, headers.get("www-authenticate"), shown]).toEqual([
              401,
              'Bearer realm="x"',
              { Authorization: "Bearer old" },
            ]);
            token = "new";
            return Promise.resolve(true);
          },
        },
      },
    );
    expect(await client.callTool("tool")).toBe("done");
    expect(sent).toEqual(["Bearer old", "Bearer new"]);
  });
});
