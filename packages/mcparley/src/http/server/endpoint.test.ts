import { afterEach, describe, expect, test } from "vitest";
import { ProtocolError } from "../../rpc/errors.ts";
import { ToolError } from "../../mcp/errors.ts";
import { listen } from "../../node/listen.ts";
import { tool } from "../../server/definition.ts";
import type { AnyServerDefinition } from "../../server/core/options.ts";
import { rateLimit } from "../../server/observe/rate-limit.ts";
import { type Server, createServer } from "../../server/create-server.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { gate } from "mcparley-tests/support/gate.ts";
import { type RawHttp, metaOf, rawHttp } from "mcparley-tests/support/raw-http.ts";
import type { HttpOptions } from "./options.ts";
import { toFetch } from "../fetch/to-fetch.ts";

interface Served {
  client: RawHttp;
  server: Server;
  clock: FakeClock;
  errors: unknown[];
  close: () => Promise<void>;
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function serve(
  adapter: string,
  definition: Partial<AnyServerDefinition>,
  options: HttpOptions = {},
): Promise<Served> {
  const clock = fakeClock();
  const errors: unknown[] = [];
  const server = createServer({
    name: "test",
    version: "1.0.0",
    clock,
    onError: (error) => errors.push(error),
    ...definition,
  });
  if (adapter === "fetch") {
    const handler = toFetch(server, options);
    closers.push(handler.close);
    return { client: rawHttp("http://localhost/mcp", handler.fetch), server, clock, errors, close: handler.close };
  }
  const listening = await listen(server, { port: 0, ...options });
  closers.push(listening.close);
  return { client: rawHttp(listening.url, fetch), server, clock, errors, close: listening.close };
}

describe.each(["node", "fetch"])("over %s", (adapter) => {
  const echo = tool({ input: { type: "object" }, call: (input) => JSON.stringify(input) });

  test("answers a call with JSON if no message precedes its result", async () => {
    const { client } = await serve(adapter, { tools: { echo } });
    const answer = await client.modern("tools/call", { name: "echo", arguments: { a: 1 } }, { id: "x" });
    expect(answer.status).toBe(200);
    expect(answer.type).toBe("application/json");
    expect(await answer.json()).toMatchObject({
      jsonrpc: "2.0",
      id: "x",
      result: { resultType: "complete", content: [{ type: "text", text: '{"a":1}' }] },
    });
  });

  test("sends a long prepared list completely, with characters of any size", async () => {
    const names = Array.from({ length: 50 }, (_, index) => `tool-${index}`);
    const greets = tool({ description: "Grüßt: “你好”, 👋.", call: () => "" });
    const { client } = await serve(adapter, { tools: Object.fromEntries(names.map((name) => [name, greets])) });
    // The second response reuses the bytes that were encoded for the first one.
    for (const id of [1, 'a "quoted" id']) {
      const answer = await client.modern("tools/list", {}, { id });
      expect(answer.type).toBe("application/json");
      const message = await answer.json();
      expect(message).toMatchObject({ jsonrpc: "2.0", id });
      const tools = message.result?.tools as unknown[];
      expect(tools).toHaveLength(50);
      expect(tools.at(-1)).toMatchObject({ description: "Grüßt: “你好”, 👋." });
    }
  });

  test("answers a call that reports progress with a stream that ends with its result", async () => {
    const progress = tool({
      call: (_, ctx) => {
        ctx.progress(1, 2, "half");
        ctx.progress(2, 2);
        return "done";
      },
    });
    const { client } = await serve(adapter, { tools: { progress } });
    const answer = await client.modern("tools/call", { name: "progress" }, { id: 7, meta: { progressToken: "p" } });
    expect(answer.status).toBe(200);
    expect(answer.type).toBe("text/event-stream");
    expect(answer.headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(answer.headers.get("x-accel-buffering")).toBe("no");
    const half = { progressToken: "p", progress: 1, total: 2, message: "half" };
    expect(await answer.next()).toEqual({ jsonrpc: "2.0", method: "notifications/progress", params: half });
    expect(await answer.next()).toMatchObject({ params: { progress: 2 } });
    expect(await answer.next()).toMatchObject({ id: 7, result: { content: [{ text: "done" }] } });
    expect(await answer.next()).toBeUndefined();
  });

  test("turns the response of a silent call into a stream after 5 s, with a comment every 5 s", async () => {
    const slow = gate();
    const { client, clock } = await serve(adapter, { tools: { slow: tool(slow) } });
    let answered = false;
    const answering = client.modern("tools/call", { name: "slow" }).then((answer) => {
      answered = true;
      return answer;
    });
    await slow.entered;
    await clock.advance(4_999);
    expect(answered).toBe(false);
    await clock.advance(1);
    const answer = await answering;
    expect(answer.type).toBe("text/event-stream");
    expect(await answer.next()).toBe(":");
    await clock.advance(5_000);
    expect(await answer.next()).toBe(":");
    slow.open("late");
    expect(await answer.next()).toMatchObject({ result: { content: [{ text: "late" }] } });
    expect(await answer.next()).toBeUndefined();
  });

  test("sends an error with its status, or as an event if the response is a stream already", async () => {
    const failing = gate();
    const { client, clock } = await serve(adapter, { tools: { failing: tool(failing) } });
    const answering = client.modern("tools/call", { name: "failing" });
    await failing.entered;
    await clock.advance(5_000);
    failing.open(new ProtocolError(-32021, "late"));
    const answer = await answering;
    expect(answer.status).toBe(200);
    expect(await answer.next()).toBe(":");
    expect(await answer.next()).toMatchObject({ error: { code: -32021 } });
  });

  test.each([
    ["an unknown method", "nothing/here", {}, 404, -32601],
    ["a method of legacy revisions", "ping", {}, 404, -32601],
    ["an unknown tool", "tools/call", { name: "none" }, 200, -32602],
    ["a missing capability", "tools/call", { name: "asking" }, 400, -32021],
    ["a missing scope", "tools/call", { name: "guarded" }, 403, 403],
    ["an error with a custom status", "tools/call", { name: "busy" }, 429, -32600],
    ["a hidden error", "tools/call", { name: "broken" }, 200, -32603],
  ])("answers %s with its status and code", async (...[, method, params, status, code]) => {
    const tools = {
      asking: tool({ call: async (_, ctx) => JSON.stringify(await ctx.roots()) }),
      guarded: tool({ scopes: ["files:write", 'odd"scope'], call: () => "" }),
      busy: tool({
        call: () => {
          throw new ProtocolError(-32600, "busy", { status: 429, data: { retryAfter: 7 } });
        },
      }),
      broken: tool({
        call: () => {
          throw new Error("secret");
        },
      }),
    };
    const { client, errors } = await serve(adapter, { tools });
    const answer = await client.modern(method, params, { id: 3 });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ jsonrpc: "2.0", id: 3, error: { code } });
    expect(answer.headers.get("retry-after")).toBe(status === 429 ? "7" : null);
    expect(answer.headers.get("www-authenticate")).toBe(
      status === 403 ? 'Bearer error="insufficient_scope", scope="files:write odd\\"scope"' : null,
    );
    expect(errors).toHaveLength(code === -32603 ? 1 : 0);
  });

  test.each([false, true])(
    "answers with an internal error if the result is not JSON (streamed: %s)",
    async (streamed) => {
      const odd = tool({
        call: (_, ctx) => {
          if (streamed) ctx.progress(1);
          return { content: [], structuredContent: { big: 1n } };
        },
      });
      const { client, errors } = await serve(adapter, { tools: { odd } });
      const answer = await client.modern("tools/call", { name: "odd" }, { id: 4, meta: { progressToken: 1 } });
      if (streamed) await answer.next();
      const message = streamed ? await answer.next() : await answer.json();
      expect(message).toEqual({ jsonrpc: "2.0", id: 4, error: { code: -32603, message: "Internal error" } });
      expect(errors).toHaveLength(1);
    },
  );

  test("reports a message of a handler that is not JSON, and continues the call", async () => {
    const chatty = tool({
      call: (_, ctx) => {
        ctx.log.info({ big: 1n });
        return "fine";
      },
    });
    const { client, errors } = await serve(adapter, { tools: { chatty } });
    const meta = { "io.modelcontextprotocol/logLevel": "info" };
    const answer = await client.modern("tools/call", { name: "chatty" }, { meta });
    expect(await answer.json()).toMatchObject({ result: { content: [{ text: "fine" }] } });
    expect(errors).toHaveLength(1);
  });

  test("distinguishes the failure of a tool from a rate limit", async () => {
    const failing = tool({
      call: () => {
        throw new ToolError("no such city");
      },
    });
    const { client, server, clock } = await serve(adapter, { tools: { failing } });
    server.use(rateLimit({ perSecond: 1, burst: 1, clock }));
    const first = await client.modern("tools/call", { name: "failing" });
    expect(first.status).toBe(200);
    expect(await first.json()).toMatchObject({ result: { isError: true } });
    const second = await client.modern("tools/call", { name: "failing" });
    expect(second.status).toBe(429);
    expect(second.headers.get("retry-after")).toBe("1");
    await second.text();
  });

  test.each([
    ["nothing", ""],
    ["invalid JSON", "{"],
    ["two values", "{} {}"],
  ])("answers a body of %s with 400 and -32700", async (_, body) => {
    const { client } = await serve(adapter, { tools: { echo } });
    const answer = await client.post(body);
    expect(answer.status).toBe(400);
    const message = await answer.json();
    expect(message).toMatchObject({ error: { code: -32700 } });
    expect(message).not.toHaveProperty("id");
  });

  test("ignores a byte order mark before the body of a modern request and of a session", async () => {
    const { client } = await serve(adapter, { tools: { echo } });
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: {} } };
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo" };
    const modern = { ...call, params: { ...call.params, _meta: metaOf() } };
    expect(await (await client.post(`\uFEFF${JSON.stringify(modern)}`, headers)).json()).toHaveProperty("result");
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } };
    const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params };
    const opened = await client.post(`\uFEFF${JSON.stringify(initialize)}`);
    expect(await opened.json()).toHaveProperty("result");
    const session = { "mcp-session-id": String(opened.headers.get("mcp-session-id")) };
    expect(await (await client.post(`\uFEFF${JSON.stringify(call)}`, session)).json()).toHaveProperty("result");
  });

  test.each([
    ["no version", { id: 1, method: "server/discover" }, 1],
    ["a null id", { jsonrpc: "2.0", id: null, method: "server/discover" }, undefined],
    ["a fractional id", { jsonrpc: "2.0", id: 1.5, method: "server/discover" }, undefined],
    ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "server/discover" }, undefined],
    ["params that are an array", { jsonrpc: "2.0", id: 2, method: "server/discover", params: [1] }, 2],
    ["a number", 42, undefined],
    ["null", null, undefined],
  ])("answers a message with %s with 400 and -32600", async (_, body, id) => {
    const { client } = await serve(adapter, { tools: { echo } });
    const answer = await client.post(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      jsonrpc: "2.0",
      ...(id !== undefined && { id }),
      error: { code: -32600, message: expect.stringContaining("Invalid message") as string },
    });
  });

  test("distinguishes keys by case", async () => {
    const { client } = await serve(adapter, { tools: { echo } });
    const answer = await client.post({ jsonrpc: "2.0", id: 1, METHOD: "server/discover", Method: "server/discover" });
    expect(answer.status).toBe(400);
    await answer.text();
  });

  test.each(["clientCapabilities", "protocolVersion"])("answers a modern request without %s with 400", async (key) => {
    const { client } = await serve(adapter, { tools: { echo } });
    const { [`io.modelcontextprotocol/${key}`]: _, ...meta } = metaOf();
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover" };
    const message = { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: meta } };
    const answer = await client.post(message, headers);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ id: 1, error: { code: -32602 } });
  });

  test("answers an unknown modern version with 400, -32022 and the supported versions", async () => {
    const { client } = await serve(adapter, { tools: { echo } });
    const meta = { "io.modelcontextprotocol/protocolVersion": "v999" };
    const answer = await client.modern("server/discover", {}, { meta, headers: { "mcp-protocol-version": "v999" } });
    expect(answer.status).toBe(400);
    const { error } = await answer.json();
    expect(error).toMatchObject({ code: -32022, data: { requested: "v999" } });
    expect((error.data as { supported: string[] }).supported).toContain("2026-07-28");
  });

  test("ignores a session id on a modern request", async () => {
    const { client } = await serve(adapter, { tools: { echo } });
    const answer = await client.modern("tools/call", { name: "echo" }, { headers: { "mcp-session-id": "none" } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("mcp-session-id")).toBeNull();
    await answer.text();
  });

  test("accepts a modern notification with 202 and no body, and refuses a modern response", async () => {
    const { client } = await serve(adapter, { tools: { echo } });
    const headers = { "mcp-protocol-version": "2026-07-28" };
    const notification = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    const taken = await client.post(notification, headers);
    expect(taken.status).toBe(202);
    expect(await taken.text()).toBe("");
    const refused = await client.post({ jsonrpc: "2.0", id: 1, result: {} }, headers);
    expect(refused.status).toBe(400);
    await refused.text();
  });

  test.each(["PUT", "PATCH", "OPTIONS"])("answers %s with 405 and the allowed methods", async (method) => {
    const { client } = await serve(adapter, { tools: { echo } });
    const answer = await client.send({ method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, POST, DELETE");
    const message = `Method ${method} is not allowed; use GET, POST, DELETE.`;
    expect((await answer.json()).error.message).toBe(message);
  });

  test.each(["GET", "DELETE"])("answers %s without a session or legacy version with 405", async (method) => {
    const { client } = await serve(adapter, { tools: { echo } });
    const answer = await client.send({ method, headers: { "mcp-protocol-version": "2026-07-28" } });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("POST");
    await answer.text();
  });

  test("listen sends the acknowledgment, then changes, and ends with its result", async () => {
    const { client, server, close } = await serve(adapter, { tools: { echo } });
    const filter = { notifications: { toolsListChanged: true } };
    const answer = await client.modern("subscriptions/listen", filter, { id: "sub" });
    expect(answer.type).toBe("text/event-stream");
    const tagged = { _meta: { "io.modelcontextprotocol/subscriptionId": "sub" } };
    expect(await answer.next()).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { ...tagged, notifications: { toolsListChanged: true } },
    });
    server.tools.set("another", echo);
    expect(await answer.next()).toMatchObject({ method: "notifications/tools/list_changed", params: tagged });
    const closing = close();
    const ending = { method: "notifications/cancelled", params: { requestId: "sub", ...tagged } };
    expect(await answer.next()).toMatchObject(ending);
    expect(await answer.next()).toMatchObject({ id: "sub", result: { resultType: "complete", ...tagged } });
    expect(await answer.next()).toBeUndefined();
    await closing;
  });

  test("refuses listen with 406 if the client does not accept a stream", async () => {
    const { client } = await serve(adapter, { tools: { echo } });
    const filter = { notifications: { toolsListChanged: true } };
    const answer = await client.modern("subscriptions/listen", filter, { headers: { accept: "application/json" } });
    expect(answer.status).toBe(406);
    await answer.text();
  });

  test("answers listen streams over the limit with 503 and Retry-After", async () => {
    const { client } = await serve(adapter, { tools: { echo }, limits: { listenStreams: 1 } });
    const filter = { notifications: { toolsListChanged: true } };
    const first = await client.modern("subscriptions/listen", filter);
    await first.next();
    const second = await client.modern("subscriptions/listen", filter);
    expect(second.status).toBe(503);
    expect(second.headers.get("retry-after")).toBe("1");
    await second.text();
    await first.leave();
  });

  test("cancels a modern call when its client disconnects", async () => {
    const slow = gate();
    const { client } = await serve(adapter, { tools: { slow: tool(slow) } });
    const leaving = new AbortController();
    const answering = client.modern("tools/call", { name: "slow" }, { signal: leaving.signal });
    const ctx = await slow.entered;
    const cancelled = new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    leaving.abort();
    if (adapter === "node") await expect(answering).rejects.toThrow();
    await cancelled;
    expect(String(ctx.signal.reason)).toContain("closed the stream");
  });

  test("cancels a modern call when its client closes the stream of the response", async () => {
    const slow = gate();
    const { client } = await serve(adapter, { tools: { slow: tool(slow) } });
    const answering = client.modern("tools/call", { name: "slow" }, { meta: { progressToken: 1 } });
    const ctx = await slow.entered;
    const cancelled = new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    ctx.progress(1);
    const answer = await answering;
    await answer.next();
    await answer.leave();
    await cancelled;
    // Later messages and the result of the handler are discarded without an error.
    ctx.progress(2);
    slow.open("too late");
    await flushPromises();
  });

  test("cancelling a call affects no other call", async () => {
    const first = gate();
    const second = gate();
    const { client } = await serve(adapter, { tools: { first: tool(first), second: tool(second) } });
    const leaving = new AbortController();
    const dropped = client.modern("tools/call", { name: "first" }, { signal: leaving.signal });
    const kept = client.modern("tools/call", { name: "second" });
    const ctx = await first.entered;
    const other = await second.entered;
    const cancelled = new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    leaving.abort();
    if (adapter === "node") await expect(dropped).rejects.toThrow();
    await cancelled;
    expect(other.signal.aborted).toBe(false);
    second.open("kept");
    expect(await (await kept).json()).toMatchObject({ result: { content: [{ text: "kept" }] } });
  });

  test("close answers the requests in flight and refuses later ones", async () => {
    const slow = gate();
    const { client, close } = await serve(adapter, { tools: { slow: tool(slow), echo } });
    const answering = client.modern("tools/call", { name: "slow" });
    await slow.entered;
    const closing = close();
    const late = await client.modern("tools/call", { name: "echo" });
    expect(late.status).toBe(503);
    expect(late.headers.get("retry-after")).toBe("1");
    slow.open("in time");
    expect(await (await answering).json()).toMatchObject({ result: { content: [{ text: "in time" }] } });
    await closing;
  });

  test("close waits no longer than closeTimeout", async () => {
    const slow = gate();
    const { client, close, clock } = await serve(adapter, { tools: { slow: tool(slow) } }, { closeTimeout: 1_000 });
    const answering = client.modern("tools/call", { name: "slow" });
    answering.catch(() => {});
    await slow.entered;
    const closing = close();
    await clock.advance(1_000);
    await closing;
    slow.open("too late");
    if (adapter === "node") await expect(answering).rejects.toThrow();
    else await (await answering).text();
  });
});
