import { expect } from "vitest";
import { type RawAnswer, prompt, resource, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { accept } from "../world/http-session.ts";
import { isNotification, isRequest, isResponse, turns } from "../../support/raw-message.ts";
import { asking, echo, gotPrompt, requested, rooted } from "../world/subjects.ts";

const definition = {
  tools: { echo },
  prompts: { p: prompt({ get: () => "hi" }) },
  resources: { r: resource("note://a", { read: () => "text" }) },
};

/** The requests that have a name, with its header. */
const named: [string, object, string][] = [
  ["tools/call", { name: "echo" }, "echo"],
  ["prompts/get", { name: "p" }, "p"],
  ["resources/read", { uri: "note://a" }, "note://a"],
];

async function outcome(answer: RawAnswer): Promise<[number, number | undefined]> {
  const { error } = await answer.json();
  return [answer.status, error?.code];
}

proves("http.metadata.sent", async (world) => {
  const { client, server } = await world.connect();
  const asked = [client.getPrompt("p"), client.readResource("note://a"), client.listPrompts().all()];
  for (const one of asked) one.catch(() => {});
  for (const [method, name] of [
    ["prompts/get", "p"],
    ["resources/read", "note://a"],
    ["prompts/list", null],
  ] as const) {
    const { headers } = server.httpOf(await server.request(method));
    expect(headers.get("mcp-protocol-version")).toBe(world.version);
    expect(headers.get("mcp-method")).toBe(method);
    expect(headers.get("mcp-name")).toBe(name);
  }
});

proves("http.metadata.version-matches", async (world) => {
  const { client, server } = await world.connect();
  const { request } = await requested(client, server);
  const meta = request.params._meta as Record<string, unknown>;
  const { headers } = server.httpOf(request);
  expect(headers.get("mcp-protocol-version")).toBe(meta["io.modelcontextprotocol/protocolVersion"]);
});

proves("http.metadata.version-mismatch", async (world) => {
  const http = world.serveHttp(definition);
  for (const version of ["2025-11-25", "2099-01-01"]) {
    const answer = await http.modern("tools/list", {}, { headers: { "mcp-protocol-version": version } });
    expect(await outcome(answer)).toEqual([400, -32020]);
  }
});

proves("http.metadata.version-missing", async (world) => {
  const http = world.serveHttp(definition);
  const answer = await http.modern("tools/list", {}, { headers: { "mcp-protocol-version": undefined } });
  expect(await outcome(answer)).toEqual([400, -32020]);
});

proves("http.metadata.version-unsupported", async (world) => {
  const http = world.serveHttp(definition);
  for (const version of ["2099-01-01", "2025-11-25"]) {
    const meta = { "io.modelcontextprotocol/protocolVersion": version };
    const answer = await http.modern("tools/list", {}, { meta, headers: { "mcp-protocol-version": version } });
    expect(await outcome(answer)).toEqual([400, -32022]);
  }
});

proves("http.metadata.headerless-legacy", async (world) => {
  const http = world.serveHttp({ tools: { t: tool({ title: "A title", call: () => "" }) } }, { sessions: false });
  const answer = await http.post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { accept });
  expect((await answer.json()).result.tools).toMatchObject([{ annotations: { title: "A title" } }]);
});

proves("http.metadata.method-not-found", async (world) => {
  const http = world.serveHttp(definition);
  for (const method of ["no/such/method", "ping", "initialize", "resources/subscribe"]) {
    expect(await outcome(await http.modern(method))).toEqual([404, -32601]);
  }
});

proves("http.metadata.method-missing", async (world) => {
  const http = world.serveHttp(definition);
  const answer = await http.modern("tools/list", {}, { headers: { "mcp-method": undefined } });
  expect(await outcome(answer)).toEqual([400, -32020]);
});

proves("http.metadata.method-mismatch", async (world) => {
  const http = world.serveHttp(definition);
  for (const method of ["tools/call", "tools/list ping", "*"]) {
    const answer = await http.modern("tools/list", {}, { headers: { "mcp-method": method } });
    expect(await outcome(answer)).toEqual([400, -32020]);
  }
});

proves("http.metadata.name-missing", async (world) => {
  const http = world.serveHttp(definition);
  for (const [method, params] of named) {
    const answer = await http.modern(method, { ...params }, { headers: { "mcp-name": undefined } });
    expect(await outcome(answer)).toEqual([400, -32020]);
  }
});

proves("http.metadata.name-mismatch", async (world) => {
  const http = world.serveHttp(definition);
  for (const [method, params, name] of named) {
    const answer = await http.modern(method, { ...params }, { headers: { "mcp-name": `${name}x` } });
    expect(await outcome(answer)).toEqual([400, -32020]);
  }
});

const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;
const unsafe = ["Grüße", " padded ", "two\nlines", "\u0007", "=?base64?literal?="];

proves("http.metadata.name-encoded", async (world) => {
  const { client, server } = await world.connect();
  for (const name of unsafe) {
    void client.getPrompt(name).catch(() => {});
    const { headers } = server.httpOf(await server.request("prompts/get"));
    expect(headers.get("mcp-name")).toBe(base64(name));
  }
});

proves("http.metadata.name-decoded", async (world) => {
  const tools = Object.fromEntries(["tool", "echo"].map((name) => [name, echo]));
  const http = world.serveHttp({ tools });
  const params = { name: "echo" };
  const right = await http.modern("tools/call", params, { headers: { "mcp-name": base64("echo") } });
  expect(right.status).toBe(200);
  for (const wrong of [base64("tool"), base64("echo").replace("base64", "BASE64"), "=?base64?%%%?="]) {
    const answer = await http.modern("tools/call", params, { headers: { "mcp-name": wrong } });
    expect(await outcome(answer)).toEqual([400, -32020]);
  }
});

proves("http.metadata.error-body", async (world) => {
  const http = world.serveHttp(definition);
  const answer = await http.modern("tools/list", {}, { id: "mine", headers: { "mcp-method": "x" } });
  const body = await answer.json();
  expect(body).toMatchObject({ jsonrpc: "2.0", id: "mine", error: { code: -32020 } });
  expect(body.error.message).toMatch(/Mcp-Method/i);
});

proves("http.metadata.names-of-headers", {
  async server(world) {
    const http = world.serveHttp(definition);
    const headers = {
      "mcp-protocol-version": undefined,
      "mcp-method": undefined,
      "MCP-PROTOCOL-VERSION": world.version,
      "mCp-MeThOd": "tools/list",
    };
    expect((await http.modern("tools/list", {}, { headers })).status).toBe(200);
  },
  async client(world) {
    const intercept = (request: { body: object; text: (body: string, init: ResponseInit) => void }): boolean => {
      if (!("method" in request.body) || request.body.method !== "prompts/get") return false;
      const { id } = request.body as unknown as { id: number };
      const headers = { "CONTENT-TYPE": "Application/JSON; Charset=UTF-8" };
      request.text(JSON.stringify({ jsonrpc: "2.0", id, result: gotPrompt }), { headers });
      return true;
    };
    const { client } = await world.connect({}, { http: { intercept } });
    expect(await client.getPrompt("p")).toMatchObject(gotPrompt);
  },
});

proves("http.metadata.values-of-headers", async (world) => {
  const http = world.serveHttp(definition);
  const method = await http.modern("tools/list", {}, { headers: { "mcp-method": "Tools/List" } });
  expect(await outcome(method)).toEqual([400, -32020]);
  const name = await http.modern("tools/call", { name: "echo" }, { headers: { "mcp-name": "Echo" } });
  expect(await outcome(name)).toEqual([400, -32020]);
});

proves("http.single.server", async (world) => {
  const http = world.serveHttp(definition);
  const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  for (const body of [[message], [message, message], []]) {
    expect((await http.post(body, { "mcp-protocol-version": world.version })).status).toBe(400);
  }
});

proves("http.single.no-responses", {
  async server(world) {
    const http = world.serveHttp(definition);
    const headers = { "mcp-protocol-version": world.version };
    for (const response of [{ result: {} }, { error: { code: 1, message: "" } }]) {
      expect((await http.post({ jsonrpc: "2.0", id: 1, ...response }, headers)).status).toBe(400);
    }
  },
  async client(world) {
    const { client, server } = await world.connect({ roots: [] });
    const { request, outcome } = await requested(client, server);
    server.send({ jsonrpc: "2.0", id: "q", method: "roots/list" }, request);
    server.answer(request, gotPrompt);
    await outcome;
    await turns();
    expect(server.received.filter(isResponse)).toEqual([]);
  },
});

proves("http.stream.no-requests", async (world) => {
  const peer = await world.serve({ tools: { asking, rooted } }, { capabilities: { roots: {}, elicitation: {} } });
  await peer.request("tools/call", { name: "asking" });
  await peer.request("tools/call", { name: "rooted" });
  expect(peer.received.filter(isRequest)).toEqual([]);
});

const changes = { notifications: { toolsListChanged: true } };

proves("http.stream.listen", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  const id = peer.start("subscriptions/listen", changes);
  await peer.nextNotification("notifications/subscriptions/acknowledged");
  expect(peer.carried(id)?.type).toBe("text/event-stream");
  await world.clock.advance(600_000);
  world.server.tools.set("more", echo);
  await peer.nextNotification("notifications/tools/list_changed");
});

proves("http.stream.listen-alone", async (world) => {
  const http = world.serveHttp({ tools: { loud: tool({ call: (_, ctx) => (ctx.progress(1), "done") }), echo } });
  const stream = await http.modern("subscriptions/listen", changes, { id: "sub" });
  expect(await stream.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
  await (await http.modern("tools/call", { name: "loud" }, { meta: { progressToken: "p" } })).text();
  world.server.tools.set("more", echo);
  expect(await stream.next()).toMatchObject({ method: "notifications/tools/list_changed" });
  await stream.leave();
});

proves("http.stream.unbuffered", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  const { id } = await peer.request("tools/call", { name: "echo" });
  expect(peer.carried(id)?.headers.get("x-accel-buffering")).toBe("no");
});

proves("http.stream.comments", async (world) => {
  const http = world.serveHttp({ tools: { echo } });
  const stream = await http.modern("subscriptions/listen", changes);
  await stream.next();
  await world.clock.advance(5_000);
  expect(await stream.next()).toMatch(/^:/);
  await stream.leave();
});

proves("http.stream.comments-ignored", async (world) => {
  const errors: Error[] = [];
  const { client, server } = await world.connect({ onError: (error) => errors.push(error) });
  const { request, outcome } = await requested(client, server);
  const feed = server.httpOf(request).stream();
  feed.raw(":\r\n");
  feed.raw(": keep-alive\n\n:\n\n");
  feed.event({ jsonrpc: "2.0", id: request.id, result: gotPrompt });
  feed.end();
  expect(await outcome).toMatchObject(gotPrompt);
  expect(errors).toEqual([]);
});

proves("http.stream.not-resumable", {
  async server(world) {
    const fetch = world.serveFetch({ tools: { echo } });
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": world.version,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const params = { name: "echo", _meta };
    const headers = {
      "content-type": "application/json",
      accept: "text/event-stream",
      "mcp-protocol-version": world.version,
      "mcp-method": "tools/call",
      "mcp-name": "echo",
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const response = await fetch(new Request("http://localhost/mcp", { method: "POST", headers, body }));
    expect(await response.text()).not.toMatch(/^(?:id|retry):/m);
  },
  async client(world) {
    const { client, server } = await world.connect();
    const { request, outcome } = await requested(client, server);
    const feed = server.httpOf(request).stream();
    feed.event({ jsonrpc: "2.0", method: "notifications/unheard-of" }, "event-1");
    await turns();
    feed.break();
    await expect(outcome).rejects.toMatchObject({ code: "closed" });
    await world.clock.advance(60_000);
    expect(server.sent.filter(({ headers }) => headers.has("last-event-id"))).toEqual([]);
  },
});

proves("http.older.methods", async (world) => {
  const http = world.serveHttp(definition);
  for (const method of ["GET", "DELETE"]) {
    const headers = { accept: "text/event-stream", "mcp-protocol-version": world.version };
    expect((await http.send({ method, headers })).status).toBe(405);
    expect((await http.send({ method, headers: { accept: "text/event-stream" } })).status).toBe(405);
  }
});

proves("http.older.session-ignored", async (world) => {
  const http = world.serveHttp(definition);
  const answer = await http.modern("tools/list", {}, { headers: { "mcp-session-id": "no-such-session" } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("mcp-session-id")).toBeNull();
});

proves("http.older.last-event-id-ignored", async (world) => {
  const http = world.serveHttp(definition);
  const answer = await http.modern("tools/list", {}, { headers: { "last-event-id": "event-1" } });
  expect((await answer.json()).result.tools).toHaveLength(1);
});

proves("http.older.no-session-sent", async (world) => {
  const { client, server } = await world.connect({}, { http: { sessionId: "s-1" } });
  const { request, outcome } = await requested(client, server);
  server.answer(request, gotPrompt);
  await outcome;
  await client.close();
  await turns();
  for (const { method, headers } of server.sent) {
    expect(method).toBe("POST");
    expect(headers.has("mcp-session-id")).toBe(false);
  }
  expect(server.received.filter(isNotification)).toEqual([]);
});
