import { expect, test } from "vitest";
import { Names, idOf, positionOf } from "./names.ts";

test("a name is within a hash tag, so that it decides about its slot as a whole", () => {
  const names = new Names("mcparley:");
  expect([names.value("a"), names.log("a"), names.channel("a")]).toEqual([
    "mcparley:value:{a}",
    "mcparley:log:{a}",
    "mcparley:channel:{a}",
  ]);
});

test("positions compare as strings in the order of their ids, and lead back to them", () => {
  const ids = ["0-1", "999-0", "1700000000000-0", "1700000000000-9", "1700000000000-10", "1700000000001-2"];
  const positions = ids.map(positionOf);
  expect(positions.toSorted()).toEqual(positions);
  expect(positions.map(idOf)).toEqual(ids);
});

test.each(["", "x", "1-1", "-", "000000000000001-000001 ", "(000000000000001-000001", "9".repeat(20) + "-000001"])(
  "%j is no position",
  (position) => {
    expect(idOf(position)).toBeUndefined();
  },
);
