import { expect, test } from "vitest";
import { toJsonValue } from "./json-value.ts";

test.each([1, "a", null, true, [], {}, { a: [1, { b: null }] }, Object.create(null)])(
  "%j is given back as it is",
  (value) => {
    expect(toJsonValue(value)).toBe(value);
  },
);

class Point {
  x = 1;
}

test.each([
  [{ a: 1, b: undefined }, { a: 1 }],
  [
    [undefined, () => 1],
    [null, null],
  ],
  [{ at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
  [new Point(), { x: 1 }],
  [{ toJSON: () => "mine" }, "mine"],
  [Number.NaN, null],
  [new Map([[1, 2]]), {}],
  [undefined, undefined],
  [() => 1, undefined],
])("%s becomes what JSON carries", (value, expected) => {
  expect(toJsonValue(value)).toEqual(expected);
});

test("a value that contains itself, or a bigint, is a TypeError", () => {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  expect(() => toJsonValue(value)).toThrow(TypeError);
  expect(() => toJsonValue({ a: 1n })).toThrow(TypeError);
});
