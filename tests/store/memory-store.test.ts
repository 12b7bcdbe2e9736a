import { memoryStore } from "mcparley/server";
import { expect, test } from "vitest";
import { testStore } from "./store-behaviour.ts";

function clockedStore(maxKeys?: number) {
  let now = 1_000_000;
  const clock = { now: () => now, setTimeout: () => 0, clearTimeout: () => {} };
  const pass = async (ms: number): Promise<void> => {
    now += ms;
  };
  return { store: memoryStore({ clock, ...(maxKeys !== undefined && { maxKeys }) }), pass };
}

testStore("memory", async () => clockedStore());

test("the store in memory removes the oldest entry if it exceeds maxKeys by one", async () => {
  const { store } = clockedStore(2);
  const ttl = 1000;
  await store.set("a", "a", { ttl });
  await store.set("b", "b", { ttl });
  expect(await store.get("a")).toBe("a");
  await store.set("c", "c", { ttl });
  expect(await store.get("a")).toBeUndefined();
  expect(await store.get("b")).toBe("b");
  expect(await store.get("c")).toBe("c");
});
