import { expect, test } from "vitest";
import { tasks } from "../extensions/tasks/server/tasks.ts";
import { toFetch } from "../http/fetch/to-fetch.ts";
import { rateLimit } from "../server/observe/rate-limit.ts";
import { createServer } from "../server/create-server.ts";
import { makeProofChecker } from "../auth/server/dpop.ts";
import { systemClock } from "../rpc/clock.ts";
import { memoryStore } from "./memory-store.ts";
import { serverStore } from "./server-store.ts";

const ttl = { ttl: 60_000 };

test("two servers do not see the values, logs and messages of each other", async () => {
  const store = memoryStore();
  const [one, two] = [serverStore(store, "one"), serverStore(store, "two")];
  const messages: string[] = [];
  await two.subscribe("c", (message) => messages.push(message));
  await one.set("k", "one", ttl);
  await one.append("l", "one", { ...ttl, maxLength: 10 });
  await one.publish("c", "one");
  expect(await two.get("k")).toBeUndefined();
  expect(await two.readFrom("l", undefined, 10)).toEqual([]);
  expect(messages).toEqual([]);
  expect(await two.compareAndSet("k", undefined, "two", ttl)).toBe(true);
  expect(await one.get("k")).toBe("one");
  expect(await two.delete("k")).toBe(true);
  expect(await one.get("k")).toBe("one");
  expect((await one.readFrom("l", undefined, 10)).length).toBe(1);
});

test.each([
  ["a", "a:"],
  ["a:b", "a"],
  ["a:b", "a%3a;b"],
  ["a b", "a%20b"],
  ["a", "A"],
  ["ä", "a\u0308"],
  ["\ud800", "\ud801"],
  ["\ud800", "\ufffd"],
  ["x}", "x"],
])("no name can imitate the keys of another: %j and %j", async (one, two) => {
  const keys: string[] = [];
  const store = { ...memoryStore(), get: (key: string) => (keys.push(key), Promise.resolve(undefined)) };
  await serverStore(store, one).get("k");
  await serverStore(store, two).get("k");
  const [first, second] = keys.map((key) => key.slice(0, -"k".length)) as [string, string];
  expect(first.startsWith(second) || second.startsWith(first)).toBe(false);
  expect(first).toMatch(/^mcparley:[\w.%;-]+:$/);
});

test("closing a server's part does not close the store", async () => {
  const store = memoryStore();
  const part = serverStore(store, "one");
  await part.set("k", "v", ttl);
  await part.close();
  expect(await part.get("k")).toBe("v");
});

test("a value that is not a store is refused", () => {
  expect(() => createServer({ name: "x", version: "1", store: {} as never })).toThrow("store must be a Store");
});

const store = memoryStore();
const server = createServer({ name: "x", version: "1", store });

test.each([
  ["an endpoint", () => toFetch(server, { store } as object)],
  ["tasks", () => tasks({ store } as object)],
  ["rateLimit", () => rateLimit({ store } as object)],
  ["dpop", () => makeProofChecker({ store } as object, "https://example.com/mcp", systemClock)],
])("the option store of %s is refused, with the option that replaced it", (_, make) => {
  expect(make).toThrow(/"store"/);
  expect(make).toThrow("createServer({ store })");
});
