import { describe, expect, test } from "vitest";
import { coreOf, createServer } from "../server/create-server.ts";
import type { ServerCore } from "../server/core/server-core.ts";
import { memoryStore } from "../store/memory-store.ts";
import type { LogEntry, Store } from "../store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../testing/fake-clock.ts";

import { type Broadcast, ClusterNode, type NodeMessage } from "./cluster-node.ts";

interface TestNode {
  node: ClusterNode;
  received: (NodeMessage | Broadcast)[];
  errors: unknown[];
}

interface World {
  clock: FakeClock;
  store: Store;
  /** Makes a node. Its operations with these names fail while `outage` is set. */
  start: (outage?: { names?: RegExp | undefined }) => TestNode;
}

function world(): World {
  const clock = fakeClock(1_000_000);
  const store = memoryStore({ clock });
  const start = (outage: { names?: RegExp | undefined } = {}): TestNode => {
    const errors: unknown[] = [];
    const received: (NodeMessage | Broadcast)[] = [];
    const core: ServerCore = coreOf(
      createServer({ name: "test", version: "1.0.0", clock, onError: (error: unknown) => errors.push(error) }),
    );
    const own = new Proxy(store, {
      get:
        (_, member: keyof Store) =>
        async (...given: never[]) => {
          if (outage.names?.test(`${member} ${String(given[0])}`)) throw new Error("down");
          return (store[member] as (...all: never[]) => unknown)(...given);
        },
    });
    // Each node that joins writes a broadcast, which finds the end of the log.
    const take = (message: NodeMessage | Broadcast): void =>
      void ((message.about as string) !== "joined" && received.push(message));
    return { node: new ClusterNode(core, own, { onMessage: take, onBroadcast: take }), received, errors };
  };
  return { clock, store, start };
}

const moved = { session: "s", about: "moved" } as const;
const ended = { session: "s", about: "ended" } as const;

describe("messages", () => {
  test("arrive at their node, also from before it joined, and broadcasts at all nodes that have joined", async () => {
    const { start } = world();
    const [a, b] = [start(), start()];
    await a.node.join();
    await a.node.broadcast({ ...ended, session: "early" });
    await a.node.send(b.node.id, moved);
    await b.node.join();
    await a.node.broadcast(ended);
    await flushPromises();
    expect(a.received).toEqual([{ ...ended, session: "early" }, ended]);
    expect(b.received).toEqual([moved, ended]);
  });

  test("of up to 16,384 characters are in the inbox, and longer ones in a key that is deleted", async () => {
    const { store, start } = world();
    const [a, b] = [start(), start()];
    await a.node.join();
    const messageOf = (length: number): NodeMessage => {
      const message: NodeMessage = { session: "s", about: "carried", stream: "" };
      return { ...message, stream: "x".repeat(length - JSON.stringify(message).length) };
    };
    const long = messageOf(16_385);
    await a.node.send(b.node.id, messageOf(16_384));
    await a.node.send(b.node.id, long);
    const [first, second] = (await store.readFrom(`mail:${b.node.id}`, undefined, 10)) as [LogEntry, LogEntry];
    expect(JSON.parse(first.value)).toEqual(messageOf(16_384));
    const { beside } = JSON.parse(second.value) as { beside: string };
    expect(await store.get(beside)).toBe(JSON.stringify(long));
    await b.node.join();
    await flushPromises();
    expect(b.received).toEqual([messageOf(16_384), long]);
    expect(await store.get(beside)).toBeUndefined();
  });

  test("whose key has expired are left out", async () => {
    const { store, start } = world();
    const b = start();
    await store.append(`mail:${b.node.id}`, JSON.stringify({ beside: "expired" }), { ttl: 60_000, maxLength: 10 });
    await store.append(`mail:${b.node.id}`, JSON.stringify(moved), { ttl: 60_000, maxLength: 10 });
    await b.node.join();
    await flushPromises();
    expect(b.received).toEqual([moved]);
    expect(b.errors).toEqual([]);
  });
});

describe("a node", () => {
  test("that could not join joins at the next request", async () => {
    const { start } = world();
    const outage = { names: /append/ as RegExp | undefined };
    const a = start(outage);
    await expect(a.node.join()).rejects.toThrow("down");
    outage.names = undefined;
    await a.node.join();
    await a.node.send(a.node.id, moved);
    await flushPromises();
    expect(a.received).toEqual([moved]);
  });

  test("that leaves has no lease, at once and later, and receives nothing", async () => {
    const { clock, start } = world();
    const [a, b] = [start(), start()];
    await Promise.all([a.node.join(), b.node.join()]);
    await clock.advance(9_000);
    expect(await b.node.isAlive(a.node.id)).toBe(true);
    await a.node.leave();
    expect(await b.node.isAlive(a.node.id)).toBe(false);
    await b.node.send(a.node.id, moved);
    await b.node.broadcast(ended);
    await clock.advance(6_000);
    expect(await b.node.isAlive(a.node.id)).toBe(false);
    expect(a.received).toEqual([]);
  });

  test("that leaves while it joins renews nothing", async () => {
    const { clock, start } = world();
    const [a, b] = [start(), start()];
    await b.node.join();
    const joining = a.node.join();
    await a.node.leave();
    await joining;
    await clock.advance(30_000);
    expect(await b.node.isAlive(a.node.id)).toBe(false);
  });

  test("is alive for itself, and for others until 12 s after its last renewal", async () => {
    const { clock, start } = world();
    const outage: { names?: RegExp } = {};
    const [a, b] = [start(outage), start()];
    await Promise.all([a.node.join(), b.node.join()]);
    await clock.advance(30_000);
    outage.names = /set alive/;
    await clock.advance(11_999);
    expect(await b.node.isAlive(a.node.id)).toBe(true);
    await clock.advance(1);
    expect(await b.node.isAlive(a.node.id)).toBe(false);
    expect(await a.node.isAlive(a.node.id)).toBe(true);
  });
});

describe("a missing lease", () => {
  test("is ignored for nine seconds by a node that has just joined", async () => {
    const { clock, start } = world();
    const b = start();
    await b.node.join();
    await clock.advance(8_999);
    expect(await b.node.isAlive("dead")).toBe(true);
    await clock.advance(1);
    expect(await b.node.isAlive("dead")).toBe(false);
  });

  test.each([
    [5_000, false],
    [9_000, true],
  ])("after an outage of %i ms in which renewals failed: ignored is %s", async (ms, isIgnored) => {
    const { clock, start } = world();
    const outage: { names?: RegExp | undefined } = {};
    const b = start(outage);
    await b.node.join();
    await clock.advance(30_000);
    outage.names = /set alive/;
    await clock.advance(ms);
    outage.names = undefined;
    expect(await b.node.isAlive("dead")).toBe(isIgnored);
    await clock.advance(9_000);
    expect(await b.node.isAlive("dead")).toBe(false);
  });

  test("counts at once after two short outages, and each of them is reported once", async () => {
    const { clock, start } = world();
    const outage: { names?: RegExp | undefined } = {};
    const b = start(outage);
    await b.node.join();
    for (const count of [1, 2]) {
      await clock.advance(30_000);
      outage.names = /set alive/;
      await clock.advance(6_000);
      expect(b.errors).toHaveLength(count);
      outage.names = undefined;
      expect(await b.node.isAlive("dead")).toBe(false);
    }
  });
});
