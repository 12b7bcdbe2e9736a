import { expect, test } from "vitest";
import { openHttpSession, rawHttp } from "mcparley-tests/support/raw-http.ts";
import { coreOf, createServer } from "../../../server/create-server.ts";
import { tool } from "../../../server/definition.ts";
import { fakeClock, flushPromises } from "../../../testing/fake-clock.ts";
import { openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { toFetch } from "../../fetch/to-fetch.ts";

const idle = 60_000;

function serve() {
  const clock = fakeClock();
  const server = createServer({ name: "test", version: "1.0.0", clock, tools: { echo: tool({ call: () => "" }) } });
  const { fetch, close } = toFetch(server, { sessions: { idle } });
  const client = rawHttp("http://localhost/mcp", fetch);
  /** Opens a session over HTTP and returns the header that names it. */
  const open = (): Promise<Record<string, string>> => openHttpSession(client);
  return { clock, server, client, close, open, listeners: () => coreOf(server).changes.size };
}

test("a session listens to changes of the server until the client ends it", async () => {
  const { client, open, listeners } = serve();
  const sessions = [await open(), await open(), await open()];
  expect(listeners()).toBe(3);
  for (const session of sessions) await client.send({ method: "DELETE", headers: session });
  expect(listeners()).toBe(0);
});

test("a session that expires stops listening", async () => {
  const { clock, open, listeners } = serve();
  await open();
  await open();
  await clock.advance(3 * idle);
  expect(listeners()).toBe(0);
});

test("sessions stop listening when the server closes", async () => {
  const { open, close, listeners } = serve();
  await open();
  await open();
  await close();
  expect(listeners()).toBe(0);
});

test("a session on a pipe stops listening when its connection ends", async () => {
  const { server, listeners } = serve();
  const peer = await rawPeer(server);
  await openSession(peer, "2025-06-18");
  await flushPromises();
  expect(listeners()).toBe(1);
  await peer.close();
  await flushPromises();
  expect(listeners()).toBe(0);
});
