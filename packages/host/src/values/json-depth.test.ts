import { expect, test } from "vitest";
import { isWithinDepth } from "./map-texts.ts";

const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

test("counts the levels of arrays and objects", () => {
  expect(isWithinDepth("text", 0)).toBe(true);
  expect(isWithinDepth({}, 0)).toBe(false);
  expect(isWithinDepth({ a: [null] }, 2)).toBe(true);
  expect(isWithinDepth({ a: [{}] }, 2)).toBe(false);
  expect(isWithinDepth(nested(64), 64)).toBe(true);
});

test("reads no further than the limit, so that a deep value cannot exhaust the stack", () => {
  expect(isWithinDepth(nested(200_000), 64)).toBe(false);
});
