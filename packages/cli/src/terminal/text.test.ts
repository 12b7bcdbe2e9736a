import { describe, expect, test } from "vitest";
import { withinLimit } from "../../../../tests/support/work-limit.ts";
import { gutter, serverLines } from "./questions/server-text.ts";
import { cut, endOfRow, styleFor, visibleLine, widthOf, wrap } from "./text.ts";

test("visibleLine writes untrusted text on one line and escapes control characters", () => {
  expect(visibleLine(" a\r\n\tb\u2800\u001b[2J\u202e\u200b ")).toBe("a b \\x1b[2J\\u{202e}\\u{200b}");
});

test("cut counts columns, not characters", () => {
  expect(cut("abcdef", 6)).toBe("abcdef");
  expect(cut("abcdef", 4)).toBe("abc…");
  expect(cut("日本語です", 5)).toBe("日本…");
});

test.each([5, 4, 3, 2])("decomposed Korean is cut as composed Korean is, at %i columns", (width) => {
  for (const text of ["한국어입니다", "a한b국c", "가나다"]) {
    expect(cut(text.normalize("NFD"), width).normalize("NFC")).toBe(cut(text, width));
    expect(endOfRow(text.normalize("NFD"), width)).toBe(text.slice(0, endOfRow(text, width)).normalize("NFD").length);
  }
});

describe("wrap", () => {
  test("breaks at spaces, keeps line breaks, and indents lists", () => {
    expect(wrap("one two three four", 11)).toEqual(["one two", "three four"]);
    expect(wrap("a\n\nb", 20)).toEqual(["a", "", "b"]);
    expect(wrap("- one two three", 10)).toEqual(["- one two", "  three"]);
  });

  test("does not break a long word", () => {
    expect(wrap("see https://example.com/a/long/path now", 12)).toEqual([
      "see",
      "https://example.com/a/long/path",
      "now",
    ]);
  });

  test("counts the columns that a terminal shows", () => {
    expect(widthOf("abc")).toBe(3);
    expect(widthOf("日本")).toBe(4);
    expect(widthOf("👩‍👩‍👧")).toBe(2);
    expect(widthOf("e\u0301")).toBe(1);
    expect(widthOf("한국어".normalize("NFD"))).toBe(6);
    expect(widthOf("\u001b[1mab\u001b[22m")).toBe(2);
  });
});

describe("long lines", () => {
  test("of combining marks are measured and cut", () => {
    const line = `a${"\u0301".repeat(8_000_000)}b`;
    expect(widthOf(line)).toBe(2);
    expect(cut(line, 80).length).toBeLessThan(80 * 8 + 2);
  });

  test("are broken into rows without half characters", () => {
    const end = endOfRow("😀".repeat(100), 3);
    expect("😀".repeat(100).slice(0, end)).toBe("😀");
    expect(endOfRow(`a${"\u{1D165}".repeat(100)}`, 1) % 2).toBe(1);
  });

  // If each row reads the rest of the line, this takes an hour.
  test.each(["а", "\u0301", "漢", "a"])("of a million times %j are broken into rows", (unit) => {
    const view = { terminal: true, width: 80, style: styleFor(false, {}) };
    const lines = withinLimit(() => serverLines(unit.repeat(1_000_000), view));
    expect(lines.join("").replaceAll(gutter, "")).toHaveLength(1_000_000);
  });
});

test("visibleLine shows at most 65,536 units of a text, and the number of the others", () => {
  expect(visibleLine("a".repeat(65_536))).toBe("a".repeat(65_536));
  expect(visibleLine(`${"a".repeat(65_536)}bc`)).toBe(`${"a".repeat(65_536)}… (2 more characters)`);
});
