import { expect, test } from "vitest";
import { median, quantile, summarise } from "./statistics.mjs";

test("the median is the middle, whatever the order", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([7])).toBe(7);
});

test("a quantile lies between two values where it has to", () => {
  expect(quantile([10, 20, 30, 40, 50], 0.25)).toBe(20);
  expect(quantile([10, 20], 0.99)).toBeCloseTo(19.9);
  expect(quantile([10, 20], 1)).toBe(20);
});

test("of nothing there is no median", () => {
  expect(() => median([])).toThrow("no values");
});

test("one sample that is far off widens the range, and moves neither the median nor the spread", () => {
  const { median, lowest, highest, spread } = summarise([100, 101, 99, 100, 1_000]);
  expect({ median, lowest, highest }).toEqual({ median: 100, lowest: 99, highest: 1_000 });
  expect(spread).toBeCloseTo(0.01);
});

test("a figure that is 0 has no spread to divide", () => {
  expect(summarise([0, 0, 0]).spread).toBe(0);
});
