import { describe, expect, test } from "vitest";
import type { HttpOptions } from "../../packages/mcparley/src/http/server/options.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import type { RawHttp } from "../support/raw-http.ts";
import { type Cluster, cluster, getStream, known, open, recording, request } from "./cluster.ts";

type Recording = ReturnType<typeof recording>;
type Headers_ = Record<string, string>;

const idle = 60_000;

interface World {
  clock: FakeClock;
  store: Recording;
  /** Starts processes on the store. `restart` kills the running ones first. */
  start: (options?: HttpOptions) => Cluster;
  /** Number of sessions in the store. */
  sessions: () => Promise<number>;
  /** The taken seats in the store. */
  seats: () => Promise<{ busyUntil: number }[]>;
}

/** Processes behind a proxy that identifies callers by a token, or by the address in a header. */
function world(max: number): World {
  const clock = fakeClock(1_000_000);
  const store = recording(memoryStore({ clock }));
  const start = (options: HttpOptions = {}): Cluster =>
    cluster({
      clock,
      definition: () => ({ tools: { t: tool({ call: () => "done" }) } }),
      store: () => store,
      options: {
        sessions: { max, idle },
        trustProxy: "x-forwarded-for",
        auth: (head) => known[head.header("authorization") ?? ""],
        ...options,
      },
    });
  const sessions = async (): Promise<number> =>
    (await store.keys()).filter((key) => key.startsWith("mcparley:test:session:")).length;
  const seats = async (): Promise<{ busyUntil: number }[]> => {
    const keys = (await store.keys()).filter((key) => key.startsWith("mcparley:test:session-seat:"));
    const texts = await Promise.all(keys.map((key) => store.get(key)));
    return texts.flatMap((text) => (text === undefined ? [] : [JSON.parse(text)]));
  };
  return { clock, store, start, sessions, seats };
}

const from = (address: string): Headers_ => ({ "x-forwarded-for": address });
const alice = { authorization: "Bearer alice" };
const bob = { authorization: "Bearer bob" };

async function initialize(client: RawHttp, headers: Headers_ = {}) {
  const clientInfo = { name: "raw", version: "1.0.0" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const answer = await client.post({ jsonrpc: "2.0", id: 0, method: "initialize", params }, headers);
  await answer.text();
  return answer;
}

const isOpen = async (client: RawHttp, session: Headers_): Promise<boolean> =>
  (await request(client, session, "ping")).status === 200;

describe("sessions.max of three processes on one store", () => {
  test("limits the sessions in the store, not those of each process", async () => {
    const { start, sessions } = world(10);
    const { client } = start();
    for (let count = 0; count < 60; count++) expect((await initialize(client)).status).toBe(200);
    expect(await sessions()).toBe(10);
  });

  test("applies to concurrent requests", async () => {
    const { start, sessions } = world(10);
    const { client } = start();
    const answers = await Promise.all(Array.from({ length: 60 }, () => initialize(client)));
    expect(await sessions()).toBe(10);
    for (const { status } of answers) expect([200, 503]).toContain(status);
  });

  test("applies after all processes were restarted", async () => {
    const { start, sessions } = world(10);
    const before = start();
    const kept = [];
    for (let count = 0; count < 10; count++)
      kept.push(await open(before.client, "2025-11-25", from(`192.0.2.${count}`)));
    for (const node of before.nodes) node.kill();
    const { client } = start();
    for (let count = 0; count < 30; count++) await initialize(client, from("203.0.113.66"));
    expect(await sessions()).toBe(10);
    // The other caller displaced one session, and after that only its own sessions.
    const open_ = await Promise.all(kept.map((session) => isOpen(client, session)));
    expect(open_.filter(Boolean)).toHaveLength(9);
  });

  test("does not count sessions that have expired or were ended by their client", async () => {
    const { start, sessions, clock } = world(2);
    const { client } = start();
    const first = await open(client, "2025-11-25", alice);
    await open(client, "2025-11-25", alice);
    await client.send({ method: "DELETE", headers: first });
    await flushPromises();
    expect((await initialize(client, bob)).status).toBe(200);
    expect(await sessions()).toBe(2);
    await clock.advance(1.2 * idle);
    expect(await sessions()).toBe(0);
    const fresh = [await open(client, "2025-11-25", bob), await open(client, "2025-11-25", bob)];
    for (const session of fresh) expect(await isOpen(client, session)).toBe(true);
  });

  test("refuses a new session with 503 and Retry-After if no session may be displaced", async () => {
    const { start, sessions, seats } = world(2);
    const { nodes, client } = start();
    for (const headers of [alice, bob]) {
      const session = await open(nodes[0]!.client, "2025-11-25", headers);
      await getStream(nodes[1]!.client, session);
    }
    // The seats state that the sessions are busy after the streams were opened.
    while (!(await seats()).every(({ busyUntil }) => busyUntil > 0)) await flushPromises();
    for (const headers of [alice, bob, from("192.0.2.1")]) {
      const refused = await initialize(client, headers);
      expect(refused.status).toBe(503);
      expect(refused.headers.get("retry-after")).toBe("2");
    }
    expect(await sessions()).toBe(2);
  });

  test("ends a displaced session on every process", async () => {
    const { start } = world(1);
    const { nodes } = start();
    const [a, b, c] = nodes;
    const session = await open(a!.client, "2025-11-25", from("192.0.2.1"));
    expect(await isOpen(b!.client, session)).toBe(true);
    await flushPromises();
    const next = await open(c!.client, "2025-11-25", from("192.0.2.2"));
    await flushPromises();
    for (const { client } of [a!, b!, c!]) {
      expect(await isOpen(client, session)).toBe(false);
      expect(await isOpen(client, next)).toBe(true);
    }
  });

  test("first displaces a session of the caller with the most sessions, on any process", async () => {
    const { start, clock } = world(6);
    const { client } = start();
    const one = await open(client, "2025-11-25", alice);
    const many = [];
    for (let count = 0; count < 5; count++) {
      many.push(await open(client, "2025-11-25", bob));
      // Processes agree on an order by the time.
      await clock.advance(1);
    }
    const another = await open(client, "2025-11-25", alice);
    for (const session of [one, another, ...many.slice(1)]) expect(await isOpen(client, session)).toBe(true);
    expect(await isOpen(client, many[0]!)).toBe(false);
  });

  test("loses no session in use, and few idle ones, to a caller that opens 1,000 in a second", async () => {
    const { start, clock } = world(128);
    const { nodes, client } = start();
    const sessions = [];
    for (let caller = 0; caller < 128; caller++) {
      sessions.push(await open(nodes[caller % 3]!.client, "2025-11-25", from(`192.0.2.${caller}`)));
    }
    await clock.advance(20_000);
    const honest = sessions.slice(0, 10);
    const countOpen = async (some: Headers_[]): Promise<number> =>
      (await Promise.all(some.map((session) => isOpen(client, session)))).filter(Boolean).length;
    expect(await countOpen(honest)).toBe(10);
    for (let tenth = 0; tenth < 10; tenth++) {
      const opening = Array.from({ length: 100 }, () => initialize(client, from("203.0.113.66")));
      for (const { status } of await Promise.all(opening)) expect([200, 503]).toContain(status);
      expect(await countOpen(honest)).toBe(10);
      await clock.advance(100);
    }
    expect(await countOpen(sessions)).toBeGreaterThanOrEqual(115);
  });

  test("keeps a session that is in use for longer than the idle timeout", async () => {
    const { start, clock } = world(2);
    const { client } = start();
    const session = await open(client, "2025-11-25", alice);
    for (let passed = 0; passed < 3 * idle; passed += idle / 2) {
      await clock.advance(idle / 2);
      expect(await isOpen(client, session)).toBe(true);
    }
    for (let count = 0; count < 20; count++) await initialize(client, from("203.0.113.66"));
    expect(await isOpen(client, session)).toBe(true);
  });

  test("uses the same number of store operations for each session", async () => {
    const { start, store } = world(10_000);
    const { client } = start();
    const costs = [];
    for (let count = 0; count < 50; count++) {
      const before = store.writes.length;
      await initialize(client);
      costs.push(store.writes.length - before);
    }
    expect(Math.max(...costs.slice(10))).toBeLessThanOrEqual(6);
  });
});
