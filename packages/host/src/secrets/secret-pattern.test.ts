import { expect, test } from "vitest";
import { SecretPattern } from "./secret-pattern.ts";

test.each([
  ["nothing of it", 13],
  ["it is sesa", 6],
  ["it is sesame", 6],
  ["it is sesame-open", 17],
  ["it is sesame-open-s", 18],
  ["s".repeat(300), 299],
])("finds the start of a secret at the end of %j", (text, length) => {
  expect(new SecretPattern(["sesame", "sesame-open"]).lengthBeforeStart(text)).toBe(length);
});

test("holds back at most 256 characters, and divides no secret", () => {
  const pattern = new SecretPattern(["x".repeat(1_000), "abcdef", "efghijk"]);
  expect(pattern.lengthBeforeStart("x".repeat(900))).toBe(644);
  expect(pattern.lengthBeforeStart("is abcdef")).toBe(3);
});
