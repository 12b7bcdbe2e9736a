import { afterEach, describe, expect, test } from "vitest";
import { listen } from "../../../node/listen.ts";
import type { Principal } from "../../../server/core/context.ts";
import { tool } from "../../../server/definition.ts";
import type { AnyServerDefinition } from "../../../server/core/options.ts";
import { type Server, createServer } from "../../../server/create-server.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../testing/fake-clock.ts";
import { gate } from "mcparley-tests/support/gate.ts";
import { type RawAnswer, type RawHttp, type RawMessage, rawHttp } from "mcparley-tests/support/raw-http.ts";
import type { HttpRequestHead } from "../../exchange.ts";
import type { HttpOptions } from "../options.ts";
import { toFetch } from "../../fetch/to-fetch.ts";

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

const echo = tool({ input: { type: "object" }, call: (input) => JSON.stringify(input) });

async function serve(
  options: HttpOptions = {},
  definition: Partial<AnyServerDefinition> = {},
  adapter = "fetch",
): Promise<Served> {
  const clock = fakeClock();
  const errors: unknown[] = [];
  const onError = (error: unknown): unknown => errors.push(error);
  const server = createServer({ name: "test", version: "1.0.0", clock, onError, tools: { echo }, ...definition });
  const given = { legacySse: true, path: "/mcp", closeTimeout: 1_000, ...options };
  if (adapter === "node") {
    const { port, close } = await listen(server, { port: 0, ...given });
    closers.push(close);
    return { client: rawHttp(`http://127.0.0.1:${port}/sse`, fetch), server, clock, errors, close };
  }
  const handler = toFetch(server, given);
  return { client: rawHttp("http://localhost/sse", handler.fetch), server, clock, errors, close: handler.close };
}

type Headers = Record<string, string>;

/** A client of 2024-11-05: its stream, and a function that posts messages. */
interface Opened {
  stream: RawAnswer;
  /** The path and query from the server's `endpoint` event. */
  endpoint: string;
  post: (body: unknown, headers?: Headers) => Promise<RawAnswer>;
  next: () => Promise<RawMessage>;
}

async function open(client: RawHttp, headers: Headers = {}): Promise<Opened> {
  const stream = await client.send({ method: "GET", headers: { accept: "text/event-stream", ...headers } });
  expect(stream.status).toBe(200);
  expect(stream.type).toBe("text/event-stream");
  const [, endpoint = ""] = /^event: endpoint\ndata: (.*)$/.exec((await stream.block()) ?? "") ?? [];
  const json = { "content-type": "application/json" };
  return {
    stream,
    endpoint,
    post: (body, more = {}) => client.send({ path: endpoint, body, headers: { ...json, ...headers, ...more } }),
    next: async () => (await stream.next()) as RawMessage,
  };
}

const initialize = (protocolVersion = "2024-11-05"): object => ({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion, capabilities: { sampling: {} }, clientInfo: { name: "raw", version: "1.0.0" } },
});
const request = (method: string, params: object = {}, id: number | string = 1): object => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };

async function ready(client: RawHttp, headers: Headers = {}, revision?: string): Promise<Opened> {
  const opened = await open(client, headers);
  await opened.post(initialize(revision));
  await opened.next();
  await opened.post(initialized);
  return opened;
}

describe.each(["node", "fetch"])("over %s", (adapter) => {
  test("sends the URL for messages on the stream, and replies on the stream", async () => {
    const { client } = await serve({}, {}, adapter);
    const { endpoint, post, next, stream } = await open(client);
    expect(endpoint).toMatch(/^\/messages\?sessionId=[0-9a-f-]{36}\.[0-9a-f]{8}\.[0-9a-z]+$/);
    const accepted = await post(initialize());
    expect(accepted.status).toBe(202);
    expect(await accepted.text()).toBe("");
    expect(await next()).toMatchObject({
      id: 0,
      result: { protocolVersion: "2024-11-05", serverInfo: { name: "test" } },
    });
    expect((await post(initialized)).status).toBe(202);
    await post(request("tools/call", { name: "echo", arguments: { a: 1 } }, "x"));
    expect(await stream.block()).toBe(
      'event: message\ndata: {"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"{\\"a\\":1}"}]}}',
    );
    await stream.leave();
  });

  test("ends the session and its calls when the client disconnects", async () => {
    const slow = gate();
    const { client } = await serve({}, { tools: { slow: tool(slow) } }, adapter);
    const { stream, post } = await ready(client);
    await post(request("tools/call", { name: "slow" }));
    const { signal } = await slow.entered;
    const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
    await stream.leave();
    await aborted;
    expect((await post(request("ping"))).status).toBe(404);
  });

  test("is off by default", async () => {
    const { client } = await serve({ legacySse: false }, {}, adapter);
    expect((await client.send({ method: "GET" })).status).toBe(404);
  });
});

describe("revisions", () => {
  test.each([
    ["2024-10-07", "2024-10-07"],
    ["2024-11-05", "2024-11-05"],
    ["2025-03-26", "2025-03-26"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["2026-07-28", "2025-11-25"],
    ["1.0", "2025-11-25"],
  ])("negotiates %s as %s", async (asked, agreed) => {
    const { client } = await serve();
    const { post, next } = await open(client);
    await post(initialize(asked));
    expect((await next()).result).toMatchObject({ protocolVersion: agreed });
  });

  test("supports titles, structured content and forms for a client of 2025-11-25", async () => {
    const output = { type: "object", properties: { guests: { type: "number" } }, required: ["guests"] } as const;
    const book = tool({
      title: "Book a table",
      output,
      call: (_, ctx) =>
        ctx.elicit({
          message: "How many?",
          schema: { type: "object", properties: { guests: { type: "number" } } },
        }) as any,
    });
    const { client } = await serve({}, { tools: { book } });
    const { post, next } = await open(client);
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: { elicitation: { form: {} } },
      clientInfo: { name: "raw", version: "1.0.0" },
    };
    await post(request("initialize", params, 0));
    expect((await next()).result).toMatchObject({ protocolVersion: "2025-11-25" });
    await post(initialized);
    await post(request("tools/list"));
    expect((await next()).result).toMatchObject({ tools: [{ title: "Book a table", outputSchema: output }] });
    await post(request("tools/call", { name: "book" }, 2));
    const asked = await next();
    expect(asked).toMatchObject({ method: "elicitation/create", params: { message: "How many?" } });
    await post({ jsonrpc: "2.0", id: asked.id, result: { action: "accept", content: { guests: 2 } } });
    expect(await next()).toMatchObject({ id: 2, result: { structuredContent: { guests: 2 } } });
  });

  test("answers only pings before initialize", async () => {
    const { client } = await serve();
    const { post, next } = await open(client);
    await post(request("ping", {}, 1));
    expect(await next()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    await post(request("tools/list", {}, 2));
    expect(await next()).toMatchObject({ id: 2, error: { code: -32600 } });
  });

  test("still serves the endpoint of the other revisions", async () => {
    const { client } = await serve();
    const discovered = await client.send({
      path: "/mcp",
      body: initialize("2025-11-25"),
      headers: { "content-type": "application/json" },
    });
    expect(await discovered.json()).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  });
});

describe("messages", () => {
  test("sends an input request on the stream, and reads the response from a POST", async () => {
    const ask = tool({
      call: async (_, ctx) => {
        const { content } = await ctx.sample({ messages: [], maxTokens: 1 });
        return JSON.stringify(content);
      },
    });
    const { client } = await serve({}, { tools: { ask } });
    const { post, next } = await ready(client);
    await post(request("tools/call", { name: "ask" }));
    const question = await next();
    expect(question).toMatchObject({ method: "sampling/createMessage" });
    const result = { role: "assistant", model: "m", content: { type: "text", text: "Hi" } };
    await post({ jsonrpc: "2.0", id: question.id, result });
    expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: '{"type":"text","text":"Hi"}' }] } });
  });

  test("sends all progress before the result", async () => {
    const progress = tool({
      call: (_, ctx) => {
        for (let done = 1; done <= 50; done++) ctx.progress(done);
        return "done";
      },
    });
    const { client } = await serve({}, { tools: { progress } });
    const { post, next } = await ready(client);
    await post(request("tools/call", { name: "progress", _meta: { progressToken: "p" } }));
    for (let done = 1; done <= 50; done++) expect(await next()).toMatchObject({ params: { progress: done } });
    expect(await next()).toMatchObject({ id: 1 });
  });

  test("sends no reply to a cancelled call, and replies to the others", async () => {
    const slow = gate();
    const { client } = await serve({}, { tools: { slow: tool(slow), echo } });
    const { post, next } = await ready(client);
    await post(request("tools/call", { name: "slow" }, 5));
    const { signal } = await slow.entered;
    await post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } });
    expect(signal.aborted).toBe(true);
    slow.open("late");
    await post(request("ping", {}, 6));
    expect(await next()).toMatchObject({ id: 6 });
  });

  test("sends change notifications on the stream", async () => {
    const { client, server } = await serve();
    const { next } = await ready(client);
    server.tools.set("another", echo);
    expect(await next()).toMatchObject({ method: "notifications/tools/list_changed" });
  });

  test("answers a batch with a batch on the revision that has batches", async () => {
    const { client } = await serve();
    const { post, stream } = await ready(client, {}, "2025-03-26");
    expect((await post([request("ping", {}, 1), initialized, request("ping", {}, 2)])).status).toBe(202);
    expect(await stream.next()).toMatchObject([{ id: 1 }, { id: 2 }]);
    expect((await post([])).status).toBe(400);
    expect((await post(Array.from({ length: 101 }, () => initialized))).status).toBe(400);
    expect((await post([{ nonsense: true }])).status).toBe(400);
  });

  test("fails only the call whose result is not JSON", async () => {
    const bad = tool({ call: () => ({ content: [], _meta: { size: 1n } }) as never });
    const { client, errors } = await serve({}, { tools: { bad } });
    const { post, next } = await ready(client);
    await post(request("tools/call", { name: "bad" }));
    expect(await next()).toMatchObject({ id: 1, error: { code: -32603, message: "Internal error" } });
    expect(errors).toHaveLength(1);
  });

  test("answers the POST of an invalid message with 400", async () => {
    const { client } = await serve({ maxBody: 1_000 });
    const { post, endpoint } = await ready(client);
    const text = async (body: string, type = "application/json"): Promise<number> =>
      (await client.send({ path: endpoint, body, headers: { "content-type": type } })).status;
    expect(await text("{")).toBe(400);
    expect(await text('{"jsonrpc":"1.0"}')).toBe(400);
    expect(await text("a=1", "application/x-www-form-urlencoded")).toBe(415);
    expect(await text(`"${"x".repeat(1_000)}"`)).toBe(413);
    const refused = await post({ jsonrpc: "2.0", id: 3, method: 4 });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ id: 3, error: { code: -32600 } });
  });

  test("answers other methods of each path with 405, and a GET that accepts no stream with 406", async () => {
    const { client } = await serve();
    const posted = await client.post(initialize());
    expect(posted.status).toBe(405);
    expect(posted.headers.get("allow")).toBe("GET");
    const got = await client.send({ method: "GET", path: "/messages?sessionId=x" });
    expect(got.status).toBe(405);
    expect(got.headers.get("allow")).toBe("POST");
    expect((await client.send({ method: "GET", headers: { accept: "application/json" } })).status).toBe(406);
  });
});

describe("a session belongs to the principal that opened it", () => {
  const known: Record<string, Principal> = {
    alice: { issuer: "https://as.example", subject: "alice", scopes: ["write"] },
    "alice reading": { issuer: "https://as.example", subject: "alice", scopes: [] },
    bob: { issuer: "https://as.example", subject: "bob", scopes: ["write"] },
  };
  const authenticate = (head: HttpRequestHead): Principal | undefined => known[head.header("authorization") ?? ""];

  test("other principals are answered as if it did not exist", async () => {
    const { client } = await serve({ auth: authenticate });
    const { post } = await ready(client, { authorization: "alice" });
    expect((await post(request("ping"), { authorization: "bob" })).status).toBe(404);
    expect((await post(request("ping"), { authorization: "nobody" })).status).toBe(404);
    expect((await post(request("ping"))).status).toBe(202);
  });

  test("the principal may send another credential, whose scopes apply to the request", async () => {
    const write = tool({ scopes: ["write"], call: () => "written" });
    const { client } = await serve({ auth: authenticate }, { tools: { write } });
    const { post, next } = await ready(client, { authorization: "alice" });
    await post(request("tools/call", { name: "write" }, 1));
    expect(await next()).toMatchObject({ id: 1, result: {} });
    await post(request("tools/call", { name: "write" }, 2), { authorization: "alice reading" });
    expect(await next()).toMatchObject({ id: 2, error: {} });
  });

  test("an unknown session is answered with 404, and a missing session id with 400", async () => {
    const { client } = await serve();
    const json = { "content-type": "application/json" };
    const unknown = { body: request("ping"), headers: json };
    expect((await client.send({ path: "/messages?sessionId=1", ...unknown })).status).toBe(404);
    expect((await client.send({ path: "/messages", ...unknown })).status).toBe(400);
  });
});

describe("guards and limits", () => {
  test("refuses a foreign Host or Origin on both paths", async () => {
    const { client } = await serve();
    const { post } = await ready(client);
    expect((await client.send({ method: "GET", headers: { host: "evil.example" } })).status).toBe(403);
    expect((await client.send({ method: "GET", headers: { origin: "https://evil.example" } })).status).toBe(403);
    expect((await post(request("ping"), { origin: "https://evil.example" })).status).toBe(403);
  });

  test("opens no more than sessions.max sessions, and another one after one has ended", async () => {
    const { client } = await serve({ sessions: { max: 2 } });
    const first = await ready(client);
    await ready(client);
    const refused = await client.send({ method: "GET" });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("60");
    await first.stream.leave();
    await open(client);
  });

  test("ends a stream that is not initialized within 30 s, and no other", async () => {
    const { client, clock } = await serve({ keepAlive: 600_000 });
    const idle = await open(client);
    const used = await ready(client);
    await clock.advance(30_000);
    expect(await idle.stream.block()).toBeUndefined();
    expect((await idle.post(initialize())).status).toBe(404);
    await used.post(request("ping"));
    expect(await used.next()).toMatchObject({ id: 1 });
  });

  test("sends a comment on a silent stream every 5 s", async () => {
    const { client, clock } = await serve();
    const { stream } = await ready(client);
    await clock.advance(5_000);
    expect(await stream.next()).toBe(":");
  });

  test("close answers the requests in flight, then ends the streams", async () => {
    const slow = gate();
    const { client, close } = await serve({}, { tools: { slow: tool(slow) } });
    const busy = await ready(client);
    const idle = await ready(client);
    await busy.post(request("tools/call", { name: "slow" }));
    await slow.entered;
    const closing = close();
    expect(await idle.stream.block()).toBeUndefined();
    await flushPromises();
    slow.open("done");
    expect(await busy.next()).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } });
    expect(await busy.stream.block()).toBeUndefined();
    await closing;
  });

  test("close cancels calls that exceed closeTimeout", async () => {
    const slow = gate();
    const { client, clock, close } = await serve({}, { tools: { slow: tool(slow) } });
    const { post, stream } = await ready(client);
    await post(request("tools/call", { name: "slow" }));
    const { signal } = await slow.entered;
    const closing = close();
    await clock.advance(1_000);
    await closing;
    expect(signal.aborted).toBe(true);
    expect(await stream.block()).toBeUndefined();
  });
});

describe("paths", () => {
  test("are those of the options, with or without a slash at the end", async () => {
    const { client } = await serve({ legacySse: { path: "/old/stream", messages: "/old/post" }, path: "/new" });
    const stream = await client.send({ method: "GET", path: "/old/stream/" });
    expect(await stream.block()).toMatch(/data: \/old\/post\?sessionId=/);
    expect((await client.send({ method: "GET", path: "/sse" })).status).toBe(404);
  });

  test("have precedence over an endpoint at every path", async () => {
    const server = createServer({ name: "test", version: "1.0.0" });
    const client = rawHttp("http://localhost/sse", toFetch(server, { legacySse: true }).fetch);
    const { post, next } = await open(client);
    await post(initialize());
    expect(await next()).toMatchObject({ id: 0 });
    const headers = { "content-type": "application/json" };
    const elsewhere = await client.send({ path: "/anywhere", body: initialize("2025-11-25"), headers });
    expect(await elsewhere.json()).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  });

  test.each([
    { path: "/sse", legacySse: true },
    { path: "/mcp", legacySse: { messages: "mcp/" } },
    { legacySse: { path: "/x", messages: "/x" } },
  ] satisfies HttpOptions[])("must differ: %j", (options) => {
    const server = createServer({ name: "test", version: "1.0.0" });
    expect(() => toFetch(server, options)).toThrow(/legacySse.path and legacySse.messages must differ/);
  });
});
