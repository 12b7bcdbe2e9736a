import { describe, expect, test } from "vitest";
import { tool } from "../../../server/definition.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import { type FakeClock, fakeClock } from "../../../testing/fake-clock.ts";
import { gate } from "mcparley-tests/support/gate.ts";
import type { RawHttp } from "mcparley-tests/support/raw-http.ts";
import {
  type ServedHttp,
  from,
  initialize,
  initialized,
  open,
  ping,
  request,
  serve,
  statusOf,
  trustProxy,
} from "mcparley-tests/support/served-http.ts";

type Session = Record<string, string>;

const places = [
  ["in memory", () => ({})],
  ["with a store", (clock: FakeClock) => ({ store: memoryStore({ clock }) })],
] as const;

/** A server with at most `max` sessions. */
function serveTable(max: number, definition: (clock: FakeClock) => object, clock: FakeClock = fakeClock()): ServedHttp {
  return serve({ sessions: { max }, trustProxy }, definition(clock), clock);
}

async function openReady(client: RawHttp, address: string): Promise<Session> {
  const session = await open(client, initialize(), from(address));
  expect(await statusOf(client.post(initialized, session))).toBe(202);
  return session;
}

const isOpen = async (client: RawHttp, session: Session): Promise<boolean> =>
  (await statusOf(client.post(ping, session))) === 200;

const countOpen = async (client: RawHttp, sessions: readonly Session[]): Promise<number> =>
  (await Promise.all(sessions.map((session) => isOpen(client, session)))).filter(Boolean).length;

/** Opens and initializes sessions with several openers at once. Returns the number that were lost before they were used. */
async function countLost(client: RawHttp, openers: number, addressOf: (opener: number) => string): Promise<number> {
  let lost = 0;
  for (let opened = 0; opened < 64; opened += openers) {
    const addresses = Array.from({ length: openers }, (_, opener) => addressOf(opened + opener));
    const sessions = await Promise.all(addresses.map((address) => open(client, initialize(), from(address))));
    const answers = await Promise.all(sessions.map((session) => statusOf(client.post(initialized, session))));
    lost += answers.filter((status) => status !== 202).length;
    lost += openers - (await countOpen(client, sessions));
  }
  return lost;
}

/** An address of which no other opener or filler has the network. */
const addressOf = (index: number): string => `198.${18 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;

const fillers = [
  ["of one caller", () => "192.0.2.1"],
  ["of callers with one session each", addressOf],
] as const;

describe.each(fillers)("idle sessions %s", (_, fillerOf) => {
  test.each(places)("are displaced by 1, 2, 4 and 32 openers, which lose no session, %s", async (_place, where) => {
    const { client, clock } = serveTable(100, where);
    for (let count = 0; count < 100; count++) await openReady(client, fillerOf(count));
    for (const openers of [1, 2, 4, 32]) {
      await clock.advance(10_001);
      expect(await countLost(client, openers, (opener) => fillerOf(20_000 + openers * 100 + opener))).toBe(0);
    }
  });
});

test("10,000 idle sessions are displaced by 1, 2, 4 and 32 openers, which lose no session", async () => {
  const { client, clock } = serveTable(10_000, () => ({}));
  const fillerOf = (index: number) => (index % 2 === 0 ? "192.0.2.1" : addressOf(index));
  for (let count = 0; count < 10_000; count++) await openReady(client, fillerOf(count));
  for (const openers of [1, 2, 4, 32]) {
    await clock.advance(10_001);
    expect(await countLost(client, openers, (opener) => fillerOf(20_000 + openers * 100 + opener))).toBe(0);
  }
});

test.each(places)("openers lose no session at a table that one caller has filled at once, %s", async (_, where) => {
  const { client } = serveTable(100, where);
  for (let count = 0; count < 100; count++) await openReady(client, "192.0.2.1");
  for (const openers of [1, 2, 4, 32]) expect(await countLost(client, openers, () => "192.0.2.1")).toBe(0);
});

describe.each(places)("a caller that opens 1,000 sessions in a second, %s", (_, where) => {
  /** Opens the sessions, while the honest callers use theirs. */
  const flood = async ({ client, clock }: ServedHttp, honest: readonly Session[]): Promise<void> => {
    for (let tenth = 0; tenth < 10; tenth++) {
      const opening = Array.from({ length: 100 }, () => client.post(initialize(), from("203.0.113.66")));
      for (const answering of opening) expect([200, 503]).toContain(await statusOf(answering));
      expect(await countOpen(client, honest)).toBe(honest.length);
      await clock.advance(100);
    }
  };

  test("displaces no session of ten other callers that were just opened", async () => {
    const served = serveTable(100, where);
    const honest = [];
    for (let caller = 0; caller < 10; caller++) honest.push(await openReady(served.client, addressOf(caller)));
    await flood(served, honest);
    expect(await countOpen(served.client, honest)).toBe(10);
  });

  test("displaces one idle session at most, and none in use, at a full table", async () => {
    const served = serveTable(100, where);
    const { client, clock } = served;
    const sessions = [];
    for (let caller = 0; caller < 100; caller++) sessions.push(await openReady(client, addressOf(caller)));
    await clock.advance(10_001);
    const honest = sessions.slice(0, 10);
    expect(await countOpen(client, honest)).toBe(10);
    await flood(served, honest);
    expect(await countOpen(client, sessions)).toBe(99);
  });

  test("leaves room for new sessions of other callers", async () => {
    const served = serveTable(50, where);
    await flood(served, []);
    const honest = [];
    for (let caller = 0; caller < 10; caller++) honest.push(await openReady(served.client, addressOf(caller)));
    await flood(served, honest);
    expect(await countOpen(served.client, honest)).toBe(10);
  });
});

describe.each(places)("a full table %s", (_, where) => {
  test("displaces the longest idle session, and not that of an active user", async () => {
    const { client, clock } = serveTable(100, where);
    const active = await openReady(client, addressOf(0));
    const idle = [];
    for (let caller = 1; caller < 100; caller++) idle.push(await openReady(client, addressOf(caller)));
    await clock.advance(60_000);
    expect(await isOpen(client, active)).toBe(true);
    for (let caller = 200; caller < 260; caller++) await openReady(client, addressOf(caller));
    expect(await isOpen(client, active)).toBe(true);
    expect(await countOpen(client, idle)).toBe(39);
  });

  test("refuses a new session with 503 and Retry-After, until one is idle for more than 10 s", async () => {
    const { client, clock } = serveTable(3, where);
    const sessions = [];
    for (let caller = 0; caller < 3; caller++) sessions.push(await openReady(client, addressOf(caller)));
    await clock.advance(10_001);
    expect(await countOpen(client, sessions)).toBe(3);
    for (const address of [addressOf(0), addressOf(3)]) {
      const refused = await client.post(initialize(), from(address));
      expect(refused.status).toBe(503);
      expect(refused.headers.get("retry-after")).toBe("60");
      expect((await refused.json()).error.message).toContain("sessions.max");
    }
    await clock.advance(10_000);
    expect(await statusOf(client.post(initialize(), from(addressOf(3))))).toBe(503);
    await clock.advance(1);
    await openReady(client, addressOf(3));
    expect(await countOpen(client, sessions)).toBe(2);
  });

  test("counts a session as idle from the end of its last call, and of its last stream", async () => {
    const clock = fakeClock();
    const calls = gate();
    const slow = tool({ call: calls.call });
    const { client } = serve({ sessions: { max: 3 }, trustProxy }, { ...where(clock), tools: { slow } }, clock);
    const [calling, streaming, idle] = [
      await openReady(client, addressOf(0)),
      await openReady(client, addressOf(1)),
      await openReady(client, addressOf(2)),
    ];
    const answering = client.post(request("tools/call", { name: "slow" }), calling);
    const stream = await client.send({ method: "GET", headers: streaming });
    await calls.entered;
    await clock.advance(20_000);
    expect(await isOpen(client, idle)).toBe(true);
    await clock.advance(5_000);
    calls.open("done");
    expect(await statusOf(answering)).toBe(200);
    await stream.leave();
    await clock.advance(6_000);
    await openReady(client, addressOf(3));
    expect(await countOpen(client, [calling, streaming])).toBe(2);
    expect(await isOpen(client, idle)).toBe(false);
  });
});
