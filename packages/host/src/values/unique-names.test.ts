import { expect, test } from "vitest";
import { uniqueNames } from "./map-texts.ts";

test("numbers equal names, and skips names that are taken", () => {
  const unique = uniqueNames(["a_2"]);
  expect(["a", "a", "a", "a_3", "b"].map((name) => unique(name))).toEqual(["a", "a_3", "a_4", "a_3_2", "b"]);
});

test("adds the number to the base", () => {
  const unique = uniqueNames(["long"]);
  expect(unique("long", "lo")).toBe("lo_2");
  expect(unique("long", "lo")).toBe("lo_3");
});

test("makes 200,000 equal names unique without a search for each", () => {
  const unique = uniqueNames();
  const names = Array.from({ length: 200_000 }, () => unique("call"));
  expect(new Set(names).size).toBe(200_000);
});
