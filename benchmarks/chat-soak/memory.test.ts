import { expect, test } from "vitest";
import { judgeGrowth } from "./memory.mjs";

/** Returns moments with these megabytes of heap. */
function moments(...heap: number[]): { heap: number; rss: number }[] {
  return heap.map((each) => ({ heap: each, rss: each }));
}

test.each([
  ["a flat heap", "heap", moments(10, 20, 20, 20, 20, 20), true],
  ["a heap that grew by a tenth and a megabyte", "heap", moments(10, 10, 20, 20, 23, 23), true],
  ["a heap that grew by more", "heap", moments(10, 10, 20, 20, 23.1, 23.1), false],
  ["growth in the first third", "heap", moments(1, 5, 20, 20, 20, 20), true],
  ["one high moment", "heap", moments(10, 10, 10, 20, 20, 20, 20, 99, 20), true],
  ["resident memory that grew by 15 % and 5 MB", "rss", moments(90, 100, 120), true],
  ["resident memory that grew by more", "rss", moments(90, 100, 120.1), false],
] as const)("judges %s", (_, kind, measured, isGood) => {
  expect(judgeGrowth(kind, measured).isGood).toBe(isGood);
});
