import { afterEach, describe, expect, test } from "vitest";
import { fetchStub } from "mcparley-tests/support/fetch-stub.ts";
import { httpTransports } from "../../http/client/transport.ts";
import { LocalError } from "../../rpc/errors.ts";
import { isRequest } from "../../rpc/messages.ts";
import type { Receiver, Transport } from "../../rpc/transport.ts";
import { type FakeClock, fakeClock } from "../../testing/fake-clock.ts";
import { discoverResult, legacyPeer, peerTransports } from "../../testing/peer-transports.ts";
import { type ScriptedPeer, scriptedPeer } from "../../testing/scripted-peer.ts";
import type { Client } from "../client.ts";
import { openClient } from "../open-client.ts";
import type { ConnectOptions, Timeouts } from "../options.ts";
import { forgetRevisions } from "./remembered-revisions.ts";
import type { TransportFactory } from "./transports.ts";

afterEach(forgetRevisions);

/** Returns the error of a promise, and the time at which it rejected. */
async function failureOf(promise: Promise<unknown>, clock: FakeClock): Promise<{ error: LocalError; ms: number }> {
  const start = clock.now();
  const ends: { error: LocalError; ms: number }[] = [];
  promise.then(
    () => expect.unreachable(),
    (error: LocalError) => ends.push({ error, ms: clock.now() - start }),
  );
  for (let step = 0; step < 1_000 && ends.length === 0; step++) await clock.advance(50);
  const [end] = ends;
  if (!end) throw new Error("The promise is pending after 50 s.");
  return end;
}

/** A server that never answers, over one of the transports. `close` of its transport never resolves. */
const silentServers: readonly (readonly [name: string, make: (clock: FakeClock) => TransportFactory])[] = [
  [
    "stream",
    () => {
      const peer = scriptedPeer();
      return { ...peerTransports(peer), open: () => ({ ...peer.transport, close: () => new Promise(() => {}) }) };
    },
  ],
  ["http", (clock) => httpTransports({ url: "https://silent.example/mcp", fetch: () => new Promise(() => {}), clock })],
  [
    "http with HTTP+SSE",
    (clock) => {
      const stub = fetchStub();
      const answer = async (): Promise<void> => {
        const request = await stub.next();
        if (request.method === "POST") request.status(405);
        else request.stream();
        return answer();
      };
      void answer();
      return httpTransports({ url: "https://silent.example/sse", fetch: stub.fetch, clock });
    },
  ],
];

describe.each(silentServers)("connect to a silent server: %s", (name, make) => {
  test.each<[Timeouts, number]>([
    [{ idle: 1_000 }, 1_000],
    [{ total: 1_500 }, 1_500],
    [{ idle: 3_000, total: 1_500 }, 1_500],
    [{ idle: 1_000, total: 60_000 }, 1_000],
  ])("ends at the limit %j, and its error names it", async (timeout, limit) => {
    for (const revision of ["auto", "2025-11-25"]) {
      const clock = fakeClock();
      const { error, ms } = await failureOf(openClient(make(clock), { clock, timeout, revision }), clock);
      expect(ms).toBe(limit);
      // A server without the endpoint of HTTP+SSE in time is one that has refused `initialize`.
      if (name === "http with HTTP+SSE" && limit === 1_000) expect(error).toMatchObject({ code: "http" });
      else {
        expect(error).toMatchObject({ code: "timeout" });
        expect(error.message).toContain(`Connecting was not answered within ${limit} ms`);
      }
    }
  });
});

describe("opening a lost connection again", () => {
  /** A client whose server is silent after the first connection is lost. */
  async function lost(options: ConnectOptions): Promise<{
    client: Client;
    clock: FakeClock;
    silent: readonly ScriptedPeer[];
    opened: () => number;
  }> {
    const clock = fakeClock();
    const first = legacyPeer();
    const silent = [scriptedPeer(), scriptedPeer(), scriptedPeer()];
    const dialer = peerTransports(first, ...silent);
    const client = await openClient(dialer, { clock, revision: "2025-11-25", ...options });
    first.close(new LocalError("closed", "lost"));
    await clock.advance(0);
    return { client, clock, silent, opened: () => dialer.opened };
  }
  const requests: readonly (readonly [string, (client: Client, timeout?: Timeouts) => Promise<unknown>])[] = [
    ["a call", (client, timeout) => client.callTool("a", {}, { timeout })],
    ["a ping", (client, timeout) => client.ping({ timeout })],
    ["a list", (client, timeout) => client.listTools({ timeout }).all()],
    ["a subscription", (client, timeout) => client.listen({ tools: true }, () => {}, { timeout })],
  ];
  test.each(requests)("%s ends at the limits of the client and of its own", async (_, send) => {
    for (const [ofClient, ofRequest, limit] of [
      [{ total: 1_500 }, undefined, 1_500],
      [{ idle: 1_000 }, undefined, 1_000],
      [undefined, { total: 700 }, 700],
      [undefined, { idle: 300 }, 300],
      [{ total: 60_000 }, { total: 700 }, 700],
    ] as const) {
      const { client, clock } = await lost({ timeout: ofClient });
      const { error, ms } = await failureOf(send(client, ofRequest), clock);
      expect(error).toMatchObject({ code: "timeout", message: expect.stringContaining(`within ${limit} ms`) });
      expect(ms).toBe(limit);
      void client.close();
    }
  });

  test("ends the attempt itself at the total limit of the client, so that the next call opens another", async () => {
    const { client, clock, silent, opened } = await lost({ timeout: { total: 1_500 } });
    await failureOf(client.ping({ timeout: { total: 60_000 } }), clock);
    expect(opened()).toBe(2);
    expect(silent[0]?.isClosed).toBe(true);
    await failureOf(client.ping(), clock);
    expect(opened()).toBe(3);
    void client.close();
  });
});

test("the time in which a user signs in does not count towards the total limit of connect", async () => {
  const clock = fakeClock();
  let receiver!: Receiver;
  const transport: Transport = {
    network: "tcp",
    start: (started) => void (receiver = started),
    send(message) {
      if (Array.isArray(message) || !isRequest(message)) return;
      const resume = receiver.waits?.(message.id);
      clock.setTimeout(() => {
        resume?.();
        clock.setTimeout(() => receiver.message({ jsonrpc: "2.0", id: message.id, result: discoverResult() }), 1_000);
      }, 300_000);
    },
    close: () => Promise.resolve(),
  };
  const connecting = openClient(
    { kind: "http", target: "https://sign-in.example", open: () => transport },
    { clock, timeout: { idle: 1_500, total: 1_500 } },
  );
  await clock.advance(302_000);
  expect((await connecting).server.revisionKind).toBe("modern");
});

test("the error of a list names its limit, and not the time that the first page left", async () => {
  const clock = fakeClock();
  const first = legacyPeer();
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const client = await openClient(peerTransports(first), { clock, revision: "2025-11-25", onError });
  await first.notification("notifications/initialized");
  const reading = client.listTools({ timeout: { idle: 900, total: 1_000 } }).all();
  const page = await first.request("tools/list");
  await clock.advance(400);
  first.answer(page, { tools: [], nextCursor: "2" });
  await clock.advance(600);
  expect(await reading).toEqual([]);
  expect(errors).toMatchObject([{ message: expect.stringContaining("within 1000 ms in total") }]);
});
