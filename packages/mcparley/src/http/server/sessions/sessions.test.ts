import { describe, expect, test, vi } from "vitest";
import { prompt, resource, tool } from "../../../server/definition.ts";
import type { Context } from "../../../server/core/context.ts";
import type { AnyServerDefinition } from "../../../server/core/options.ts";
import { type Server, createServer } from "../../../server/create-server.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../testing/fake-clock.ts";
import { gate } from "mcparley-tests/support/gate.ts";
import { type RawAnswer, type RawHttp, openHttpSession, rawHttp } from "mcparley-tests/support/raw-http.ts";
import type { HttpOptions } from "../options.ts";
import { toFetch } from "../../fetch/to-fetch.ts";

interface Served {
  client: RawHttp;
  server: Server;
  clock: FakeClock;
  close: () => Promise<void>;
}

const echo = tool({ input: { type: "object" }, call: (input) => JSON.stringify(input) });
const prompts = { p: prompt({ get: () => "" }) };
const resources = { note: resource("note://1", { read: () => "" }) };
const minute = 60_000;

function serve(options: HttpOptions = {}, definition: Partial<AnyServerDefinition> = {}): Served {
  const clock = fakeClock();
  const server = createServer({ name: "test", version: "1.0.0", clock, tools: { echo }, ...definition });
  const { fetch, close } = toFetch(server, options);
  return { client: rawHttp("http://localhost/mcp", fetch), server, clock, close };
}

const initialize = (protocolVersion = "2025-11-25", capabilities = {}): object => ({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion, capabilities, clientInfo: { name: "raw", version: "1.0.0" } },
});
const request = (method: string, params: object = {}, id: number | string = 1): object => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const notification = (method: string, params: object = {}): object => ({ jsonrpc: "2.0", method, params });

/** Opens a session and returns the headers of its requests. */
const open = (client: RawHttp, headers: Record<string, string> = {}): Promise<Record<string, string>> =>
  openHttpSession(client, { headers });

async function statusOf(answering: Promise<RawAnswer>): Promise<number> {
  const answer = await answering;
  await answer.text();
  return answer.status;
}

const ping = request("ping");
const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const modernHeaders = { "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover" };

describe("a session", () => {
  test("starts with initialize, whose response has its id", async () => {
    const { client } = serve();
    const answer = await client.post(initialize("2025-06-18"));
    expect(answer.status).toBe(200);
    expect(answer.type).toBe("application/json");
    const id = answer.headers.get("mcp-session-id")!;
    expect(id).toMatch(/^[!-~]{32,}$/);
    expect(await answer.json()).toMatchObject({ id: 0, result: { protocolVersion: "2025-06-18" } });
    const session = { "mcp-session-id": id };
    const ready = await client.post(notification("notifications/initialized"), session);
    expect(ready.status).toBe(202);
    expect(await ready.text()).toBe("");
    const called = await client.post(request("tools/call", { name: "echo", arguments: { a: 1 } }), session);
    expect(called.status).toBe(200);
    expect(await called.json()).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: { content: [{ type: "text", text: '{"a":1}' }] },
    });
  });

  test("has a unique id", async () => {
    const { client } = serve();
    const sessions = await Promise.all(Array.from({ length: 50 }, () => open(client)));
    expect(new Set(sessions.map((session) => session["mcp-session-id"])).size).toBe(50);
  });

  test("requires its id: a missing id is answered with 400, an unknown one with 404", async () => {
    const { client } = serve();
    await open(client);
    const missing = await client.post(ping);
    expect(missing.status).toBe(400);
    expect(await missing.json()).toMatchObject({ id: 1, error: { code: -32600 } });
    const wrong = await client.post(ping, { "mcp-session-id": "00000000-0000-0000-0000-000000000000" });
    expect(wrong.status).toBe(404);
    expect(await wrong.json()).toMatchObject({ id: 1, error: { code: -32600 } });
    const malformed = await client.post(ping, { "mcp-session-id": "one, two" });
    expect(malformed.status).toBe(400);
    expect((await malformed.json()).error.message).toContain('"one, two"');
    expect(await statusOf(client.post(notification("notifications/initialized")))).toBe(400);
    expect(await statusOf(client.send({ method: "GET", headers: { "mcp-protocol-version": "2025-06-18" } }))).toBe(400);
  });

  test("answers errors with 200, because 404 would mean that it has ended", async () => {
    const { client } = serve();
    const session = await open(client);
    const unknown = await client.post(request("nothing/here"), session);
    expect(unknown.status).toBe(200);
    expect(await unknown.json()).toMatchObject({ error: { code: -32601 } });
    expect(await statusOf(client.post(request("tools/call", {}), session))).toBe(200);
  });

  test("accepts any supported version in the header, and answers others with 400", async () => {
    const { client } = serve();
    const session = await open(client);
    expect(await statusOf(client.post(ping, { ...session, "mcp-protocol-version": "2025-03-26" }))).toBe(200);
    expect(await statusOf(client.post(ping, { ...session, "mcp-protocol-version": "2025-11-25" }))).toBe(200);
    const unknown = await client.post(ping, { ...session, "mcp-protocol-version": "2020-01-01" });
    expect(unknown.status).toBe(400);
    const { error } = await unknown.json();
    expect(error).toMatchObject({ code: -32600 });
    expect(error.message).toContain("2020-01-01");
    expect(error.message).toContain("2025-11-25");
  });

  test("cannot be initialized twice", async () => {
    const { client } = serve();
    const session = await open(client);
    const again = await client.post(initialize(), session);
    expect(await again.json()).toMatchObject({ error: { code: -32600 } });
    expect(await statusOf(client.post(initialize(), { "mcp-session-id": "gone" }))).toBe(404);
  });

  test("coexists with modern requests at the same endpoint", async () => {
    const { client } = serve();
    const session = await open(client);
    const [modern, legacy] = await Promise.all([
      client.modern("tools/call", { name: "echo" }),
      client.post(request("tools/call", { name: "echo" }), session),
    ]);
    expect((await modern.json()).result.resultType).toBe("complete");
    expect((await legacy.json()).result).not.toHaveProperty("resultType");
  });
});

describe("a session ends", () => {
  test("when its client deletes it, together with its calls and streams", async () => {
    const slow = gate();
    const { client } = serve({}, { tools: { slow: tool(slow) } });
    const session = await open(client);
    const standalone = await client.send({ method: "GET", headers: session });
    const answering = client.post(request("tools/call", { name: "slow" }), session);
    const ctx = await slow.entered;
    const deleted = await client.send({ method: "DELETE", headers: session });
    expect(deleted.status).toBe(204);
    expect(ctx.signal.aborted).toBe(true);
    slow.open("too late");
    expect(await (await answering).next()).toBeUndefined();
    expect(await standalone.next()).toBeUndefined();
    expect(await statusOf(client.post(ping, session))).toBe(404);
    expect(await statusOf(client.send({ method: "DELETE", headers: session }))).toBe(404);
  });

  test("after 30 minutes without a request", async () => {
    const { client, clock } = serve();
    const session = await open(client);
    await clock.advance(29 * minute);
    expect(await statusOf(client.post(ping, session))).toBe(200);
    await clock.advance(29 * minute);
    expect(await statusOf(client.post(ping, session))).toBe(200);
    await clock.advance(32 * minute);
    expect(await statusOf(client.post(ping, session))).toBe(404);
    expect(clock.pending).toBe(0);
  });

  test("but not while it has an open stream or a call in flight", async () => {
    const slow = gate();
    const { client, clock } = serve({ sessions: { idle: 2 * minute } }, { tools: { slow: tool(slow) } });
    const watching = await open(client);
    const calling = await open(client);
    const standalone = await client.send({ method: "GET", headers: watching });
    const answering = client.post(request("tools/call", { name: "slow" }), calling);
    await slow.entered;
    await clock.advance(8 * minute);
    expect(await statusOf(client.post(ping, watching))).toBe(200);
    expect(await statusOf(client.post(ping, calling))).toBe(200);
    await standalone.leave();
    slow.open("done");
    await (await answering).text();
    await clock.advance(3 * minute);
    expect(await statusOf(client.post(ping, watching))).toBe(404);
    expect(await statusOf(client.post(ping, calling))).toBe(404);
  });

  test("when the server closes", async () => {
    const { client, close } = serve();
    const session = await open(client);
    const standalone = await client.send({ method: "GET", headers: session });
    await close();
    expect(await standalone.next()).toBeUndefined();
    expect(await statusOf(client.post(ping, session))).toBe(503);
  });

  test("with its calls, when closeTimeout is over", async () => {
    const slow = gate();
    const { client, close, clock } = serve({ closeTimeout: 1_000 }, { tools: { slow: tool(slow) } });
    const session = await open(client);
    const answering = client.post(request("tools/call", { name: "slow" }), session);
    const ctx = await slow.entered;
    const closing = close();
    await clock.advance(999);
    expect(ctx.signal.aborted).toBe(false);
    await clock.advance(1);
    await closing;
    expect(ctx.signal.aborted).toBe(true);
    slow.open("too late");
    expect(await (await answering).next()).toBeUndefined();
  });

  test("a failed initialize opens no session", async () => {
    const { client } = serve({ sessions: { max: 1 } });
    const bad = { ...initialize(), params: { protocolVersion: "2025-11-25" } };
    for (let count = 0; count < 3; count++) {
      const answer = await client.post(bad);
      expect(answer.headers.get("mcp-session-id")).toBeNull();
      expect(await answer.json()).toMatchObject({ error: { code: -32602 } });
    }
    await open(client);
  });

  test("a new session is refused with 503 while all sessions are busy, until one ends", async () => {
    const { client } = serve({ sessions: { max: 2 } });
    const [first, second] = [await open(client), await open(client)];
    const stream = await client.send({ method: "GET", headers: first });
    await client.send({ method: "GET", headers: second });
    const refused = await client.post(initialize());
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(await refused.json()).toMatchObject({ id: 0 });
    await client.send({ method: "DELETE", headers: first });
    expect(await stream.next()).toBeUndefined();
    await client.send({ method: "GET", headers: await open(client) });
    expect(await statusOf(client.post(initialize()))).toBe(503);
  });
});

describe("a session belongs to the principal that opened it", () => {
  const authenticate: HttpOptions["auth"] = (head) => {
    const [subject, ...scopes] = (head.header("authorization") ?? "").split(" ");
    return subject ? { issuer: "https://issuer.example", subject, scopes } : undefined;
  };

  test("another principal receives 404 for every method", async () => {
    const { client } = serve({ auth: authenticate });
    const session = await open(client, { authorization: "alice" });
    for (const authorization of ["bob", ""]) {
      const other = { ...session, authorization };
      expect(await statusOf(client.post(ping, other))).toBe(404);
      expect(await statusOf(client.send({ method: "GET", headers: other }))).toBe(404);
      expect(await statusOf(client.send({ method: "DELETE", headers: other }))).toBe(404);
    }
    expect(await statusOf(client.post(ping, session))).toBe(200);
  });

  test("a principal receives 404 for an anonymous session", async () => {
    const { client } = serve({ auth: authenticate });
    const session = await open(client);
    expect(await statusOf(client.post(ping, { ...session, authorization: "alice" }))).toBe(404);
  });

  test("the scopes are those of each request, not of the first one", async () => {
    const guarded = tool({ scopes: ["write"], call: () => "written" });
    const { client } = serve({ auth: authenticate }, { tools: { guarded } });
    const session = await open(client, { authorization: "alice" });
    const call = request("tools/call", { name: "guarded" });
    const refused = await client.post(call, session);
    expect(refused.status).toBe(403);
    expect(refused.headers.get("www-authenticate")).toBe('Bearer error="insufficient_scope", scope="write"');
    await refused.text();
    const granted = await client.post(call, { ...session, authorization: "alice write" });
    expect(await granted.json()).toMatchObject({ result: { content: [{ text: "written" }] } });
    expect(await statusOf(client.post(call, session))).toBe(403);
  });
});

describe("a standalone stream", () => {
  test("carries messages that belong to no request, and comments when it is silent", async () => {
    const { client, server, clock } = serve();
    const session = await open(client);
    const stream = await client.send({ method: "GET", headers: { ...session, accept: "text/event-stream" } });
    expect(stream.status).toBe(200);
    expect(stream.type).toBe("text/event-stream");
    server.tools.set("more", echo);
    expect(await stream.next()).toEqual({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    await clock.advance(5_000);
    expect(await stream.next()).toBe(":");
    await stream.leave();
  });

  test("delivers each message once if there are two: the newer one, or the older one after that has ended", async () => {
    const { client, server } = serve();
    const session = await open(client);
    const older = await client.send({ method: "GET", headers: session });
    const newer = await client.send({ method: "GET", headers: session });
    server.tools.set("one", echo);
    expect(await newer.next()).toMatchObject({ method: "notifications/tools/list_changed" });
    await newer.leave();
    server.tools.set("two", echo);
    expect(await older.next()).toMatchObject({ method: "notifications/tools/list_changed" });
    await older.leave();
  });

  test("ends the oldest one if it is the fifth", async () => {
    const { client } = serve();
    const session = await open(client);
    const streams: RawAnswer[] = [];
    for (let count = 0; count < 5; count++) streams.push(await client.send({ method: "GET", headers: session }));
    const [oldest, ...others] = streams;
    expect(await oldest?.next()).toBeUndefined();
    for (const stream of others) await stream.leave();
  });

  test("starts with the missed messages, the last one of each kind", async () => {
    const note = { kind: "resource", uri: "note://1", read: () => "" } as const;
    const { client, server } = serve({}, { resources: {} });
    const session = await open(client);
    await statusOf(client.post(request("resources/subscribe", { uri: note.uri }), session));
    server.tools.set("one", echo);
    await flushPromises();
    server.tools.set("two", echo);
    server.resources.updated(note.uri);
    await flushPromises();
    const stream = await client.send({ method: "GET", headers: session });
    expect(await stream.next()).toMatchObject({ method: "notifications/tools/list_changed" });
    expect(await stream.next()).toMatchObject({ method: "notifications/resources/updated", params: { uri: note.uri } });
    server.tools.set("three", echo);
    expect(await stream.next()).toMatchObject({ method: "notifications/tools/list_changed" });
    await stream.leave();
    const next = await client.send({ method: "GET", headers: session });
    server.resources.updated(note.uri);
    expect(await next.next()).toMatchObject({ method: "notifications/resources/updated" });
    await next.leave();
  });

  test("starts with the last 100 messages if more were missed", async () => {
    const { client, server } = serve({}, { resources: {} });
    const session = await open(client);
    for (let note = 0; note < 150; note++) {
      await statusOf(client.post(request("resources/subscribe", { uri: `note://${note}` }), session));
      server.resources.updated(`note://${note}`);
      await flushPromises();
    }
    const stream = await client.send({ method: "GET", headers: session });
    server.tools.set("last", echo);
    const missed: unknown[] = [];
    for (let message = await stream.next(); ; message = await stream.next()) {
      if (typeof message !== "object" || message.method !== "notifications/resources/updated") break;
      missed.push(message.params?.uri);
    }
    expect(missed).toEqual(Array.from({ length: 100 }, (_, index) => `note://${index + 50}`));
    await stream.leave();
  });

  test("is refused with 406 if the client does not accept event streams", async () => {
    const { client } = serve();
    const session = await open(client);
    expect(await statusOf(client.send({ method: "GET", headers: { ...session, accept: "application/json" } }))).toBe(
      406,
    );
  });
});

describe("without sessions", () => {
  test("each legacy request is independent, in the revision of its header", async () => {
    const { client } = serve({ sessions: false });
    const opened = await client.post(initialize("2025-06-18"));
    expect(opened.status).toBe(200);
    expect(opened.headers.get("mcp-session-id")).toBeNull();
    expect((await opened.json()).result.protocolVersion).toBe("2025-06-18");
    expect(await statusOf(client.post(notification("notifications/initialized")))).toBe(202);
    const header = { "mcp-protocol-version": "2025-06-18" };
    const called = await client.post(request("tools/call", { name: "echo" }), header);
    expect(await called.json()).toMatchObject({ id: 1, result: { content: [{ text: "{}" }] } });
  });

  test("a request without a version is one of 2025-03-26", async () => {
    const { client } = serve({ sessions: false });
    const batch = await client.post([ping]);
    expect(batch.status).toBe(200);
    await batch.text();
    expect(await statusOf(client.post([ping], { "mcp-protocol-version": "2025-06-18" }))).toBe(400);
  });

  test("GET and DELETE are answered with 405, and responses with 400", async () => {
    const { client } = serve({ sessions: false });
    for (const method of ["GET", "DELETE"]) {
      const answer = await client.send({ method, headers: { "mcp-session-id": "x" } });
      expect(answer.status).toBe(405);
      expect(answer.headers.get("allow")).toBe("POST");
      await answer.text();
    }
    expect(await statusOf(client.post({ jsonrpc: "2.0", id: 1, result: {} }))).toBe(400);
  });

  test("initialize declares no capability that needs a session", async () => {
    const { client } = serve({ sessions: false }, { prompts, resources });
    const opened = await client.post(initialize());
    expect((await opened.json()).result.capabilities).toEqual({ tools: {}, prompts: {}, resources: {} });
    const modern = await client.post(request("server/discover", { _meta: modernMeta }), modernHeaders);
    const { result } = await modern.json();
    expect(result.capabilities).toMatchObject({ logging: {}, resources: { listChanged: true, subscribe: true } });
  });

  test.each([
    ["resources/subscribe", { uri: "note://1" }],
    ["resources/unsubscribe", { uri: "note://1" }],
    ["logging/setLevel", { level: "debug" }],
  ])("%s is an unknown method, because no later message could be sent", async (method, params) => {
    const { client } = serve({ sessions: false }, { resources });
    const header = { "mcp-protocol-version": "2025-11-25" };
    const answer = await client.post(request(method, params), header);
    expect((await answer.json()).error.code).toBe(-32601);
  });

  test("a handler's log messages are not sent, because logging is not declared", async () => {
    const chatty = tool({ call: (_, { log }) => log.error("no") });
    const { client } = serve({ sessions: false }, { tools: { chatty } });
    const answer = await client.post(request("tools/call", { name: "chatty" }));
    expect(answer.type).toBe("application/json");
    expect(await answer.text()).not.toContain("notifications/message");
  });

  const schema = { type: "object", properties: {} } as const;
  test.each<[string, (ctx: Context) => Promise<unknown>]>([
    ["roots", (ctx) => ctx.roots()],
    ["sampling", (ctx) => ctx.sample({ messages: [], maxTokens: 1 })],
    ["elicitation.form", (ctx) => ctx.elicit({ message: "?", schema })],
    ["elicitation.url", (ctx) => ctx.elicit({ message: "?", url: "https://a.example" })],
  ])("a request for %s fails with the option that prevents it, and is not sent", async (capability, ask) => {
    const asking = tool({ call: async (_, ctx) => JSON.stringify(await ask(ctx)) });
    const { client } = serve({ sessions: false }, { tools: { asking } });
    const answer = await client.post(request("tools/call", { name: "asking" }));
    expect(answer.type).toBe("application/json");
    const { message } = (await answer.json()).error;
    expect(message).toContain(`needs the client capability ${capability}, but the endpoint has no sessions`);
    expect(message).toContain("(sessions: false)");
    expect(message).not.toContain("has not declared");
  });
});

describe("the call of a legacy client", () => {
  test("continues after the client has disconnected", async () => {
    const slow = gate();
    const { client } = serve({}, { tools: { slow: tool(slow) } });
    const session = await open(client);
    const leaving = new AbortController();
    void client.post(request("tools/call", { name: "slow" }), session, leaving.signal);
    const ctx = await slow.entered;
    leaving.abort();
    await flushPromises();
    expect(ctx.signal.aborted).toBe(false);
    await statusOf(client.post(notification("notifications/cancelled", { requestId: 1 }), session));
    expect(ctx.signal.aborted).toBe(true);
    slow.open("");
  });

  test("receives an empty response if the client cancels it", async () => {
    const slow = gate();
    const { client } = serve({}, { tools: { slow: tool(slow) } });
    const session = await open(client);
    const answering = client.post(request("tools/call", { name: "slow" }), session);
    await slow.entered;
    expect(await statusOf(client.post(notification("notifications/cancelled", { requestId: 1 }), session))).toBe(202);
    slow.open("not wanted");
    expect(await (await answering).next()).toBeUndefined();
  });
});

describe("a request id in use", () => {
  test("is refused within its session, and is free in another", async () => {
    const slow = gate();
    const { client } = serve({}, { tools: { slow: tool(slow), echo } });
    const [one, two] = [await open(client), await open(client)];
    const answering = client.post(request("tools/call", { name: "slow" }, 5), one);
    await slow.entered;
    const again = await client.post(request("ping", {}, 5), one);
    expect(await again.json()).toMatchObject({ id: 5, error: { code: -32600 } });
    expect(await (await client.post(request("ping", {}, 5), two)).json()).toEqual({
      jsonrpc: "2.0",
      id: 5,
      result: {},
    });
    expect(await (await client.post(request("ping", {}, "5"), one)).json()).toMatchObject({ id: "5", result: {} });
    slow.open("done");
    expect((await (await answering).json()).result.content).toEqual([{ type: "text", text: "done" }]);
  });

  test("requests over limits.inFlight are answered with 429", async () => {
    const slow = gate();
    const { client } = serve({}, { tools: { slow: tool(slow) }, limits: { inFlight: 1 } });
    const session = await open(client);
    const answering = client.post(request("tools/call", { name: "slow" }), session);
    await slow.entered;
    const refused = await client.post(request("ping", {}, 2), session);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    await refused.text();
    slow.open("done");
    await (await answering).text();
  });
});

test("reports an error while a cancellation is processed, and answers the notification with 202", async () => {
  const errors: unknown[] = [];
  const waiting = gate();
  const onError = (error: unknown): void => void errors.push(error);
  const { client } = serve({}, { tools: { waiting: tool(waiting) }, onError });
  const session = await open(client);
  const calling = client.post(request("tools/call", { name: "waiting" }, 7), session);
  const { signal } = await waiting.entered;
  // Workers throw this error if a request uses the signal of another one.
  const failure = new Error("Cannot perform I/O on behalf of a different request.");
  const abort = vi.spyOn(AbortController.prototype, "abort").mockImplementation(() => {
    throw failure;
  });
  try {
    const cancelled = notification("notifications/cancelled", { requestId: 7 });
    expect(await statusOf(client.post(cancelled, session))).toBe(202);
  } finally {
    abort.mockRestore();
  }
  expect(signal.aborted).toBe(false);
  expect(errors).toEqual([failure]);
  waiting.open("late");
  await calling;
});
