import { expect, test } from "vitest";
import { didYouMean, nearest } from "./did-you-mean.ts";

test("the nearest word is found regardless of case, and none where all are far", () => {
  expect(nearest("Titel", ["title", "table"])).toBe("title");
  expect(nearest("x", ["title"])).toBeUndefined();
  expect(nearest("x".repeat(10_000), ["title"])).toBeUndefined();
});

test("where nothing is near, what there is is listed, as far as it fits", () => {
  expect(didYouMean("zzz", ["a", "b"])).toBe("There are: a, b.");
  expect(didYouMean("zzz", [])).toBe("There are none.");
  expect(
    didYouMean(
      "zzz",
      Array.from({ length: 20 }, (_, index) => `name-${index}`),
    ),
  ).toMatch(/^Some of those there are: name-0, .*name-11\.$/);
});
