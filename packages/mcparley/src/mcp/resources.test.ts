import { expect, test } from "vitest";
import { isPartOf } from "./resources.ts";

test.each([
  ["note://1", "note://1", true],
  ["note://1/a", "note://1", true],
  ["note://1?a=b", "note://1", true],
  ["note://1#a", "note://1", true],
  ["file:///docs/a", "file:///docs/", true],
  ["note://10", "note://1", false],
  ["note://1.txt", "note://1", false],
  ["note://1", "note://1/a", false],
  ["note://2", "note://1", false],
])("%s is a part of %s: %s", (uri, whole, expected) => {
  expect(isPartOf(uri, whole)).toBe(expected);
});
