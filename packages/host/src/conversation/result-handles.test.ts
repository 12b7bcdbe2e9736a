import { expect, test } from "vitest";
import { ResultStore } from "./server-text.ts";

const origin = { server: "notes", name: "read" };
const text = (bytes: number) => ({ kind: "result" as const, origin, content: Buffer.alloc(bytes, "x") });

test("removes the texts that were not used for the longest time", () => {
  const store = new ResultStore({ maxBytes: 300 });
  const [a, b, c] = [store.keep(text(100)), store.keep(text(100)), store.keep(text(100))];
  expect(store.find(a.handle)).toBe(a);
  store.keep(text(100));
  expect(store.find(b.handle)).toBeUndefined();
  expect([store.find(a.handle), store.find(c.handle)]).toEqual([a, c]);
  expect(store.bytes).toBe(300);
});

test("keeps the newest text even if it is over the limit alone", () => {
  const store = new ResultStore({ maxBytes: 50 });
  store.keep(text(20));
  const { handle } = store.keep(text(100));
  expect(store.find(handle)).toBeDefined();
  expect(store.bytes).toBe(100);
});

test("has handles that cannot be guessed", () => {
  const store = new ResultStore();
  const handles = new Set(Array.from({ length: 100 }, () => store.keep(text(1)).handle));
  expect(handles.size).toBe(100);
  for (const handle of handles) expect(handle).toMatch(/^r_[\w-]{16}$/);
});
