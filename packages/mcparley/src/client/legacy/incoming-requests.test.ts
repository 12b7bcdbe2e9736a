import { expect, test, vi } from "vitest";
import { LocalError } from "../../rpc/errors.ts";
import type { Transport } from "../../rpc/transport.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { initializeResult, legacyPeer, peerTransports } from "../../testing/peer-transports.ts";
import { scriptedPeer } from "../../testing/scripted-peer.ts";
import { openClient } from "../open-client.ts";

/** A transport that holds the sending of each response, as HTTP can, until the test releases it. */
function holding(transport: Transport) {
  const held: (() => void)[] = [];
  let most = 0;
  const send: Transport["send"] = (message, envelope) => {
    const isResponse = !Array.isArray(message) && !("method" in message);
    void transport.send(message, envelope);
    if (!isResponse) return undefined;
    return new Promise<void>((resolve) => {
      held.push(resolve);
      most = Math.max(most, held.length);
    });
  };
  return { transport: { ...transport, send }, held, mostAtOnce: () => most };
}

test("the client sends at most 8 responses at the same time, and drops refusals of a flood of requests", async () => {
  const warned = vi.fn();
  process.on("warning", warned);
  const errors: Error[] = [];
  const peer = legacyPeer();
  const { transport, held, mostAtOnce } = holding(peer.transport);
  const client = await openClient(peerTransports({ ...peer, transport }), {
    revision: "2025-11-25",
    onError: (error) => errors.push(error),
  });
  await peer.notification("notifications/initialized");
  for (let id = 0; id < 2_000; id++) peer.ask(id, "sampling/createMessage", {});
  await flushPromises();
  expect(mostAtOnce()).toBe(8);
  while (held.length > 0) {
    held.splice(0).forEach((release) => release());
    await flushPromises();
  }
  expect(mostAtOnce()).toBe(8);
  const responses = peer.arrived.filter(({ message }) => "error" in message);
  expect(responses.length).toBeGreaterThanOrEqual(100);
  expect(responses.length).toBeLessThanOrEqual(220);
  expect(errors).toEqual([]);
  // A later request is answered as before.
  peer.ask("later", "ping");
  await flushPromises();
  expect(peer.arrived.at(-1)?.message).toMatchObject({ id: "later", result: {} });
  await new Promise((resolve) => setImmediate(resolve));
  expect(warned).not.toHaveBeenCalled();
  process.off("warning", warned);
  await client.close();
});

test("the timeout of a call names the reason why the server did not receive an answer", async () => {
  const clock = fakeClock();
  const errors: Error[] = [];
  const { transport, ...peer } = legacyPeer();
  const send: Transport["send"] = (message, envelope) =>
    "method" in message
      ? transport.send(message, envelope)
      : Promise.reject(new LocalError("session_lost", "The session is unknown to the server (404 for a response)."));
  const client = await openClient(peerTransports({ ...peer, transport: { ...transport, send } }), {
    revision: "2025-11-25",
    clock,
    roots: [],
    onError: (error) => errors.push(error),
  });
  await peer.notification("notifications/initialized");
  const outcome = client.callTool("a", {}, { timeout: { idle: 1_000 } }).catch((error: unknown) => error);
  await peer.request("tools/call");
  peer.ask("r", "roots/list");
  await flushPromises();
  expect(errors).toHaveLength(1);
  await clock.advance(1_000);
  const reason: unknown = expect.stringContaining("did not receive the answer to its request: The session is unknown");
  expect(await outcome).toMatchObject({ code: "timeout", message: reason });
  await client.close();
});

test("requests that no handler answers do not stop the time limits of a call", async () => {
  const clock = fakeClock();
  const peer = legacyPeer();
  const client = await openClient(peerTransports(peer), { revision: "2025-11-25", clock, roots: [] });
  await peer.notification("notifications/initialized");
  const pending = client.request("tools/list", {}, { timeout: { idle: 1_000 } }).catch((error: unknown) => error);
  await peer.request("tools/list");
  await clock.advance(900);
  for (const [id, method] of ["elicitation/create", "sampling/createMessage", "x/y"].entries())
    peer.ask(id, method, {});
  await flushPromises();
  await clock.advance(100);
  const late = flushPromises().then(() => "not yet");
  expect(await Promise.race([pending, late])).toMatchObject({ code: "timeout" });
  await client.close();
});

test("a request that a handler answers stops the time limits of a call", async () => {
  const clock = fakeClock();
  let answer!: (given: { action: "decline" }) => void;
  const elicit = () => new Promise<{ action: "decline" }>((resolve) => (answer = resolve));
  const peer = legacyPeer();
  const client = await openClient(peerTransports(peer), { revision: "2025-11-25", clock, elicit });
  await peer.notification("notifications/initialized");
  const calling = client.request("tools/list", {}, { timeout: { idle: 1_000 } });
  const request = await peer.request("tools/list");
  peer.ask(1, "elicitation/create", { message: "?", requestedSchema: { type: "object", properties: {} } });
  await flushPromises();
  await clock.advance(10_000);
  answer({ action: "decline" });
  await peer.next();
  peer.answer(request, { tools: [] });
  expect(await calling).toEqual({ tools: [] });
  await client.close();
});

test("a ping during initialize is answered, also while server/discover has no response", async () => {
  for (const revision of ["auto", "2025-11-25"]) {
    const peer = scriptedPeer();
    const connecting = openClient(peerTransports(peer), { revision, probeTimeout: 0 });
    if (revision === "auto") await peer.request("server/discover");
    const initialize = await peer.request("initialize");
    peer.ask("p", "ping");
    expect(await peer.next()).toEqual({ jsonrpc: "2.0", id: "p", result: {} });
    peer.answer(initialize, initializeResult());
    expect((await connecting).server.revision).toBe("2025-11-25");
  }
});

test("requests of a server that arrive with the result of initialize, before notifications/initialized, are answered", async () => {
  const peer = scriptedPeer();
  const connecting = openClient(peerTransports(peer), { revision: "2025-11-25", roots: [{ uri: "file:///a" }] });
  const initialize = await peer.request("initialize");
  peer.answer(initialize, initializeResult());
  peer.ask("r", "roots/list");
  peer.ask("p", "ping");
  await connecting;
  await peer.notification("notifications/initialized");
  const answers = [await peer.next(), await peer.next()];
  expect(answers).toContainEqual({ jsonrpc: "2.0", id: "r", result: { roots: [{ uri: "file:///a" }] } });
  expect(answers).toContainEqual({ jsonrpc: "2.0", id: "p", result: {} });
});
