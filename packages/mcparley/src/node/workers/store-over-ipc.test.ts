import { expect, test } from "vitest";
import type { Clock } from "../../rpc/clock.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { Store } from "../../store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { testStore } from "../../../../../tests/store/store-behaviour.ts";
import { RemoteStore } from "./remote-store.ts";
import { StoreServer } from "./store-server.ts";
import { leaseTime, type StoreRequest } from "./store-messages.ts";

/** Two workers and the store of their primary process. Messages are JSON, as between processes. */
function workers({ clock = fakeClock() }: { clock?: FakeClock } = {}) {
  const server = new StoreServer(memoryStore({ clock }), clock);
  return { clock, first: worker(server, clock), second: worker(server, clock) };
}

interface Worker {
  readonly store: Store;
  /** The requests that reached the primary process. */
  readonly sent: StoreRequest[];
  /** While true, the worker does not receive messages, as if its event loop was blocked. */
  isBlocked: boolean;
  end(): void;
}

function worker(server: StoreServer, clock: Clock): Worker {
  const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
  const sent: StoreRequest[] = [];
  const connection = server.connect((replies) => {
    if (!made.isBlocked) store.receive(copy(replies));
  });
  const store = new RemoteStore((requests) => {
    sent.push(...copy(requests));
    connection.receive(copy(requests));
  }, clock);
  const made: Worker = { store, sent, isBlocked: false, end: () => connection.close() };
  return made;
}

testStore("memory of the primary process", async () => {
  const { clock, first } = workers();
  return { store: first.store, pass: (ms) => clock.advance(ms) };
});

const ttl = 60_000;
const gets = ({ sent }: Worker): number => sent.filter(([, op]) => op === "get").length;

async function leased(store: Store, key: string, value: string): Promise<void> {
  await store.set(key, value, { ttl });
  expect([await store.get(key), await store.get(key)]).toEqual([value, value]);
}

test("a value that is read for the third time within the lease time is not requested", async () => {
  const { clock, first } = workers();
  await leased(first.store, "k", "a");
  expect(await first.store.get("k")).toBe("a");
  expect(gets(first)).toBe(2);
  await clock.advance(leaseTime - 1);
  expect(await first.store.get("k")).toBe("a");
  expect(gets(first)).toBe(2);
  await clock.advance(1);
  expect(await first.store.get("k")).toBe("a");
  expect(gets(first)).toBe(3);
});

test("a value that this worker writes between its reads is requested each time", async () => {
  const { first } = workers();
  for (const value of ["a", "b", "c"]) {
    await first.store.set("k", value, { ttl });
    expect(await first.store.get("k")).toBe(value);
  }
  expect(first.sent.filter(([, op]) => op === "get").map((request) => request[3])).toEqual([false, false, false]);
});

test.each([
  ["set", (store: Store) => store.set("k", "b", { ttl }), "b"],
  ["compareAndSet", (store: Store) => store.compareAndSet("k", "a", "b", { ttl }), "b"],
  ["compareAndSet, which deletes", (store: Store) => store.compareAndSet("k", "a", undefined, { ttl }), undefined],
  ["delete", (store: Store) => store.delete("k"), undefined],
])(
  "a worker with a lease does not use the old value after its own %s, also not before that is answered",
  async (_, change, value) => {
    const { first, second } = workers();
    await leased(first.store, "k", "a");
    const changing = change(first.store);
    expect(await first.store.get("k")).toBe(value);
    await changing;
    for (const { store } of [first, second, first]) expect(await store.get("k")).toBe(value);
  },
);

test("a change has settled only when another worker no longer uses the old value", async () => {
  const { first, second } = workers();
  await leased(first.store, "k", "a");
  expect(await second.store.compareAndSet("k", "a", "b", { ttl })).toBe(true);
  expect(first.sent.at(-1)?.[1]).toBe("dropped");
  expect(await first.store.get("k")).toBe("b");
});

test("a deletion takes the lease of another worker back", async () => {
  const { first, second } = workers();
  await leased(first.store, "k", "a");
  expect(await second.store.delete("k")).toBe(true);
  expect(await first.store.get("k")).toBeUndefined();
});

test("a change waits for a blocked worker until its lease has ended, and later changes wait for it", async () => {
  const { clock, first, second } = workers();
  await leased(first.store, "k", "a");
  first.isBlocked = true;
  const order: string[] = [];
  void second.store.set("k", "b", { ttl }).then(() => order.push("b"));
  await flushPromises();
  void second.store.set("k", "c", { ttl }).then(() => order.push("c"));
  await clock.advance(leaseTime - 1);
  expect(order).toEqual([]);
  expect(await second.store.get("k")).toBe("a");
  await clock.advance(1);
  expect(order).toEqual(["b", "c"]);
  expect(await second.store.get("k")).toBe("c");
  // The blocked worker has not received the message. Its lease has ended as well.
  first.isBlocked = false;
  expect(await first.store.get("k")).toBe("c");
});

test("no lease is given while a change waits", async () => {
  const { clock, first, second } = workers();
  await leased(first.store, "k", "a");
  first.isBlocked = true;
  const change = second.store.set("k", "b", { ttl });
  await flushPromises();
  const third = [await second.store.get("k"), await second.store.get("k"), await second.store.get("k")];
  expect(third).toEqual(["a", "a", "a"]);
  expect(gets(second)).toBe(3);
  await clock.advance(leaseTime);
  await change;
  expect(await second.store.get("k")).toBe("b");
});

test("a value that arrives after it was dropped is not used again", async () => {
  const { first, second } = workers();
  await first.store.set("k", "a", { ttl });
  await first.store.get("k");
  // The second read asks for a lease, and the own change is sent before its answer arrives.
  const [read] = await Promise.all([first.store.get("k"), first.store.set("k", "b", { ttl })]);
  expect(read).toBe("a");
  expect(await first.store.get("k")).toBe("b");
  await second.store.set("k", "c", { ttl });
  expect(await first.store.get("k")).toBe("c");
});

test("a change does not wait for a worker that has ended", async () => {
  const { first, second } = workers();
  await leased(first.store, "k", "a");
  first.isBlocked = true;
  const change = second.store.set("k", "b", { ttl });
  await flushPromises();
  first.end();
  await change;
  expect(await second.store.get("k")).toBe("b");
});

test("a message reaches the subscribers of all workers, and none after they unsubscribe or end", async () => {
  const { first, second } = workers();
  const heard: string[] = [];
  const leave = await first.store.subscribe("c", (message) => heard.push(`first ${message}`));
  await first.store.subscribe("c", (message) => heard.push(`again ${message}`));
  await second.store.subscribe("c", (message) => heard.push(`second ${message}`));
  await first.store.publish("c", "1");
  await flushPromises();
  expect(heard.toSorted()).toEqual(["again 1", "first 1", "second 1"]);
  await leave();
  second.end();
  heard.length = 0;
  await first.store.publish("c", "2");
  await flushPromises();
  expect(heard).toEqual(["again 2"]);
});

test("subscribing right after unsubscribing receives messages", async () => {
  const { first } = workers();
  const heard: string[] = [];
  const leave = await first.store.subscribe("c", () => {});
  await Promise.all([leave(), first.store.subscribe("c", (message) => heard.push(message))]);
  await first.store.publish("c", "1");
  await flushPromises();
  expect(heard).toEqual(["1"]);
});

test("an operation fails with store_unavailable if the primary process does not answer within 15 seconds", async () => {
  const clock = fakeClock();
  const store = new RemoteStore(() => {}, clock);
  const failures: string[] = [];
  const note = (error: { code: string }): void => void failures.push(error.code);
  void store.get("k").catch(note);
  await clock.advance(10_000);
  void store.get("l").catch(note);
  await clock.advance(4_999);
  expect(failures).toEqual([]);
  await clock.advance(1);
  expect(failures).toEqual(["store_unavailable"]);
  await clock.advance(10_000);
  expect(failures).toEqual(["store_unavailable", "store_unavailable"]);
  expect(clock.pending).toBe(0);
});
