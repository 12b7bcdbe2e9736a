import { expect, test } from "vitest";
import { differencesBetween } from "./differences.ts";

test("values that differ behind the shown part are a difference", () => {
  const start = "a".repeat(100_000);
  const [found, ...others] = differencesBetween({ description: `${start}b` }, { description: `${start}c` });
  expect(others).toEqual([]);
  expect(found?.path).toBe("/description");
  expect(found?.before?.slice(65_536)).toMatch(
    /^a\[34465 more characters are not shown\. SHA-256 of the whole text: [\da-f]{64}\]"$/,
  );
  expect(found?.before).not.toBe(found?.after);
});

test("values after many characters are short, and still differ", () => {
  const values = (end: string): string[] => Array.from({ length: 10 }, () => "a".repeat(60_000) + end);
  const found = differencesBetween(values("b"), values("c"));
  expect(found).toHaveLength(10);
  expect(found[9]?.after).toMatch(/^"a{200}\[59801 more characters are not shown\. /);
  for (const { before, after } of found) expect(before).not.toBe(after);
});

test("the number of differences is limited", () => {
  const members = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [index, 1]));
  expect(differencesBetween({}, members(1_000))).toHaveLength(1_000);
  const found = differencesBetween({}, members(1_001));
  expect(found).toHaveLength(1_001);
  expect(found.at(-1)).toEqual({ path: "", before: undefined, after: "1 more differences are not shown." });
});
