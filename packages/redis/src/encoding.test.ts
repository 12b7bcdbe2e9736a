import { expect, test } from "vitest";
import { idOf, positionOf } from "./encoding.ts";

const ids = ["0-1", "999-0", "1700000000000-0", "1700000000000-9", "1700000000000-10", "1700000000001-2"];

test("positions compare as strings in the order of their ids", () => {
  const positions = ids.map(positionOf);
  expect(positions.toSorted()).toEqual(positions);
});

test.each(ids)("the position of %s is converted back to the id", (id) => {
  expect(idOf(positionOf(id))).toBe(id);
});

test.each(["", "x", "1-1", "-", "000000000000001-000001 ", "(000000000000001-000001", "9".repeat(20) + "-000001"])(
  "%j is an invalid position",
  (position) => {
    expect(idOf(position)).toBeUndefined();
  },
);
