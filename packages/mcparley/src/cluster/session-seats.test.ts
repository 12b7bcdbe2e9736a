import { describe, expect, test } from "vitest";
import { memoryStore } from "../store/memory-store.ts";
import type { Store } from "../store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../testing/fake-clock.ts";
import { type LocalUse, SessionSeats } from "./session-seats.ts";

const ttl = 600_000;
const interval = 60_000;

interface Process {
  seats: SessionSeats;
  /** The uses that `useOf` returns, by session. */
  uses: Map<string, LocalUse>;
  /** Takes a seat. Returns the session, and the ids of those that it displaced. */
  take: (id: string, caller?: string) => Promise<{ session: TestSession; isTaken: boolean; displaced: string[] }>;
}

interface TestSession {
  id: string;
  caller: string;
  seat: number;
  isBusy: boolean;
  startedAt: number;
}

function processOn(store: Store, clock: FakeClock, { max = 1, node = "one" } = {}): Process {
  const uses = new Map<string, LocalUse>();
  const seats = new SessionSeats({ store, clock, node, max, interval, useOf: (id) => uses.get(id) });
  const take: Process["take"] = async (id, caller = "192.0.2.1") => {
    const session = { id, caller, seat: -1, isBusy: false, startedAt: clock.now() };
    const displaced: string[] = [];
    const isTaken = await seats.take(session, ttl, async (victim) => void displaced.push(victim));
    return { session, isTaken, displaced };
  };
  return { seats, uses, take };
}

function world(max?: number): Process & { store: Store; clock: FakeClock; other: Process } {
  const clock = fakeClock(1_000_000);
  const store = memoryStore({ clock });
  const options = max === undefined ? {} : { max };
  return {
    ...processOn(store, clock, options),
    store,
    clock,
    other: processOn(store, clock, { ...options, node: "two" }),
  };
}

const seatOf = async (store: Store, number: number) =>
  JSON.parse((await store.get(`session-seat:${number}`)) ?? "null") as { id: string; busyUntil: number } | null;

describe("a seat that another session has taken", () => {
  test("is not freed by the end of the displaced session", async () => {
    const { seats, store, take } = world();
    const first = await take("first");
    const second = await take("second");
    expect(second).toMatchObject({ isTaken: true, displaced: ["first"] });
    expect(second.session.seat).toBe(first.session.seat);
    await seats.free(first.session);
    expect(await seatOf(store, 0)).toMatchObject({ id: "second" });
    await seats.free(second.session);
    expect(await seatOf(store, 0)).toBeNull();
    await seats.free(second.session);
    expect(await take("third")).toMatchObject({ isTaken: true, displaced: [] });
  });

  test("is not renewed by the displaced session", async () => {
    const { seats, store, take } = world();
    const first = await take("first");
    const second = await take("second");
    expect(await seats.renew(first.session, ttl)).toBe(false);
    expect(await seats.renew(second.session, ttl)).toBe(true);
    expect(await seatOf(store, 0)).toMatchObject({ id: "second" });
  });

  test("is not freed by the end of the displaced session on another process", async () => {
    const { store, take, other } = world();
    const first = await take("first");
    await other.take("second");
    await other.seats.free(first.session);
    expect(await seatOf(store, 0)).toMatchObject({ id: "second" });
  });
});

describe("a seat", () => {
  test("is free after its session has expired", async () => {
    const { take, clock } = world();
    await take("first");
    await clock.advance(ttl);
    expect(await take("second", "192.0.2.2")).toMatchObject({ isTaken: true, displaced: [] });
  });

  test("is taken back by a session that is renewed after its seat has expired", async () => {
    const { seats, store, take, clock } = world();
    const { session } = await take("first");
    await clock.advance(ttl);
    expect(await seats.renew(session, ttl)).toBe(true);
    expect(await seatOf(store, 0)).toMatchObject({ id: "first" });
  });

  test("is not taken from a session with a stream on another process, until two intervals after its last renewal", async () => {
    const { seats, take, other, clock } = world();
    const { session } = await take("first");
    session.isBusy = true;
    await seats.renew(session, ttl);
    await clock.advance(2 * interval);
    expect(await other.take("second", "192.0.2.2")).toMatchObject({ isTaken: false });
    await clock.advance(1);
    expect(await other.take("second", "192.0.2.2")).toMatchObject({ isTaken: true, displaced: ["first"] });
  });

  test("is not taken from a session in use in this process, although its last renewal is old", async () => {
    const { uses, take, clock } = world();
    await take("first");
    await clock.advance(50_000);
    const use = { isBusy: false, lastUsed: clock.now() - 10_000, isOpening: false, ofCaller: 1 };
    uses.set("first", use);
    expect(await take("second", "192.0.2.2")).toMatchObject({ isTaken: false });
    uses.set("first", { ...use, lastUsed: clock.now() - 10_001 });
    expect(await take("second", "192.0.2.2")).toMatchObject({ isTaken: true, displaced: ["first"] });
  });

  test("is not taken from a session that is being opened in this process", async () => {
    const { uses, take, clock } = world();
    await take("first");
    uses.set("first", { isBusy: false, lastUsed: clock.now(), isOpening: true, ofCaller: 1 });
    expect(await take("second")).toMatchObject({ isTaken: false });
  });
});

describe("a full table", () => {
  test("loses the session that is idle in any case, before one that another process may have used since", async () => {
    const { take, other, clock } = world(3);
    await take("single", "192.0.2.1");
    await clock.advance(40_000);
    await take("one of two", "192.0.2.2");
    await take("other of two", "192.0.2.2");
    await clock.advance(interval + 10_001 - 40_000);
    expect(await other.take("new", "192.0.2.3")).toMatchObject({ displaced: ["single"] });
    expect(await other.take("newer", "192.0.2.4")).toMatchObject({ displaced: ["one of two"] });
  });

  test("counts the sessions of the caller in its process, of which few seats are read", async () => {
    const { uses, take, clock } = world(300);
    for (let count = 0; count < 1_000; count++) await take(`s${count}`, `caller ${count}`);
    await clock.advance(20_000);
    const results = [];
    for (let count = 0; count < 50; count++) {
      uses.set(`new ${count}`, { isBusy: false, lastUsed: clock.now(), isOpening: true, ofCaller: 2 });
      results.push(await take(`new ${count}`, "203.0.113.66"));
    }
    // Free seats are taken. No session of a caller that has only one is displaced.
    expect(results.flatMap(({ displaced }) => displaced)).toEqual([]);
  });

  test("loses sessions of a caller that has most of the seats that are read", async () => {
    const { uses, take, clock } = world(300);
    for (let count = 0; count < 1_000; count++) await take(`s${count}`, "192.0.2.1");
    await clock.advance(20_000);
    uses.set("new", { isBusy: false, lastUsed: clock.now(), isOpening: true, ofCaller: 100 });
    expect(await take("new", "192.0.2.2")).toMatchObject({ isTaken: true });
  });

  test.each([
    ["one caller", () => "192.0.2.1"],
    ["several callers", (count: number) => `192.0.2.${count}`],
  ])("gives concurrent requests of %s different seats, and reads each seat once for each", async (_, callerOf) => {
    const clock = fakeClock(1_000_000);
    const store = memoryStore({ clock });
    let reads = 0;
    // The operations of concurrent requests are in flight at the same time.
    const slow: Store = {
      ...store,
      get: async (key) => {
        reads++;
        await flushPromises();
        return store.get(key);
      },
      compareAndSet: async (...operation) => {
        await flushPromises();
        return store.compareAndSet(...operation);
      },
    };
    const { take } = processOn(slow, clock, { max: 32 });
    for (let count = 0; count < 32; count++) await take(`old ${count}`, callerOf(count));
    await clock.advance(100_000);
    reads = 0;
    const results = await Promise.all(
      Array.from({ length: 32 }, (_one, count) => take(`new ${count}`, callerOf(count + 100))),
    );
    expect(reads).toBeLessThanOrEqual(32 * 32);
    expect(results.every(({ isTaken }) => isTaken)).toBe(true);
    expect(new Set(results.map(({ session }) => session.seat)).size).toBe(32);
    expect(results.flatMap(({ displaced }) => displaced)).toHaveLength(32);
    expect(results.flatMap(({ displaced }) => displaced).every((id) => id.startsWith("old"))).toBe(true);
  });

  test("refuses a session, and takes the next one, if the store was unavailable between them", async () => {
    const clock = fakeClock(1_000_000);
    const store = memoryStore({ clock });
    let isAway = false;
    const failing: Store = {
      ...store,
      get: async (key) => {
        if (isAway) throw new Error("away");
        return store.get(key);
      },
    };
    const { take } = processOn(failing, clock);
    await take("first");
    isAway = true;
    await expect(take("second")).rejects.toThrow("away");
    isAway = false;
    expect(await take("third")).toMatchObject({ isTaken: true, displaced: ["first"] });
  });
});
