import { describe, expect, test } from "vitest";
import { cut, visibleLine, widthOf, wrap } from "./terminal-text.ts";

test("visibleLine writes untrusted text on one line and escapes control characters", () => {
  expect(visibleLine(" a\r\n\tb\u2800\u001b[2J\u202e\u200b ")).toBe("a b \\x1b[2J\\u{202e}\\u{200b}");
});

test("cut counts columns, not characters", () => {
  expect(cut("abcdef", 6)).toBe("abcdef");
  expect(cut("abcdef", 4)).toBe("abc…");
  expect(cut("日本語です", 5)).toBe("日本…");
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
    expect(widthOf("\u001b[1mab\u001b[22m")).toBe(2);
  });
});
