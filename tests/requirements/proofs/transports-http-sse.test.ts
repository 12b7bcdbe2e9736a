import { expect } from "vitest";
import {
  type EventFeed,
  HttpRefusal,
  type HttpOptions,
  type SentRequest,
  forgetRevisions,
  gate,
  tool,
} from "../library.ts";
import { proves } from "../proves.ts";
import { type Event, eventsOf } from "../../support/events.ts";
import { initializeRequest } from "../world/http-session.ts";
import { type RawMessage, turns } from "../../support/raw-message.ts";
import { echo, gotPrompt } from "../world/subjects.ts";
import { type World, initializeResult } from "../world/world.ts";

const origin = "http://localhost";
const stream = { accept: "text/event-stream" };

/** A server that also supports the old transport, and functions that send requests to its endpoints. */
function old(world: World, options: HttpOptions = {}, tools = { echo }) {
  const fetch = world.serveFetch({ tools }, { legacySse: true, path: "/mcp", ...options });
  const get = (path: string, headers: object = {}): Promise<Response> =>
    fetch(new Request(origin + path, { headers: { ...stream, ...headers } }));
  const post = (path: string, message: object, headers: object = {}): Promise<Response> => {
    const all = { "content-type": "application/json", ...headers };
    return fetch(new Request(new URL(path, origin), { method: "POST", headers: all, body: JSON.stringify(message) }));
  };
  const open = async (headers: object = {}) => {
    const response = await get("/sse", headers);
    const events = eventsOf(response.body!);
    const next = async (): Promise<Event> => (await events.next()).value as Event;
    const endpoint = (await next()).data ?? "";
    const message = async (): Promise<RawMessage> => JSON.parse((await next()).data ?? "null") as RawMessage;
    const leave = (): Promise<unknown> => events.return(undefined);
    return { response, endpoint, next, message, leave, post: (body: object) => post(endpoint, body) };
  };
  return { get, post, open };
}

proves("http-sse.endpoints", async (world) => {
  const { open } = old(world);
  const { response, endpoint, post, message } = await open();
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(new URL(endpoint, origin).pathname).not.toBe("/sse");
  expect((await post(initializeRequest(world.version))).status).toBe(202);
  expect((await message()).result.protocolVersion).toBe(world.version);
});

proves("http-sse.endpoint-event", async (world) => {
  const { get } = old(world);
  const reader = (await get("/sse")).body!.getReader();
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toMatch(/^event: endpoint\ndata: \S+\n\n/);
  await reader.cancel();
});

proves("http-sse.messages", async (world) => {
  const { open } = old(world);
  const { post, message, response } = await open();
  await post(initializeRequest(world.version));
  expect(await message()).toMatchObject({ jsonrpc: "2.0", id: "init" });
  await post({ jsonrpc: "2.0", method: "notifications/initialized" });
  await post({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect(await message()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  world.server.tools.set("more", echo);
  expect((await message()).method).toBe("notifications/tools/list_changed");
  expect(response.status).toBe(200);
});

proves("http-sse.many-clients", async (world) => {
  const { open } = old(world);
  const clients = await Promise.all([open(), open(), open()]);
  expect(new Set(clients.map(({ endpoint }) => endpoint)).size).toBe(3);
  for (const { post } of clients) await post(initializeRequest(world.version));
  for (const { message } of clients) expect((await message()).id).toBe("init");
});

proves("http-sse.origin", async (world) => {
  const { get, post, open } = old(world);
  const foreign = { origin: "https://evil.example" };
  const { endpoint } = await open();
  expect((await get("/sse", foreign)).status).toBe(403);
  expect((await post(endpoint, initializeRequest(world.version), foreign)).status).toBe(403);
});

proves("http-sse.authentication", async (world) => {
  const authenticate: NonNullable<HttpOptions["auth"]> = (head) =>
    head.header("authorization") === "ann"
      ? { issuer: "test", subject: "ann", scopes: [] }
      : new HttpRefusal(401, "Who are you?");
  const { get, post, open } = old(world, { auth: authenticate });
  const { endpoint } = await open({ authorization: "ann" });
  expect((await get("/sse")).status).toBe(401);
  expect((await post(endpoint, initializeRequest(world.version))).status).toBe(401);
  const authorized = await post(endpoint, initializeRequest(world.version), { authorization: "ann" });
  expect(authorized.status).toBe(202);
});

/** A client that falls back to the old transport, and the stream on which it is spoken to. */
async function fallenBack(world: World, status = 405) {
  forgetRevisions();
  let feed: EventFeed | undefined;
  const posts: SentRequest[] = [];
  const intercept = (request: SentRequest): boolean => {
    if (request.url.endsWith("/messages?id=1")) {
      posts.push(request);
      request.status(202);
      if (request.body.method === "initialize") {
        feed?.event({ jsonrpc: "2.0", id: request.body.id, result: initializeResult("2024-11-05") });
      }
    } else if (request.method === "GET") {
      feed = request.stream();
      feed.raw("event: endpoint\ndata: /messages?id=1\n\n");
    } else request.status(status);
    return true;
  };
  const { connecting, server } = world.dial({}, { http: { intercept } });
  const client = await connecting;
  return { client, server, posts, feed: feed! };
}

proves("http-sse.shutdown", {
  async server(world) {
    const slow = gate();
    const { open } = old(world, {}, { echo: tool({ call: slow.call }) as never });
    const { post, leave, message } = await open();
    await post(initializeRequest(world.version));
    await message();
    await post({ jsonrpc: "2.0", method: "notifications/initialized" });
    await post({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo" } });
    const { signal } = await slow.entered;
    await leave();
    await turns();
    expect(signal.aborted).toBe(true);
    expect((await post({ jsonrpc: "2.0", id: 2, method: "ping" })).status).toBeGreaterThanOrEqual(400);
  },
  async client(world) {
    const { client, server } = await fallenBack(world);
    const get = server.sent.find(({ method }) => method === "GET");
    await client.close();
    expect(get?.signal.aborted).toBe(true);
  },
});

proves("http-sse.client-posts", async (world) => {
  const { client, posts, feed } = await fallenBack(world);
  const outcome = client.getPrompt("p");
  await turns();
  const request = posts.at(-1);
  feed.event({ jsonrpc: "2.0", id: request?.body.id, result: gotPrompt });
  expect(await outcome).toMatchObject(gotPrompt);
  expect(posts.map(({ body }) => body.method)).toEqual(["initialize", "notifications/initialized", "prompts/get"]);
});

proves("http-sse.compatible-server", async (world) => {
  const { open, post } = old(world);
  const { post: posted, message } = await open();
  await posted(initializeRequest("2024-11-05"));
  expect((await message()).result.protocolVersion).toBe("2024-11-05");
  const accept = { accept: "application/json, text/event-stream" };
  const version = world.isModern ? "2025-11-25" : world.version;
  const response = await post("/mcp", initializeRequest(version), accept);
  expect(((await response.json()) as RawMessage).result.protocolVersion).toBe(version);
});

proves("http-sse.compatible-client", async (world) => {
  for (const status of [400, 404, 405]) {
    const { client } = await fallenBack(world, status);
    expect(client.server.revision).toBe("2024-11-05");
  }
});

proves("http-sse.modern-error-first", async (world) => {
  forgetRevisions();
  const intercept = (request: SentRequest): boolean => {
    const data = { supported: ["2099-01-01"] };
    const error = { code: -32022, message: "Unsupported", data };
    request.json({ jsonrpc: "2.0", id: request.body.id, error }, { status: 400 });
    return true;
  };
  const { connecting, server } = world.dial({}, { http: { intercept } });
  await expect(connecting).rejects.toThrow("2099-01-01");
  expect(server.sent.filter(({ method }) => method === "GET")).toEqual([]);
});

proves("http-sse.off", async (world) => {
  const fetch = world.serveFetch({ tools: { echo } }, { path: "/mcp" });
  for (const path of ["/sse", "/messages"]) {
    expect((await fetch(new Request(origin + path, { headers: stream }))).status).toBe(404);
  }
});
