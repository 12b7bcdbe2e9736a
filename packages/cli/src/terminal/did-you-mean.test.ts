import { expect, test } from "vitest";
import { didYouMean, nearest } from "./did-you-mean.ts";

test("nearest ignores case, and returns undefined if no word is similar", () => {
  expect(nearest("Titel", ["title", "table"])).toBe("title");
  expect(nearest("x", ["title"])).toBeUndefined();
  expect(nearest("x".repeat(10_000), ["title"])).toBeUndefined();
});

test.each([
  ["erase", ["read", "erase_all"], "erase_all"],
  ["Erase", ["erase_all_notes", "erase_all"], "erase_all"],
  ["list", ["list_all", "lists"], "lists"],
  ["er", ["erase_all"], undefined],
  ["all", ["erase_all"], undefined],
])("nearest returns a word that begins with the typed one if none is similar: %s", (word, candidates, expected) => {
  expect(nearest(word, candidates)).toBe(expected);
});

test("nearest returns no word that shares no character with the typed one", () => {
  expect(nearest("c", ["a", "b"])).toBeUndefined();
  expect(nearest("C", ["a", "c"])).toBe("c");
  expect(nearest("a", ["ab"])).toBe("ab");
});

test("didYouMean lists the first known words if none is similar", () => {
  expect(didYouMean("zzz", ["a", "b"])).toBe("Available: a, b.");
  expect(didYouMean("zzz", [])).toBe("None are available.");
  expect(
    didYouMean(
      "zzz",
      Array.from({ length: 20 }, (_, index) => `name-${index}`),
    ),
  ).toMatch(/^Available, among others: name-0, .*name-11\.$/);
});
