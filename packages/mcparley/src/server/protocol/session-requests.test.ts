import { expect, test } from "vitest";
import { openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { type RawMessage, rawHttp } from "mcparley-tests/support/raw-http.ts";
import { toFetch } from "../../http/fetch/to-fetch.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { createServer } from "../create-server.ts";
import type { AnyServerDefinition } from "../core/options.ts";
import type { Connection } from "./connection.ts";

function serve(definition: Partial<AnyServerDefinition> = {}) {
  const clock = fakeClock();
  const errors: Error[] = [];
  const onError = (error: unknown): void => void errors.push(error as Error);
  const server = createServer({ name: "x", version: "1", clock, onError, pingInterval: 1000, ...definition });
  return { clock, errors, server };
}

const pingsIn = (messages: readonly object[]): object[] =>
  messages.filter((message) => "method" in message && message.method === "ping");

test("a connection is closed after two consecutive pings without a response", async () => {
  const { clock, errors, server } = serve();
  const connections: Connection[] = [];
  const peer = await rawPeer({ attach: async (transport) => connections.push(await server.attach(transport)) });
  await openSession(peer, "2025-11-25");
  await peer.settled();
  await clock.advance(2999);
  expect(errors).toEqual([]);
  await clock.advance(1);
  await connections[0]?.closed;
  expect(pingsIn(peer.received)).toHaveLength(2);
  expect(errors.map(({ message }) => message)).toEqual(["The client answered none of 2 pings."]);
  expect(clock.pending).toBe(0);
});

test("one unanswered ping between answers does not close the connection", async () => {
  const { clock, errors, server } = serve();
  const peer = await rawPeer(server);
  await openSession(peer, "2025-11-25");
  for (let count = 0; count < 6; count++) {
    await clock.advance(1000);
    const request = await peer.nextRequest("ping");
    if (count % 2) peer.answer(request, {});
    await peer.settled();
  }
  expect(errors).toEqual([]);
  await peer.close();
});

test("a client is pinged after it is ready, and not after the session has ended", async () => {
  const { clock, server } = serve();
  const peer = await rawPeer(server);
  const clientInfo = { name: "raw", version: "1" };
  await peer.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  await clock.advance(5000);
  expect(pingsIn(peer.received)).toEqual([]);
  peer.notify("notifications/initialized");
  await clock.advance(1000);
  await peer.nextRequest("ping");
  await peer.close();
  expect(clock.pending).toBe(0);
});

test.each([undefined, Infinity])("no client is pinged with the interval %s", async (pingInterval) => {
  const { clock, server } = serve({ pingInterval: pingInterval as number });
  const peer = await rawPeer(server);
  await openSession(peer, "2025-11-25");
  await clock.advance(3_600_000);
  expect(pingsIn(peer.received)).toEqual([]);
});

test.each([-1, Number.NaN])("the interval %s is refused", (pingInterval) => {
  expect(() => serve({ pingInterval })).toThrow("pingInterval");
});

test("over HTTP a session is pinged while its stream is open, and the stream ends if no answer arrives", async () => {
  const { clock, errors, server } = serve();
  const { fetch } = toFetch(server, { keepAlive: 3_600_000 });
  const http = rawHttp("http://localhost/mcp", fetch);
  const clientInfo = { name: "raw", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const opened = await http.post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id")! };
  await http.post({ jsonrpc: "2.0", method: "notifications/initialized" }, session);
  // No stream is open, so nothing is sent, and nothing waits for a stream.
  await clock.advance(10_000);

  const stream = await http.send({ method: "GET", headers: { ...session, accept: "text/event-stream" } });
  await clock.advance(1000);
  const request = (await stream.next()) as RawMessage;
  expect(request.method).toBe("ping");
  await http.post({ jsonrpc: "2.0", id: request.id, result: {} }, session);
  await clock.advance(3000);
  const rest: unknown[] = [];
  for (let event = await stream.next(); event !== undefined; event = await stream.next()) rest.push(event);
  expect(pingsIn(rest as object[])).toHaveLength(2);
  expect(errors.map(({ message }) => message)).toEqual(["The client answered none of 2 pings."]);
  expect((await http.post({ jsonrpc: "2.0", id: 9, method: "ping" }, session)).status).toBe(200);
});
