import { expect, test } from "vitest";
import { hideInStart } from "./secrets.ts";

const hide = (text: string): string => text.replaceAll("hunter2", "*");

test("leaves no part of a secret at the end of a start", () => {
  const length = 1000;
  for (const total of [1100, 100_000]) {
    for (let before = length - 10; before <= length + 1; before += 1) {
      const text = `${"x".repeat(before)}hunter2`.padEnd(total, "y");
      const start = hideInStart(text, length, hide);
      expect(start.length).toBeLessThanOrEqual(length);
      expect(start).not.toMatch(/xh/);
    }
  }
});

test("leaves no part of a secret at the end of a reserve that became shorter", () => {
  expect(hideInStart("hunter2".repeat(200_000), 1000, (text) => text.replaceAll("hunter2", ""))).toBe("");
});

test("returns the start of a text without secrets unchanged", () => {
  expect(hideInStart("x".repeat(50_000), 1000, hide)).toBe("x".repeat(1000));
  expect(hideInStart("short", 1000, hide)).toBe("short");
});
