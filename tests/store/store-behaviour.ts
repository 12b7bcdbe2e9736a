import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "mcparley/server";

export interface StoreUnderTest {
  store: Store;
  /** Advances the time of the store. */
  pass: (ms: number) => Promise<void>;
  /** The resolution of its clock in milliseconds. Default: 1. */
  grain?: number;
}

/** The behavior of every store. */
export function testStore(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(name, () => {
    const ttl = 60_000;
    const log = { ttl, maxLength: 3 };
    let store: Store;
    let pass: StoreUnderTest["pass"];
    let grain: number;

    beforeEach(async () => {
      ({ store, pass, grain = 1 } = await make());
    });
    afterEach(() => store.close());

    test("a value is stored until it is deleted, replaced or expired", async () => {
      expect(await store.get("k")).toBeUndefined();
      await store.set("k", "one", { ttl });
      expect(await store.get("k")).toBe("one");
      await store.set("k", "", { ttl });
      expect(await store.get("k")).toBe("");
      expect(await store.delete("k")).toBe(true);
      expect(await store.delete("k")).toBe(false);
      await store.set("k", "two", { ttl });
      await pass(ttl - grain);
      expect(await store.get("k")).toBe("two");
      await pass(grain);
      expect(await store.get("k")).toBeUndefined();
      expect(await store.delete("k")).toBe(false);
    });

    test("keys such as __proto__ and constructor are supported", async () => {
      for (const key of ["__proto__", "constructor", "toString"]) {
        expect(await store.get(key)).toBeUndefined();
        await store.set(key, key, { ttl });
        expect(await store.get(key)).toBe(key);
      }
    });

    test("compareAndSet succeeds only if the stored value is the expected one", async () => {
      expect(await store.compareAndSet("k", "x", "y", { ttl })).toBe(false);
      expect(await store.compareAndSet("k", undefined, "a", { ttl })).toBe(true);
      expect(await store.compareAndSet("k", undefined, "b", { ttl })).toBe(false);
      expect(await store.compareAndSet("k", "a", "b", { ttl })).toBe(true);
      expect(await store.get("k")).toBe("b");
      expect(await store.compareAndSet("k", "b", undefined, { ttl })).toBe(true);
      expect(await store.get("k")).toBeUndefined();
    });

    test("one of many concurrent calls of compareAndSet with the same expected value succeeds", async () => {
      const tries = await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.compareAndSet("k", undefined, `${index}`, { ttl })),
      );
      expect(tries.filter(Boolean)).toHaveLength(1);
    });

    test("compareAndSet with keepTtl does not change the expiry of the value", async () => {
      await store.set("k", "a", { ttl });
      await pass(ttl / 2);
      expect(await store.compareAndSet("k", "a", "b", { ttl, keepTtl: true })).toBe(true);
      expect(await store.compareAndSet("k", "b", "c", { ttl: grain, keepTtl: true })).toBe(true);
      await pass(ttl / 2 - grain);
      expect(await store.get("k")).toBe("c");
      await pass(grain);
      expect(await store.get("k")).toBeUndefined();
    });

    test("compareAndSet with keepTtl uses the ttl if there is no value", async () => {
      expect(await store.compareAndSet("k", undefined, "a", { ttl, keepTtl: true })).toBe(true);
      await pass(ttl - grain);
      expect(await store.get("k")).toBe("a");
      await pass(grain);
      expect(await store.get("k")).toBeUndefined();
    });

    test("compareAndSet treats an expired value as absent", async () => {
      await store.set("k", "old", { ttl });
      await pass(ttl);
      expect(await store.compareAndSet("k", "old", "new", { ttl })).toBe(false);
      expect(await store.compareAndSet("k", undefined, "new", { ttl })).toBe(true);
    });

    test("a log can be read from any position, and keeps its newest entries", async () => {
      const positions = [];
      for (const value of ["a", "b", "c", "d"]) positions.push(await store.append("log", value, log));
      expect(positions.toSorted()).toEqual(positions);
      const values = async (after: string | undefined, limit = 100) =>
        (await store.readFrom("log", after, limit)).map(({ value }) => value);
      expect(await values(undefined)).toEqual(["b", "c", "d"]);
      expect(await values(positions[1])).toEqual(["c", "d"]);
      expect(await values(positions[0], 2)).toEqual(["b", "c"]);
      expect(await values(positions[3])).toEqual([]);
      expect(await store.readFrom("other", undefined, 10)).toEqual([]);
    });

    test("appending renews the lifetime of a log, after which the log expires", async () => {
      await store.append("log", "a", log);
      await pass(ttl - grain);
      const position = await store.append("log", "b", log);
      await pass(ttl - grain);
      expect(await store.readFrom("log", undefined, 10)).toHaveLength(2);
      await pass(grain);
      expect(await store.readFrom("log", undefined, 10)).toEqual([]);
      expect(await store.readFrom("log", position, 10)).toEqual([]);
    });

    test("subscribers receive the messages of their channel in order, and no others", async () => {
      const first: string[] = [];
      let arrived!: () => void;
      const done = new Promise<void>((resolve) => (arrived = resolve));
      await store.publish("c", "before");
      const leave = await store.subscribe("c", (message) => first.push(message));
      await store.subscribe("c", (message) => {
        if (message === "last") arrived();
      });
      await store.publish("other", "elsewhere");
      await store.publish("c", "1");
      await store.publish("c", "2");
      await store.publish("c", "last");
      await done;
      expect(first).toEqual(["1", "2", "last"]);
      await leave();
    });
  });
}
