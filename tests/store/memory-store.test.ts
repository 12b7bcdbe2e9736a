import { memoryStore } from "mcparley/server";
import { expect, test } from "vitest";
import { testStore } from "./store-behaviour.ts";

function clockedStore(limits: { maxKeys?: number; maxSize?: number } = {}) {
  let now = 1_000_000;
  const clock = { now: () => now, setTimeout: () => 0, clearTimeout: () => {} };
  const pass = async (ms: number): Promise<void> => {
    now += ms;
  };
  return { store: memoryStore({ clock, ...limits }), pass };
}

testStore("memory", async () => clockedStore());

test("the store in memory removes the oldest entry if it exceeds maxKeys by one", async () => {
  const { store } = clockedStore({ maxKeys: 2 });
  const ttl = 1000;
  await store.set("a", "a", { ttl });
  await store.set("b", "b", { ttl });
  expect(await store.get("a")).toBe("a");
  await store.set("c", "c", { ttl });
  expect(await store.get("a")).toBeUndefined();
  expect(await store.get("b")).toBe("b");
  expect(await store.get("c")).toBe("c");
});

test("the store in memory accepts maxSize characters, and refuses a value with one more", async () => {
  const { store } = clockedStore({ maxSize: 10 });
  const ttl = 1000;
  await store.set("a", "1234", { ttl });
  await store.set("b", "1234", { ttl });
  await expect(store.set("c", "", { ttl })).rejects.toMatchObject({ code: "too_large" });
  await expect(store.set("a", "12345", { ttl })).rejects.toMatchObject({ code: "too_large" });
  expect(await store.get("a")).toBe("1234");
  await store.set("a", "123", { ttl });
  await store.set("c", "", { ttl });
  await store.delete("b");
  expect(await store.compareAndSet("a", "123", "12345678", { ttl })).toBe(true);
  await expect(store.append("l", "", { ttl, maxLength: 1 })).rejects.toMatchObject({ code: "too_large" });
});

test("the store in memory has room again when values expire, logs lose entries or keys are removed", async () => {
  const { store, pass } = clockedStore({ maxSize: 40, maxKeys: 2 });
  const ttl = 1000;
  // A log entry has 16 characters more, for its position.
  await store.append("l", "1234", { ttl, maxLength: 1 });
  for (let entry = 0; entry < 5; entry++) {
    await expect(store.append("l", "1234", { ttl, maxLength: 1 })).rejects.toMatchObject({ code: "too_large" });
    await pass(ttl);
    await store.append("l", "1234", { ttl, maxLength: 1 });
  }
  await store.set("a", "x".repeat(17), { ttl: 2 * ttl });
  await expect(store.set("b", "1", { ttl })).rejects.toMatchObject({ code: "too_large" });
  await pass(ttl);
  await store.set("b", "x".repeat(20), { ttl });
  await expect(store.set("c", "1", { ttl })).rejects.toMatchObject({ code: "too_large" });
  await store.set("c", "", { ttl });
  await store.set("b", "x".repeat(36), { ttl });
});
