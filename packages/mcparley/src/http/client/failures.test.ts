import { expect, test } from "vitest";
import type { LocalError } from "../../rpc/errors.ts";
import type { JsonRpcMessage, RequestId } from "../../rpc/messages.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { type FetchStub, fetchStub } from "mcparley-tests/support/fetch-stub.ts";
import { httpTransports } from "./transport.ts";

interface TestTransport extends FetchStub {
  clock: FakeClock;
  messages: unknown[];
  failures: [RequestId, LocalError][];
  send: (message: JsonRpcMessage) => Promise<void>;
}

function openTransport(): TestTransport {
  const stubbed = fetchStub();
  const clock = fakeClock();
  const transport = httpTransports({ url: "https://example.com/mcp", fetch: stubbed.fetch, clock }).open();
  const messages: unknown[] = [];
  const failures: [RequestId, LocalError][] = [];
  void transport.start({
    message: (value) => messages.push(value),
    failed: (id, error) => failures.push([id, error as LocalError]),
    malformed: () => {},
    closed: () => {},
  });
  return { ...stubbed, clock, messages, failures, send: async (message) => transport.send(message) };
}

/** Opens a legacy session, in which a client answers requests of the server. */
async function openSession(): Promise<TestTransport> {
  const opened = openTransport();
  void opened.send({ jsonrpc: "2.0", id: 0, method: "initialize", params: {} });
  (await opened.next()).json({ jsonrpc: "2.0", id: 0, result: {} });
  await flushPromises();
  return opened;
}

const modern = (id: RequestId): JsonRpcMessage => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "add", _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
});
const answer: JsonRpcMessage = { jsonrpc: "2.0", id: "q", result: {} };
const reset = (): Error =>
  new TypeError("fetch failed", { cause: Object.assign(new Error("read"), { code: "ECONNRESET" }) });

test.each([408, 429, 502, 503, 504])(
  "a busy status %i with a JSON-RPC error is the error http, with the time to wait and the JSON-RPC error",
  async (status) => {
    const { send, next, messages, failures } = openTransport();
    void send(modern(1));
    const error = { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "The store is unavailable." } };
    (await next()).json(error, { status, headers: { "content-type": "application/json", "retry-after": "2" } });
    await flushPromises();
    expect(messages).toEqual([]);
    const cause = expect.objectContaining({ code: -32603, message: "The store is unavailable." }) as Error;
    expect(failures[0]?.[1]).toMatchObject({ code: "http", data: { status, retryAfterMs: 2_000 }, cause });
  },
);

test("a JSON-RPC error of MCP is returned with any HTTP status", async () => {
  const { send, next, messages } = openTransport();
  void send(modern(1));
  const error = { jsonrpc: "2.0", id: 1, error: { code: -32022, message: "no" } };
  (await next()).json(error, { status: 503, headers: { "content-type": "application/json" } });
  await flushPromises();
  expect(messages).toEqual([error]);
});

test("a request is sent once with any status of its response", async () => {
  for (const status of [408, 429, 500, 502, 503, 504]) {
    const { send, next, waiting, clock, failures } = openTransport();
    void send(modern(1));
    (await next()).status(status, { "retry-after": "1" });
    await clock.advance(60_000);
    expect(failures[0]?.[1]).toMatchObject({ code: "http", data: { status, retryAfterMs: 1_000 } });
    expect(waiting()).toBe(0);
  }
});

test("a connection that breaks before the response is not reported as an unreachable host", async () => {
  const { send, next, failures } = openTransport();
  void send(modern(1));
  (await next()).fail(reset());
  await flushPromises();
  expect(failures[0]?.[1]).toMatchObject({
    code: "closed",
    message: "The connection to example.com failed before a response arrived: ECONNRESET, the connection was closed.",
    data: { host: "example.com", code: "ECONNRESET" },
  });
});

test("a connection that breaks in the response is reported as such", async () => {
  const { send, next, failures } = openTransport();
  void send(modern(1));
  const body = new ReadableStream({ start: (controller) => controller.error(new TypeError("terminated")) });
  (await next()).respond(new Response(body, { headers: { "content-type": "application/json" } }));
  await flushPromises();
  expect(failures[0]?.[1]).toMatchObject({ code: "closed", message: "The response could not be read: terminated" });
});

test("a one-way message is sent again after a broken connection", async () => {
  const { send, next, waiting, clock } = await openSession();
  const sending = send(answer);
  (await next()).fail(reset());
  while (waiting() === 0) await clock.advance(50);
  (await next()).status(202);
  await sending;
});

test("a one-way message is sent at most five times", async () => {
  const { send, next, waiting, clock } = await openSession();
  const sending = send(answer);
  sending.catch(() => {});
  for (let sent = 1; sent <= 5; sent++) {
    while (waiting() === 0) await clock.advance(50);
    (await next()).status(503);
  }
  await expect(sending).rejects.toMatchObject({ code: "http", data: { status: 503 } });
  await clock.advance(60_000);
  expect(waiting()).toBe(0);
});

test.each([
  ["a call", modern(1), undefined],
  ["a subscription", { ...modern(1), method: "subscriptions/listen" }, "high"],
  ["a response", answer, "high"],
  ["the end of the handshake", { jsonrpc: "2.0", method: "notifications/initialized" }, "high"],
  ["a change", { jsonrpc: "2.0", method: "notifications/roots/list_changed" }, undefined],
  ["a custom notification", { jsonrpc: "2.0", method: "com.example/moved" }, undefined],
] as const)("%s has a high priority only if pending calls may depend on it", async (_, message, priority) => {
  const { send, next } = openTransport();
  void send(message);
  const request = await next();
  expect(request.priority).toBe(priority);
  request.status(202);
});
