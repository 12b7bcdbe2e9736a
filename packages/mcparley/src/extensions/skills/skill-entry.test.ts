import { expect, test } from "vitest";
import { isInside, isPlainPath, rootOf } from "./skill-entry.ts";

test("URIs and paths of more than 12,288 units are refused", () => {
  const pathOf = (length: number) => "a".repeat(length);
  expect([12_288, 12_289].map((length) => isPlainPath(pathOf(length)))).toEqual([true, false]);
  const start = "skill://a/";
  const inside = (length: number) => isInside("skill://a", start + pathOf(length - start.length));
  expect([12_288, 12_289].map(inside)).toEqual([true, false]);
  const root = (length: number) => rootOf(`${start}${pathOf(length - start.length - 9)}/SKILL.md`) !== undefined;
  expect([12_288, 12_289].map(root)).toEqual([true, false]);
});
