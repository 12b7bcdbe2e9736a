import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { visible, visibleLine, widthOf, wrap } from "./terminal-text.ts";

describe("visible", () => {
  test.each([
    ["\u001b[2J\u001b]0;title\u0007", "\\x1b[2J\\x1b]0;title\\x07"],
    ["a\rb", "a\\x0db"],
    ["a\r\nb\tc", "a\nb\tc"],
    ["\u009b31m", "\\x9b31m"],
    ["\u202egpj.exe", "\\u{202e}gpj.exe"],
    ["a\u{e0041}b", "a\\u{e0041}b"],
    ["grüße 日本 👩‍👩‍👧", "grüße 日本 👩‍👩‍👧"],
  ])("%j is shown as %j", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test("no text brings a control character to the terminal", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        // oxlint-disable-next-line no-control-regex -- these are what must not appear
        expect(visible(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
        expect(visibleLine(text)).not.toMatch(/[\n\t]/);
      }),
    );
  });
});

describe("wrap", () => {
  test("breaks at spaces, keeps breaks, and hangs lists", () => {
    expect(wrap("one two three four", 11)).toEqual(["one two", "three four"]);
    expect(wrap("a\n\nb", 20)).toEqual(["a", "", "b"]);
    expect(wrap("- one two three", 10)).toEqual(["- one two", "  three"]);
  });

  test("leaves a long word whole", () => {
    expect(wrap("see https://example.com/a/long/path now", 12)).toEqual([
      "see",
      "https://example.com/a/long/path",
      "now",
    ]);
  });

  test("counts what a terminal shows", () => {
    expect([
      widthOf("abc"),
      widthOf("日本"),
      widthOf("👩‍👩‍👧"),
      widthOf("e\u0301"),
      widthOf("\u001b[1mab\u001b[22m"),
    ]).toEqual([3, 4, 2, 1, 2]);
  });
});
