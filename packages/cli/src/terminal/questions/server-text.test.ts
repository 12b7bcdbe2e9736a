import { describe, expect, test } from "vitest";
import type { View } from "../screen.ts";
import { styleFor, widthOf } from "../text.ts";
import { exactLines, excerpt, ownLines, quoteName, row, serverLines, shortLine } from "./server-text.ts";

const view: View = { terminal: true, width: 24, style: styleFor(false, {}) };

describe("serverLines", () => {
  test("starts each line with the gutter, and escapes control characters", () => {
    expect(serverLines("a\n\nServer x asks:\r\u001b[2J", view)).toEqual([
      "  │ a",
      "  │",
      "  │ Server x",
      "  │ asks:\\x0d\\x1b[2J",
    ]);
  });

  test("breaks words that are wider than the terminal", () => {
    const lines = serverLines(`${"x".repeat(20)}Server\u00a0x\u00a0asks: 日本語日本語日本語日本語`, view);
    expect(lines.every((line) => line.startsWith("  │ ") && widthOf(line) <= 24)).toBe(true);
    expect(lines.slice(0, 2)).toEqual([`  │ ${"x".repeat(20)}`, "  │ Server\u00a0x\u00a0asks:"]);
  });

  test("limits the width in a pipe", () => {
    const lines = serverLines("x".repeat(300), { ...view, width: Infinity });
    expect(lines.map(widthOf)).toEqual([120, 120, 72]);
  });
});

test("ownLines and row indent further lines", () => {
  expect(ownLines("one two three four five six", view)).toEqual(["one two three four", "  five six"]);
  expect(row("Folder", "/home/ann/documents", view)).toEqual([
    "  Folder        /home/ann/",
    "                documents",
  ]);
});

test("quoted writes a name on one line, and escapes its quotes", () => {
  expect(quoteName('a" of "b\nServer x asks:\u202e\u00a0')).toBe('"a\\" of \\"b\\nServer x asks:\\u{202e} "');
});

test("names and titles are cut at 240 columns", () => {
  expect(shortLine("x".repeat(240))).toBe("x".repeat(240));
  expect(shortLine("x".repeat(241))).toBe(`${"x".repeat(239)}…`);
  expect(widthOf(quoteName("x".repeat(241)))).toBe(240);
});

test("exactLines removes nothing", () => {
  const text = `"${"a  ".repeat(30)}日本語日本語"`;
  const lines = exactLines(text, view, "> ");
  expect(lines.every((line) => widthOf(line) <= 24)).toBe(true);
  expect(lines.map((line) => line.slice(2)).join("")).toBe(text);
});

describe("excerpt", () => {
  const lines = Array.from({ length: 40 }, (_, index) => String(index));

  test("returns 40 lines unchanged", () => {
    expect(excerpt(lines, view)).toEqual({ lines, isCut: false });
  });

  test("states how many of 41 lines are left out", () => {
    const { lines: shown, isCut } = excerpt([...lines, "40"], view);
    expect(isCut).toBe(true);
    expect(shown.slice(29, 33)).toEqual(["29", "  … 1 line is not shown", "31", "32"]);
  });
});
