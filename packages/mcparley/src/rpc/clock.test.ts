import { expect, test, vi } from "vitest";
import { connect } from "../client.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { legacyPeer, modernPeer, peerTransports } from "../testing/peer-transports.ts";
import { openClient } from "../client/open-client.ts";
import { pause, settlesWithin } from "./abort.ts";
import { systemClock, wakefulClock } from "./clock.ts";
import { PendingRequests } from "./pending-requests.ts";

const tooLong = [2 ** 31, 2 ** 40, Infinity];

test.each(tooLong)("a delay of %d ms is never passed to the system's timers, which would fire immediately", (ms) => {
  const timers = vi.spyOn(globalThis, "setTimeout");
  for (const clock of [systemClock, wakefulClock]) clock.clearTimeout(clock.setTimeout(() => {}, ms));
  expect(timers.mock.calls.map(([, delay]) => delay)).toEqual([2 ** 31 - 1, 2 ** 31 - 1]);
  timers.mockRestore();
});

test.each(tooLong)("a limit of %d ms starts no timer", async (ms) => {
  const clock = fakeClock();
  const requests = new PendingRequests(clock);
  void requests.wait(0, { what: "a request", idleTimeout: ms, totalTimeout: ms });
  requests.pause(0)();
  const controller = new AbortController();
  const waiting = pause(clock, ms, controller.signal);
  const limited = settlesWithin(new Promise(() => {}), ms, clock);
  void limited;
  expect(clock.pending).toBe(0);
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: "aborted" });
  expect(requests.size).toBe(1);
});

test.each(tooLong)("a client with limits of %d ms connects and calls", async (ms) => {
  const peer = modernPeer();
  const client = await openClient(peerTransports(peer), { timeout: { idle: ms, total: ms }, probeTimeout: ms });
  const calling = client.callTool("a", {}, { timeout: { idle: ms, total: ms } });
  peer.answer(await peer.request("tools/call"), { content: [{ type: "text", text: "x" }] });
  expect(await calling).toBe("x");
  await client.close();
});

test("a server that never answers causes a timeout, also if the probe has no limit", async () => {
  const clock = fakeClock();
  const silent = legacyPeer();
  const connecting = openClient(peerTransports(silent), { clock, probeTimeout: Infinity });
  connecting.catch(() => {});
  await silent.request("server/discover");
  await clock.advance(60_000);
  await expect(connecting).rejects.toMatchObject({ code: "timeout" });
  expect(silent.arrived.length).toBe(1);
});

test.each([
  ["timeout.idle", { timeout: { idle: Number.NaN } }],
  ["timeout.total", { timeout: { total: -1 } }],
  ["probeTimeout", { probeTimeout: Number.NaN }],
  ["probeTimeout", { probeTimeout: -5 }],
])("connect refuses a time that is negative or not a number: %s in %j", async (name, options) => {
  const transport = modernPeer().transport;
  await expect(connect(transport, options)).rejects.toThrow(`${name} must be a number of milliseconds, 0 or more; got`);
});

test.each([
  ["timeout.idle", { idle: -1 }],
  ["timeout.total", { total: Number.NaN }],
])("a call refuses a time that is negative or not a number: %s", async (name, timeout) => {
  const peer = modernPeer();
  const client = await openClient(peerTransports(peer));
  const message = `${name} must be a number of milliseconds, 0 or more; got`;
  await expect(client.callTool("a", {}, { timeout })).rejects.toThrow(message);
  await expect(client.listTools({ timeout }).all()).rejects.toThrow(message);
  await expect(client.listen({ tools: true }, () => {}, { timeout })).rejects.toThrow(message);
  expect(peer.arrived.length).toBe(1);
});
