import { expect } from "vitest";
import { type HttpOptions, HttpRefusal, createServer, listen, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { turns } from "../../support/raw-message.ts";
import { accept, httpSession, initializeRequest, openSession } from "../world/http-session.ts";
import { echo, gotPrompt, requested, rooted, textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

/** A POST that the endpoint answers well, in the revision of the world. */
async function probe(world: World, http: ReturnType<World["serveHttp"]>, headers: Record<string, string> = {}) {
  if (world.isModern) return http.modern("server/discover", {}, { headers: { accept, ...headers } });
  return http.post(initializeRequest(world.version), { accept, ...headers });
}

proves("http.endpoint.single", async (world) => {
  const http = world.serveHttp({}, { path: "/mcp" });
  expect((await probe(world, http)).status).toBe(200);
  expect((await http.send({ path: "/elsewhere", body: initializeRequest(world.version) })).status).toBe(404);
});

proves("http.endpoint.get", async (world) => {
  const session = await httpSession(world);
  const answer = await session.get();
  expect(answer.status).toBe(200);
  expect(answer.type).toBe("text/event-stream");
  await answer.leave();
});

proves("http.endpoint.many-clients", async (world) => {
  const http = world.serveHttp({ tools: { echo } });
  const answers = await Promise.all(
    Array.from({ length: 10 }, async (_, n) => {
      const call = { name: "echo", arguments: { n } };
      if (world.isModern) return (await http.modern("tools/call", call)).json();
      return (await (await openSession(world, http)).request("tools/call", call)).json();
    }),
  );
  const texts = answers.map(({ result }) => (result.content as { text: string }[])[0]?.text);
  expect(texts).toEqual(answers.map((_, n) => `{"n":${n}}`));
});

const words = "Grüße, 世界 🌍";

proves("http.utf8", {
  async server(world) {
    const peer = await world.serve({ tools: { echo } });
    expect(JSON.parse(textOf(await peer.request("tools/call", { name: "echo", arguments: { words } })))).toEqual({
      words,
    });
  },
  async client(world) {
    const { client, server } = await world.connect();
    const outcome = client.getPrompt(words);
    const request = await server.request("prompts/get");
    expect(request.params.name).toBe(words);
    server.answer(request, { ...gotPrompt, description: words });
    expect((await outcome).description).toBe(words);
  },
});

const foreign = ["https://evil.example", "http://localhost.evil.example", "null", "file://"];

proves("http.origin.validated", async (world) => {
  const http = world.serveHttp({ tools: { echo } });
  for (const origin of foreign) {
    for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
      expect((await http.send({ method, headers: { origin } })).status).toBe(403);
    }
  }
  expect((await probe(world, http, { origin: "http://localhost:6274" })).status).toBe(200);
});

proves("http.origin.forbidden", async (world) => {
  const http = world.serveHttp({ tools: { echo } }, { allowedOrigins: ["https://app.example"] });
  for (const origin of foreign) expect((await probe(world, http, { origin })).status).toBe(403);
  expect((await probe(world, http, { origin: "https://app.example" })).status).toBe(200);
});

proves("http.origin.error-body", async (world) => {
  const http = world.serveHttp();
  const body = await (await probe(world, http, { origin: foreign[0]! })).json();
  expect(body).toMatchObject({ jsonrpc: "2.0", error: { code: -32600 } });
  expect(body).not.toHaveProperty("id");
});

proves("http.bind.loopback", async () => {
  const { url, close } = await listen(createServer({ name: "s", version: "1" }), { port: 0 });
  expect(["127.0.0.1", "[::1]", "localhost"]).toContain(new URL(url).hostname);
  await close();
});

proves("http.authentication", async (world) => {
  const authenticate = (): HttpRefusal => new HttpRefusal(401, "Who are you?");
  const http = world.serveHttp({ tools: { echo } }, { auth: authenticate });
  expect((await probe(world, http)).status).toBe(401);
  for (const method of ["GET", "DELETE"]) {
    expect((await http.send({ method, headers: { accept, "mcp-session-id": "x" } })).status).toBe(401);
  }
});

proves("http.authentication.custom", {
  async server(world) {
    const authenticate: NonNullable<HttpOptions["auth"]> = (head) =>
      head.header("x-our-own-key") === "open sesame"
        ? { issuer: "ours", subject: "ali", scopes: [] }
        : new HttpRefusal(401, "Who are you?");
    const whose = tool({ call: (_, { principal }) => principal?.subject ?? "nobody" });
    const http = world.serveHttp({ tools: { whose } }, { auth: authenticate });
    expect((await probe(world, http)).status).toBe(401);
    expect((await probe(world, http, { "x-our-own-key": "open sesame" })).status).toBe(200);
  },
  async client(world) {
    const headers = { "x-our-own-key": "open sesame" };
    const { client, server } = await world.connect({ headers });
    await requested(client, server);
    for (const sent of server.sent) expect(sent.headers.get("x-our-own-key")).toBe("open sesame");
  },
});

proves("http.shutdown", async (world) => {
  const { client, server } = await world.connect();
  const { request, outcome } = await requested(client, server);
  await turns();
  await client.close();
  await expect(outcome).rejects.toMatchObject({ code: "closed" });
  expect(server.httpOf(request).signal.aborted).toBe(true);
  for (const { method, signal } of server.sent) if (method === "GET") expect(signal.aborted).toBe(true);
});

proves("http.client.post", async (world) => {
  const { client, server } = await world.connect();
  await requested(client, server);
  await client.notify("notifications/of-our-own");
  await server.notification("notifications/of-our-own");
  const posts = server.sent.filter(({ body }) => Object.keys(body).length > 0);
  expect(posts.length).toBe(server.received.length);
  for (const { method } of posts) expect(method).toBe("POST");
});

proves("http.client.accept", async (world) => {
  const { client, server } = await world.connect();
  await requested(client, server);
  for (const { headers } of server.sent.filter(({ method }) => method === "POST")) {
    expect(headers.get("accept")).toBe(accept);
  }
});

proves("http.client.single-message", async (world) => {
  const { client, server } = await world.connect();
  await Promise.all([requested(client, server), requested(client, server)]);
  for (const { body } of server.sent) expect(Array.isArray(body)).toBe(false);
});

proves("http.client.both-forms", async (world) => {
  const { client, server } = await world.connect();
  const { request, outcome } = await requested(client, server);
  server.answer(request, gotPrompt);
  expect(await outcome).toMatchObject(gotPrompt);
});

proves("http.notification.accepted", async (world) => {
  const notification = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "none" } };
  const http = world.isModern ? world.serveHttp() : (await httpSession(world)).http;
  const headers = world.isModern ? { "mcp-protocol-version": world.version } : (await openSession(world, http)).headers;
  const answer = await http.post(notification, headers);
  expect(answer.status).toBe(202);
  expect(await answer.text()).toBe("");
});

proves("http.response.accepted", async (world) => {
  const session = await httpSession(world, { tools: { rooted } }, { capabilities: { roots: {} } });
  const answer = await session.request("tools/call", { name: "rooted" });
  const question = await answer.next();
  const { id } = question as { id: string };
  const accepted = await session.http.post({ jsonrpc: "2.0", id, result: { roots: [] } }, session.headers);
  expect(accepted.status).toBe(202);
  expect(await accepted.text()).toBe("");
  expect(await answer.next()).toHaveProperty("result");
});

async function refusedNotification(world: World) {
  const http = world.serveHttp();
  const notification = { jsonrpc: "2.0", method: "notifications/progress", params: {} };
  return [
    await http.post(notification, { "mcp-protocol-version": "1999-01-01" }),
    await http.post({ ...notification, params: "none" }, {}),
  ];
}

proves("http.notification.refused", async (world) => {
  for (const { status } of await refusedNotification(world)) expect(status).toBe(400);
});

proves("http.notification.error-body", async (world) => {
  for (const answer of await refusedNotification(world)) {
    const body = await answer.json();
    expect(body.error.code).toBe(-32600);
    expect(body).not.toHaveProperty("id");
  }
});

proves("http.request.form", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  const { id } = await peer.request("tools/call", { name: "echo" });
  const form = world.transport === "http-sse" ? "text/event-stream" : "application/json";
  expect(peer.carried(id)?.type).toBe(form);
});

proves("http.batch.response", async (world) => {
  const session = await httpSession(world);
  const batch = ["a", "b"].map((id) => ({ jsonrpc: "2.0", id, method: "ping" }));
  const answer = await session.http.post(batch, session.headers);
  expect(await answer.json()).toEqual([
    { jsonrpc: "2.0", id: "a", result: {} },
    { jsonrpc: "2.0", id: "b", result: {} },
  ]);
});

proves("http.session.assigned", async (world) => {
  const peer = await world.serve();
  expect(peer.carried(peer.received[0]?.id)?.headers.get("mcp-session-id")).toMatch(/./);
});

proves("http.session.stateless", {
  async server(world) {
    const http = world.serveHttp({ tools: { echo } }, { sessions: false });
    const opened = await http.post(initializeRequest(world.version), { accept });
    expect(opened.headers.get("mcp-session-id")).toBeNull();
    // Nothing can be sent to the client later, so nothing of the kind is declared.
    expect((await opened.json()).result.capabilities).toEqual({ tools: {} });
    const headers = { accept, "mcp-protocol-version": world.version };
    const answer = await http.post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, headers);
    expect((await answer.json()).result.tools).toHaveLength(1);
  },
  async client(world) {
    const { client, server } = await world.connect({}, { http: { sessionId: null } });
    const { request, outcome } = await requested(client, server);
    server.answer(request, gotPrompt);
    await outcome;
    for (const { headers } of server.sent) expect(headers.has("mcp-session-id")).toBe(false);
  },
});

proves("http.session.id.secure", async (world) => {
  const { http, id } = await httpSession(world);
  const ids = new Set([id]);
  for (let count = 0; count < 20; count++) ids.add((await openSession(world, http)).id);
  expect(ids.size).toBe(21);
  for (const one of ids) expect(one.replaceAll("-", "").length).toBeGreaterThanOrEqual(32);
});

proves("http.session.id.visible-ascii", async (world) => {
  expect((await httpSession(world)).id).toMatch(/^[\u0021-\u007e]+$/);
});

proves("http.session.id.kept-secret", async (world) => {
  const said: unknown[] = [];
  const sessionId = "a-secret-session-id";
  const { client, server } = await world.connect(
    { onError: (error) => said.push(String(error)), onCall: (call) => said.push(call) },
    {
      http: {
        sessionId,
        intercept(request) {
          if (request.body.method !== "prompts/get") return false;
          request.text("no", { status: 500 });
          return true;
        },
      },
    },
  );
  await client.getPrompt("p").catch((error: unknown) => said.push(String(error)));
  server.send({ jsonrpc: "2.0", id: "unknown", result: {} });
  await turns();
  said.push(client.target, client.server);
  expect(said.length).toBeGreaterThan(3);
  expect(JSON.stringify(said)).not.toContain(sessionId);
});

proves("http.session.client-sends", async (world) => {
  const { client, server } = await world.connect({}, { http: { sessionId: "s-1" } });
  await requested(client, server);
  await client.close();
  const [first, ...later] = server.sent;
  expect(first?.headers.has("mcp-session-id")).toBe(false);
  expect(later.map(({ method }) => method)).toContain("GET");
  for (const { headers } of later) expect(headers.get("mcp-session-id")).toBe("s-1");
});

proves("http.session.missing", async (world) => {
  const { http } = await httpSession(world, { tools: { echo } });
  const headers = { accept, ...(world.revision.versionHeader && { "mcp-protocol-version": world.version }) };
  const answer = await http.post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, headers);
  expect(answer.status).toBe(400);
});

proves("http.session.terminated", async (world) => {
  const session = await httpSession(world, { tools: { echo } }, { sessions: { idle: 60_000 } });
  await world.clock.advance(130_000);
  expect((await session.request("tools/list")).status).toBe(404);
  expect((await session.get()).status).toBe(404);
});

proves("http.session.client-reopens", async (world) => {
  let isLost = false;
  const { client, server } = await world.connect(
    {},
    {
      http: {
        intercept(request) {
          if (request.body.method !== "prompts/get" || isLost) return false;
          isLost = true;
          request.status(404);
          return true;
        },
      },
    },
  );
  const { request, outcome } = await requested(client, server);
  server.answer(request, gotPrompt);
  await outcome;
  const opened = server.sent.filter(({ body }) => body.method === "initialize");
  expect(opened.length).toBe(2);
  expect(opened[1]?.headers.has("mcp-session-id")).toBe(false);
});

proves("http.session.client-deletes", async (world) => {
  const { client, server } = await world.connect({}, { http: { sessionId: "s-1" } });
  await client.close();
  const deleted = server.sent.filter(({ method }) => method === "DELETE");
  expect(deleted.map(({ headers }) => headers.get("mcp-session-id"))).toEqual(["s-1"]);
});

proves("http.session.delete", async (world) => {
  const session = await httpSession(world, { tools: { echo } });
  expect((await session.http.send({ method: "DELETE", headers: session.headers })).status).toBe(204);
  expect((await session.request("tools/list")).status).toBe(404);
});

proves("http.session.delete-not-allowed", {
  async server(world) {
    const http = world.serveHttp({}, { sessions: false });
    expect((await http.send({ method: "DELETE", headers: { "mcp-session-id": "x" } })).status).toBe(405);
  },
  async client(world) {
    const errors: Error[] = [];
    const intercept = (request: { method: string; status: (code: number) => void }): boolean => {
      if (request.method !== "DELETE") return false;
      request.status(405);
      return true;
    };
    const { client } = await world.connect({ onError: (error) => errors.push(error) }, { http: { intercept } });
    await client.close();
    expect(errors).toEqual([]);
  },
});

proves("http.version-header.sent", async (world) => {
  const { client, server } = await world.connect();
  await requested(client, server);
  await client.close();
  const [, ...later] = server.sent;
  expect(new Set(later.map(({ method }) => method))).toEqual(new Set(["POST", "GET", "DELETE"]));
  for (const { headers } of later) expect(headers.get("mcp-protocol-version")).toBe(world.version);
});

proves("http.version-header.negotiated", async (world) => {
  const { connecting, server } = world.dial();
  server.refuse(await server.request("server/discover"), { code: -32601, message: "Method not found" });
  const request = await server.request("initialize");
  const serverInfo = { name: "scripted", version: "1" };
  server.answer(request, { protocolVersion: world.version, capabilities: { prompts: {} }, serverInfo });
  const client = await connecting;
  const { request: next } = await requested(client, server);
  expect(request.params.protocolVersion).toBe("2025-11-25");
  expect(server.httpOf(next).headers.get("mcp-protocol-version")).toBe(world.version);
});

const titled = tool({ title: "A title", call: () => "" });

proves("http.version-header.assumed", async (world) => {
  const http = world.serveHttp({ tools: { titled } }, { sessions: false });
  const answer = await http.post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { accept });
  // The title of a tool was a hint in its annotations then.
  expect((await answer.json()).result.tools).toMatchObject([{ annotations: { title: "A title" } }]);
});

proves("http.version-header.from-session", async (world) => {
  const session = await httpSession(world, { tools: { titled } });
  const headers = { accept, "mcp-session-id": session.id };
  const answer = await session.http.post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, headers);
  expect((await answer.json()).result.tools).toMatchObject([{ title: "A title" }]);
});

proves("http.version-header.invalid", async (world) => {
  const session = await httpSession(world, { tools: { echo } });
  for (const version of ["1999-01-01", "latest", "2025-11-25x"]) {
    const headers = { ...session.headers, "mcp-protocol-version": version };
    const answer = await session.http.post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, headers);
    expect(answer.status).toBe(400);
    expect((await session.get({ "mcp-protocol-version": version })).status).toBe(400);
  }
});
