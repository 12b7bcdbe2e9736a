import { expect, test } from "vitest";
import { CollectedBytes } from "./collected-bytes.ts";

const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index * 7 + (index >> 8)));

function collect(collected: CollectedBytes, size: number, expected: number): void {
  for (let start = 0; start < bytes.length; start += size) collected.add(bytes.subarray(start, start + size), expected);
}

test.each([
  [1_000, 300_000],
  [65_536, 300_000],
  [100_000, 65_536],
  [300_000, 0],
])("parts of %i bytes are collected in order, if %i bytes are expected", (size, expected) => {
  const collected = new CollectedBytes();
  for (let times = 0; times < 2; times++) {
    collect(collected, size, expected);
    expect(collected.size).toBe(bytes.length);
    expect(bytes.equals(collected.view)).toBe(true);
    collected.clear();
    expect(collected.view).toHaveLength(0);
  }
});

test("only the start is kept, and more can be added behind it", () => {
  const collected = new CollectedBytes();
  collect(collected, 65_536, bytes.length);
  collected.keepStart(5);
  collected.add(Buffer.from("end"), 8);
  expect(Buffer.concat([bytes.subarray(0, 5), Buffer.from("end")]).equals(collected.view)).toBe(true);
});

test("the memory of many bytes is returned to the system when they are dropped", () => {
  const collected = new CollectedBytes();
  collect(collected, 65_536, bytes.length);
  const memory = collected.view.buffer;
  collected.clear();
  expect(memory.byteLength).toBe(0);
});
