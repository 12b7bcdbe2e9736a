import { expect, test } from "vitest";
import type { LocalError } from "../../rpc/errors.ts";
import type { JsonObject, JsonRpcMessage, RequestId } from "../../rpc/messages.ts";
import type { Transport } from "../../rpc/transport.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { type FetchStub, type SentRequest, fetchStub } from "mcparley-tests/support/fetch-stub.ts";
import type { HttpTarget } from "./settings.ts";
import { httpTransports } from "./transport.ts";

interface TestTransport extends FetchStub {
  transport: Transport;
  clock: FakeClock;
  messages: unknown[];
  failures: [RequestId, LocalError][];
  problems: LocalError[];
  closed: () => number;
  send: (message: JsonRpcMessage, headers?: Record<string, string>) => Promise<void>;
}

function openTransport(target: Partial<HttpTarget> = {}): TestTransport {
  const stubbed = fetchStub();
  const clock = fakeClock();
  const dialer = httpTransports({ url: "https://example.com/mcp", fetch: stubbed.fetch, clock, ...target });
  const transport = dialer.open();
  const messages: unknown[] = [];
  const failures: [RequestId, LocalError][] = [];
  const problems: LocalError[] = [];
  let closed = 0;
  void transport.start({
    message: (value) => messages.push(value),
    failed: (id, error) => failures.push([id, error as LocalError]),
    malformed: (error) => problems.push(error as LocalError),
    closed: () => void closed++,
  });
  const send = async (message: JsonRpcMessage, headers?: Record<string, string>): Promise<void> => {
    await transport.send(message, headers && { headers });
  };
  return { ...stubbed, transport, clock, messages, failures, problems, closed: () => closed, send };
}

const modern = (id: RequestId, method = "tools/call", params: JsonObject = { name: "add" }): JsonRpcMessage => ({
  jsonrpc: "2.0",
  id,
  method,
  params: { ...params, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
});
const legacy = (id: RequestId, method = "tools/call", params: JsonObject = { name: "add" }): JsonRpcMessage => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const result = (id: RequestId, value: JsonObject = {}): JsonObject => ({ jsonrpc: "2.0", id, result: value });
const cancelled = (requestId: RequestId): JsonRpcMessage => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});

/** Opens a legacy session. The next request that the test receives is the GET for the standalone stream. */
async function session(target: Partial<HttpTarget> = {}, version = "2025-11-25"): Promise<TestTransport> {
  const opened = openTransport(target);
  const { send, next } = opened;
  const opening = send(legacy("init", "initialize", { protocolVersion: version }));
  const initialize = await next();
  initialize.json(result("init", { protocolVersion: version }), {
    headers: { "content-type": "application/json", "mcp-session-id": "s-1" },
  });
  await opening;
  const sending = send({ jsonrpc: "2.0", method: "notifications/initialized" });
  (await next()).status(202);
  await sending;
  opened.messages.length = 0;
  return opened;
}

/** Opens a session whose server has no standalone stream. */
async function quietSession(target: Partial<HttpTarget> = {}, version?: string): Promise<TestTransport> {
  const opened = await session(target, version);
  (await opened.next()).status(405);
  await flushPromises();
  return opened;
}

test("a modern message is a POST with the headers that mirror it, and its JSON response is delivered", async () => {
  const { send, next, messages } = openTransport({ headers: { "x-team": "a" } });
  void send(modern(1, "tools/call", { name: "größe" }), { "Mcp-Param-Region": "eu" });
  const { url, method, headers, body, json } = await next();
  expect(url).toBe("https://example.com/mcp");
  expect(method).toBe("POST");
  expect(body.id).toBe(1);
  expect(Object.fromEntries(headers)).toEqual({
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "=?base64?Z3LDtsOfZQ==?=",
    "mcp-param-region": "eu",
    "x-team": "a",
  });
  json(result(1, { sum: 3 }));
  await flushPromises();
  expect(messages).toEqual([result(1, { sum: 3 })]);
});

test.each([
  ["resources/read", { uri: "note://1" }, "note://1"],
  ["prompts/get", { name: "review" }, "review"],
  ["tools/list", {}, null],
])("%s has the required Mcp-Name header", async (method, params, name) => {
  const { send, next } = openTransport();
  void send(modern(1, method, params));
  expect((await next()).headers.get("mcp-name")).toBe(name);
});

test("the messages of a stream are delivered in order, the response last", async () => {
  const { send, next, messages, failures } = openTransport();
  void send(modern(1));
  const stream = (await next()).stream();
  const progress = Array.from({ length: 20 }, (_, done) => ({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { done },
  }));
  stream.raw(": keep-alive\n\n");
  for (const one of progress) stream.event(one);
  stream.event(result(1));
  stream.end();
  await flushPromises();
  expect(messages).toEqual([...progress, result(1)]);
  expect(failures).toEqual([]);
});

test("a stream that the server leaves open after the response is closed after a delay", async () => {
  const { send, next, clock, messages } = openTransport();
  void send(modern(1));
  const hit = await next();
  hit.stream().event(result(1));
  await flushPromises();
  expect(messages).toEqual([result(1)]);
  expect(hit.signal.aborted).toBe(false);
  await clock.advance(1_000);
  expect(hit.signal.aborted).toBe(true);
  expect(clock.pending).toBe(0);
});

test("cancelling a modern request closes its stream and sends nothing", async () => {
  const { send, next, waiting, failures } = openTransport();
  void send(modern(1));
  void send(modern(2));
  const hits = [await next(), await next()];
  await send(cancelled(1));
  await flushPromises();
  expect(hits.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  expect(waiting()).toBe(0);
  expect(failures).toEqual([]);
});

test("a modern stream that ends without a response fails only its request, and is not resumed", async () => {
  const { send, next, failures, waiting, clock } = openTransport();
  void send(modern(1));
  void send(modern(2));
  const first = (await next()).stream();
  const second = await next();
  first.event({ jsonrpc: "2.0", method: "notifications/progress" }, "e1");
  first.end();
  await flushPromises();
  expect(failures).toEqual([[1, expect.objectContaining({ code: "closed" })]]);
  expect(second.signal.aborted).toBe(false);
  await clock.advance(60_000);
  expect(waiting()).toBe(0);
});

test("cancelling a legacy request notifies the server before its stream is closed", async () => {
  const { send, next, failures } = await quietSession();
  void send(legacy(1));
  const call = await next();
  const cancelling = send(cancelled(1));
  const cancellation = await next();
  expect(cancellation.body).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });
  expect(call.signal.aborted).toBe(false);
  cancellation.status(202);
  await cancelling;
  expect(call.signal.aborted).toBe(true);
  expect(failures).toEqual([]);
});

test("all legacy requests of a session contain its headers, and no modern request does", async () => {
  const { send, next } = await quietSession();
  void send(legacy(1));
  const inSession = await next();
  expect(inSession.headers.get("mcp-session-id")).toBe("s-1");
  expect(inSession.headers.get("mcp-protocol-version")).toBe("2025-11-25");
  expect(inSession.headers.has("mcp-method")).toBe(false);
  void send(result(9) as unknown as JsonRpcMessage);
  expect((await next()).headers.get("mcp-session-id")).toBe("s-1");
  void send(modern(2));
  expect((await next()).headers.has("mcp-session-id")).toBe(false);
});

test("a revision without the version header does not send it, also after a modern probe", async () => {
  const { send, next } = openTransport();
  void send(modern(0, "server/discover", {}));
  (await next()).status(400);
  await flushPromises();
  void send(legacy(1, "initialize", { protocolVersion: "2025-11-25" }));
  (await next()).json(result(1, { protocolVersion: "2025-03-26" }));
  await flushPromises();
  void send({ jsonrpc: "2.0", method: "notifications/initialized" });
  expect(Object.fromEntries((await next()).headers)).toEqual({
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  });
});

test("notifications/initialized is repeated until it is accepted, and then the standalone stream is opened", async () => {
  const { send, next, waiting, clock, problems } = openTransport();
  void send(legacy("init", "initialize", { protocolVersion: "2025-11-25" }));
  const initialize = await next();
  initialize.json(result("init", { protocolVersion: "2025-11-25" }), {
    headers: { "content-type": "application/json", "mcp-session-id": "s-1" },
  });
  await flushPromises();
  const sending = send({ jsonrpc: "2.0", method: "notifications/initialized" });
  (await next()).status(502);
  while (waiting() === 0) await clock.advance(50);
  (await next()).status(503);
  while (waiting() === 0) await clock.advance(50);
  (await next()).status(202);
  await sending;
  expect((await next()).method).toBe("GET");
  expect(problems).toEqual([]);
});

test("a response is repeated until it is accepted, because the server waits for it", async () => {
  const { send, next, waiting, clock } = await quietSession();
  const sending = send({ jsonrpc: "2.0", id: "q", result: {} });
  (await next()).status(503);
  while (waiting() === 0) await clock.advance(50);
  const again = await next();
  expect(again.body).toMatchObject({ id: "q", result: {} });
  again.status(202);
  await sending;
});

test("a refused notifications/initialized is not sent again", async () => {
  const { send, next } = openTransport();
  void send(legacy("init", "initialize", { protocolVersion: "2025-11-25" }));
  (await next()).json(result("init", { protocolVersion: "2025-11-25" }));
  await flushPromises();
  const sending = send({ jsonrpc: "2.0", method: "notifications/initialized" });
  (await next()).status(400);
  await expect(sending).rejects.toMatchObject({ code: "http", data: { status: 400 } });
});

test("no request is sent before notifications/initialized is accepted", async () => {
  const { send, next, waiting } = openTransport();
  void send(legacy(1, "initialize"));
  (await next()).json(result(1, { protocolVersion: "2025-11-25" }));
  await flushPromises();
  void send({ jsonrpc: "2.0", method: "notifications/initialized" });
  void send(legacy(2));
  const initialized = await next();
  await flushPromises();
  expect(waiting()).toBe(0);
  initialized.status(202);
  expect((await next()).body.id).toBe(2);
});

test("404 ends the session, with any JSON-RPC error, and its other requests continue", async () => {
  const { send, next, failures } = await quietSession();
  void send(legacy(1));
  void send(legacy(2));
  const first = await next();
  await next();
  first.json(
    { jsonrpc: "2.0", id: 1, error: { code: -32600, message: "Session not found" } },
    {
      status: 404,
      headers: { "content-type": "application/json" },
    },
  );
  await flushPromises();
  expect(failures).toEqual([[1, expect.objectContaining({ code: "session_lost" })]]);
  await expect(Promise.all([send(cancelled(2)), next().then((hit) => hit.status(404))])).rejects.toMatchObject({
    code: "session_lost",
  });
});

test.each([
  ["a matching id", { jsonrpc: "2.0", id: 1, error: { code: -32601, message: "no" } }],
  ["no id", { jsonrpc: "2.0", error: { code: -32022, message: "no" } }],
  ["a null id", { jsonrpc: "2.0", id: null, error: { code: -32001, message: "no" } }],
])("a JSON-RPC error with %s answers the request with any status", async (_, error) => {
  for (const status of [400, 404, 500]) {
    const { send, next, messages, failures } = openTransport();
    void send(modern(1));
    (await next()).json(error, { status, headers: { "content-type": "application/json" } });
    await flushPromises();
    expect(messages).toEqual([{ ...error, id: 1 }]);
    expect(failures).toEqual([]);
  }
});

test("other statuses fail the request with the status and the start of the body, without secrets", async () => {
  const { send, next, failures } = openTransport();
  void send(modern(1));
  (await next()).text(`Oops\n token=abc ${"x".repeat(5_000)}`, {
    status: 500,
    statusText: "Internal Server Error",
  });
  await flushPromises();
  const [[, error]] = failures as [[RequestId, LocalError]];
  expect(error.code).toBe("http");
  expect(error.message).toMatch(
    /^The server answered tools\/call with 500 Internal Server Error: Oops token=\[redacted\] x/,
  );
  expect(error.message.length).toBeLessThan(1_200);
  expect(error.data).toMatchObject({ status: 500 });
});

test("a JSON or HTML body is explained in the message, and its start is in the data", async () => {
  const page =
    "<!DOCTYPE html><title>Error</title><pre>PayloadTooLargeError: request entity too large<br> at read</pre>";
  const problem = '{"type":"about:blank","detail":"The disk is full"}';
  for (const [body, type, explanation] of [
    [page, "text/html", "PayloadTooLargeError: request entity too large"],
    [problem, "application/problem+json", "The disk is full"],
  ] as const) {
    const { send, next, failures } = openTransport();
    void send(modern(1));
    (await next()).text(body, { status: 413, statusText: "Too Large", headers: { "content-type": type } });
    await flushPromises();
    expect(failures[0]?.[1]).toMatchObject({
      message: `The server answered tools/call with 413 Too Large: ${explanation}`,
      data: { status: 413, body },
    });
  }
});

test.each([
  ["7", 7_000],
  [new Date(90_000).toUTCString(), 90_000],
])("Retry-After %s is in the error of a busy server", async (header, retryAfterMs) => {
  const { send, next, failures } = openTransport();
  void send(modern(1));
  (await next()).status(429, { "retry-after": header });
  await flushPromises();
  expect(failures[0]?.[1]).toMatchObject({ code: "http", data: { status: 429, retryAfterMs } });
});

test.each([401, 403])("the error for status %i without authorization contains the challenge", async (status) => {
  const { send, next, failures } = openTransport();
  void send(modern(1));
  (await next()).status(status, { "www-authenticate": 'Bearer scope="a"' });
  await flushPromises();
  expect(failures[0]?.[1]).toMatchObject({ code: "unauthorized", data: { status, challenge: 'Bearer scope="a"' } });
});

test("the error of an unreachable host names the host and the reason", async () => {
  const { send, next, failures } = openTransport();
  void send(modern(1));
  (await next()).fail(
    new TypeError("fetch failed", { cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }) }),
  );
  await flushPromises();
  expect(failures[0]?.[1]).toMatchObject({
    code: "unreachable",
    message: "Cannot reach example.com: ECONNREFUSED, nothing is listening there.",
    data: { host: "example.com", code: "ECONNREFUSED" },
  });
});

test.each([
  [
    "a page",
    (hit: SentRequest) => hit.text("<html>", { headers: { "content-type": "text/html" } }),
    /200 and content of type "text\/html"/,
  ],
  ["nothing", (hit: SentRequest) => hit.status(202), /202 and no content/],
  [
    "invalid JSON",
    (hit: SentRequest) => hit.text("{", { headers: { "content-type": "application/json" } }),
    /is not valid JSON: "\{"/,
  ],
  [
    "the response to another request",
    (hit: SentRequest) => hit.json(result("1")),
    /contains no response with the id 1\./,
  ],
])("a request that is answered with %s fails", async (_, answer, message) => {
  const { send, next, failures } = openTransport();
  void send(modern(1));
  answer(await next());
  await flushPromises();
  expect(failures).toEqual([
    [1, expect.objectContaining({ code: "invalid_message", message: expect.stringMatching(message) })],
  ]);
});

test("an event that is not JSON is reported, and the stream stays open", async () => {
  const { send, next, messages, problems } = openTransport();
  void send(modern(1));
  const stream = (await next()).stream();
  stream.raw("data: {oops\n\nevent: ping\ndata: {}\n\n");
  stream.event(result(1));
  await flushPromises();
  expect(problems.map(({ message }) => message)).toEqual(['The server sent an event that is not JSON: "{oops".']);
  expect(messages).toEqual([result(1)]);
});

test("a response over the limit fails only the request that it belongs to", async () => {
  const { send, next, failures, messages } = openTransport({ limits: { message: 1_000 } });
  for (const id of [1, 2, 3]) void send(modern(id));
  const [event, json, good] = [await next(), await next(), await next()];
  event.stream().event(result(1, { text: "x".repeat(2_000) }));
  json.json(result(2, { text: "x".repeat(2_000) }));
  good.json(result(3));
  await flushPromises();
  const known = failures.map(([id, error]) => [id, error.code, error.message]);
  expect(known.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
    [1, "too_large", "The server sent an event of more than 1000 characters. Raise limits.message."],
    [2, "too_large", "The server answered with more than 1000 bytes. Raise limits.message."],
  ]);
  expect(messages).toEqual([result(3)]);
});

test("a redirect is not followed to another origin or with another method", async () => {
  for (const [status, location] of [
    [307, "https://evil.example/mcp"],
    [308, "http://example.com/mcp"],
    [302, "/elsewhere"],
    [303, "/elsewhere"],
    [307, "http://["],
  ] as const) {
    const { send, next, failures, waiting } = openTransport({ headers: { authorization: "Bearer t" } });
    void send(modern(1));
    (await next()).status(status, { location });
    await flushPromises();
    expect(failures[0]?.[1]).toMatchObject({
      code: "http",
      message: expect.stringMatching(/redirects.*which is not followed/),
    });
    expect(waiting()).toBe(0);
  }
});

test("a redirect within the origin that keeps the method is followed up to three times", async () => {
  const { send, next, messages, failures } = openTransport();
  void send(modern(1));
  for (const path of ["/a", "/b", "/c"]) (await next()).status(307, { location: path });
  const last = await next();
  expect(last.url).toBe("https://example.com/c");
  expect(last.method).toBe("POST");
  expect(last.body.id).toBe(1);
  last.json(result(1));
  await flushPromises();
  expect(messages).toEqual([result(1)]);
  void send(modern(2));
  for (const path of ["/a", "/b", "/c", "/d"]) (await next()).status(308, { location: path });
  await flushPromises();
  expect(failures[0]?.[1].message).toMatch(/more than 3 times/);
});

test("the standalone stream of a session delivers messages that belong to no request", async () => {
  const { next, messages, send } = await session();
  const hit = await next();
  expect(hit.method).toBe("GET");
  expect(hit.headers.get("accept")).toBe("text/event-stream");
  expect(hit.headers.get("mcp-session-id")).toBe("s-1");
  const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
  hit.stream().event(changed);
  await flushPromises();
  expect(messages).toEqual([changed]);
  void send(legacy(1));
  (await next()).json(result(1));
});

test("closing ends every request and the session, and resolves when the server has answered", async () => {
  const { next, send, transport, closed, failures } = await session();
  const standing = await next();
  void send(legacy(1));
  const call = await next();
  const closing = transport.close();
  const deletion = await next();
  expect(deletion.method).toBe("DELETE");
  expect(deletion.headers.get("mcp-session-id")).toBe("s-1");
  expect(standing.signal.aborted).toBe(true);
  expect(call.signal.aborted).toBe(true);
  expect(closed()).toBe(0);
  deletion.status(405);
  await Promise.all([closing, transport.close()]);
  expect(closed()).toBe(1);
  expect(failures).toEqual([]);
  await expect(send(legacy(2))).rejects.toMatchObject({ code: "closed" });
});

test("closing does not wait forever for a server that does not answer", async () => {
  const { next, transport, clock, closed } = await quietSession();
  const closing = transport.close();
  await next();
  await clock.advance(2_000);
  await closing;
  expect(closed()).toBe(1);
});
