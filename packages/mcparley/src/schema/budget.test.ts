import { expect, test } from "vitest";
import { checkBudget } from "./budget.ts";

const nest = (levels: number, wrap: (value: unknown) => unknown): unknown =>
  Array.from({ length: levels }).reduce((value: unknown) => wrap(value), "end");

test.each([null, undefined, 1, "text", true, {}, [], { a: 1, b: [1, { c: null }] }])(
  "%j is within the default budget",
  (value) => {
    expect(checkBudget(value)).toBeUndefined();
  },
);

test.each([
  ["arrays", (value: unknown) => [value]],
  ["objects", (value: unknown) => ({ value })],
])("%s may be nested 64 levels deep", (_, wrap) => {
  expect(checkBudget(nest(64, wrap))).toBeUndefined();
  expect(checkBudget(nest(65, wrap))).toBe("The value is nested more than 64 levels deep.");
  expect(checkBudget(nest(1_000_000, wrap))).toBe("The value is nested more than 64 levels deep.");
});

test.each([
  ["an array", (count: number) => Array.from({ length: count }, () => 0)],
  ["an object", (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, 0]))],
  ["nested arrays", (count: number) => Array.from({ length: count / 10 }, () => Array.from({ length: 9 }, () => 0))],
])("%s may hold 100,000 elements in all", (_, make) => {
  expect(checkBudget(make(100_000))).toBeUndefined();
  expect(checkBudget([make(100_000)])).toBe("The value holds more than 100000 properties and items.");
});

test("the limits can be set", () => {
  expect(checkBudget({ a: 1, b: 2 }, { depth: 1, elements: 2 })).toBeUndefined();
  expect(checkBudget({ a: 1, b: 2 }, { depth: 1, elements: 1 })).toContain("more than 1 properties");
  expect(checkBudget({ a: [] }, { depth: 1, elements: 9 })).toContain("more than 1 levels");
  expect(checkBudget({}, { depth: 0, elements: 9 })).toContain("more than 0 levels");
});

test("a value that contains itself is too deep", () => {
  const value: unknown[] = [];
  value.push(value);
  expect(checkBudget(value)).toContain("64 levels");
});

test("a depth over 1,000 is 1,000", () => {
  const levels = (count: number): unknown => JSON.parse("[".repeat(count) + "]".repeat(count));
  const budget = { depth: 5_000, elements: Infinity };
  expect(checkBudget(levels(1_000), budget)).toBeUndefined();
  expect(checkBudget(levels(1_001), budget)).toBe("The value is nested more than 1000 levels deep.");
});
