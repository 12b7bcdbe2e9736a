import { expect, test } from "vitest";
import { withinLimit } from "./work-limit.ts";

test("returns the value of the work", () => {
  expect(withinLimit(() => 7)).toBe(7);
});

test("throws the error of the work", () => {
  const error = new RangeError("no");
  const fail = (): never => {
    throw error;
  };
  expect(() => withinLimit(fail)).toThrow(error);
});

test.each([
  [
    "a loop",
    () => {
      for (;;);
    },
  ],
  ["a pattern that backtracks", () => /^(a+)+$/.test(`${"a".repeat(60)}b`)],
])("interrupts %s that does not end", (_, work) => {
  expect(() => withinLimit(work, 50)).toThrow("timed out");
});
