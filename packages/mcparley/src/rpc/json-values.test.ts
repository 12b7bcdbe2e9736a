import fc from "fast-check";
import { expect, test } from "vitest";
import { copyAsJson, findNotJson } from "./json-values.ts";

class Point {
  x = 1;
  #secret = 2;
  get sum(): number {
    return this.x + this.#secret;
  }
}

test.each<[string, unknown]>([
  ["members without a value", { a: undefined, b: () => 1, c: Symbol("c"), d: null }],
  ["items without a value", [undefined, () => 1, Symbol("c"), null]],
  // oxlint-disable-next-line no-sparse-arrays -- JSON has null in place of a missing item
  ["missing items", [1, , 3]],
  ["dates and URLs", { at: new Date(0), invalid: new Date(NaN), url: new URL("https://x.example/") }],
  ["numbers that JSON does not have", [NaN, Infinity, -Infinity, -0, 1e300]],
  ["maps and sets", { map: new Map([["a", 1]]), set: new Set([1]) }],
  ["an instance of a class", new Point()],
  ["an object without a prototype", Object.assign(Object.create(null) as object, { b: 1 })],
  ["bytes", { buffer: Buffer.from("ab"), array: new Uint8Array([1, 2]) }],
  ["a toJSON that reads its name", { a: [{ toJSON: (name: string) => `name ${name}` }] }],
  ["a toJSON that returns a value with one", { a: { toJSON: () => new Date(0) } }],
  ["a toJSON that returns nothing", { a: { toJSON: () => undefined } }],
  ["members with names of the prototype", JSON.parse('{"__proto__":{"a":1},"constructor":2}')],
  ["the same object twice", ((shared) => ({ a: shared, b: [shared] }))({ c: 1 })],
  ["an error", new Error("x")],
])("a copy is what JSON makes of a value: %s", (_, value) => {
  expect(copyAsJson(value, "")).toStrictEqual(JSON.parse(JSON.stringify(value)));
});

test("a copy is what JSON makes of any value, and shares no object with it", () => {
  const depthOf = (value: unknown): unknown[] =>
    typeof value === "object" && value !== null ? [value, ...Object.values(value).flatMap(depthOf)] : [];
  fc.assert(
    fc.property(fc.object({ withDate: true, withNullPrototype: true, withUnicodeString: true } as object), (value) => {
      const copy = copyAsJson(value, "");
      expect(copy).toStrictEqual(JSON.parse(JSON.stringify(value)));
      const originals = new Set(depthOf(value));
      expect(depthOf(copy).filter((object) => originals.has(object))).toEqual([]);
    }),
  );
});

test("half of a surrogate pair is replaced in texts and names", () => {
  expect(copyAsJson({ "a\ud83d": ["b\udc00"] }, "")).toEqual({ "a\ufffd": ["b\ufffd"] });
});

const cycle: Record<string, unknown> = {};
cycle.list = [cycle];
const levels = (count: number): unknown => JSON.parse("[".repeat(count) + "]".repeat(count));

test.each<[string, unknown, string]>([
  ["a bigint", { a: [{ b: 1n }] }, '"result.a[0].b" is a bigint, which JSON cannot represent.'],
  ["a cycle", { a: cycle }, '"result.a.list[0]" contains itself, which JSON cannot represent.'],
  ["too many levels", { a: levels(1_001) }, "is nested more than 1000 levels deep"],
  ["far too many levels", { a: levels(200_000) }, "is nested more than 1000 levels deep"],
])("a value with %s is not copied, and the error names the member", (_, value, message) => {
  expect(() => copyAsJson(value, "result")).toThrow(message);
});

test("a value of 1,000 levels is copied", () => {
  expect(findNotJson(copyAsJson(levels(1_000), ""), "")).toBeUndefined();
});

test("the error of a toJSON is passed on with its member", () => {
  const file = {
    toJSON: () => {
      throw new Error("closed");
    },
  };
  expect(() => copyAsJson({ a: file }, "result")).toThrow('"result.a" has a toJSON method that throws (closed)');
});

test("the same object twice is no cycle", () => {
  const shared = { at: new Date(0) };
  expect(findNotJson({ a: shared, b: [shared, { c: shared }] }, "")).toBeUndefined();
});
