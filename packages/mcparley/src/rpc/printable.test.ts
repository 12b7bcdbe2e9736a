import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { printable, printableJson } from "./printable.ts";

const invisible = /[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb]/u;
// oxlint-disable-next-line no-control-regex -- the test searches for these characters
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

describe("printable", () => {
  test.each([
    ["\u001b[2J\u001b]0;title\u0007", "\\x1b[2J\\x1b]0;title\\x07"],
    ["a\rb", "a\\x0db"],
    ["a\r\nb\tc", "a\nb\tc"],
    ["\u009b31m\u007f", "\\x9b31m\\x7f"],
    ["\u202egpj.exe", "\\u{202e}gpj.exe"],
    ["a\u{e0041}b", "a\\u{e0041}b"],
    ["a\ufe0fb1\ufe0f", "a\\u{fe0f}b1\\u{fe0f}"],
  ])("%j is shown as %j", (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  test.each([
    ["soft hyphen", 0xad],
    ["combining grapheme joiner", 0x34f],
    ["Arabic letter mark", 0x61c],
    ["Hangul filler", 0x115f],
    ["Hangul filler", 0x3164],
    ["halfwidth Hangul filler", 0xffa0],
    ["Khmer vowel", 0x17b4],
    ["Mongolian vowel separator", 0x180e],
    ["zero width space", 0x200b],
    ["zero width non-joiner", 0x200c],
    ["zero width joiner", 0x200d],
    ["line separator", 0x2028],
    ["word joiner", 0x2060],
    ["invisible times", 0x2062],
    ["first strong isolate", 0x2068],
    ["variation selector", 0xfe00],
    ["byte order mark", 0xfeff],
    ["interlinear annotation", 0xfff9],
    ["musical format character", 0x1d173],
    ["tag", 0xe0061],
    ["variation selector 17", 0xe0100],
  ])("escapes an invisible character: %s (%i)", (_name, code) => {
    const text = `a${String.fromCodePoint(code)}b`;
    expect(printable(text)).toBe(`a\\u{${code.toString(16)}}b`.replace("\\u{ad}", "\\xad"));
    expect(JSON.parse(printableJson(text))).toBe(text);
    expect(printableJson(text)).toMatch(/^"a(\\u[\da-f]{4}){1,2}b"$/);
  });

  test.each(["grüße 日本 👩‍👩‍👧 ❤️ 1️⃣ 🏳️‍🌈 👩🏽‍🚀 ©︎", "می‌خواهم", "क्‍ष", "\u001b".slice(1)])("keeps %j", (text) => {
    expect(printable(text)).toBe(text);
    expect(printableJson(text)).toBe(JSON.stringify(text));
  });

  test("a joiner outside of a word or an emoji is escaped", () => {
    expect(printable("👩‍a ‍👩 م‌‌م")).toBe("👩\\u{200d}a \\u{200d}👩 م\\u{200c}\\u{200c}م");
  });

  test("the output has no control or invisible characters, and JSON parses to the same value", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(printable(text)).not.toMatch(control);
        expect(printableJson(text)).not.toMatch(control);
        expect(JSON.parse(printableJson({ text }))).toEqual({ text });
        const plain = text.replaceAll(/\p{Extended_Pictographic}|\d|[#*\u0620-\u0dff\u1000-\u17d3]/gu, "");
        expect(printable(plain)).not.toMatch(invisible);
      }),
    );
  });
});

/** The rules as one pattern. It takes a second for a text of megabytes. */
const unsafe =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u{13430}-\u{1343f}](?<![\t\n]|\p{Extended_Pictographic}[\ufe0e\ufe0f])(?<![\d#*]\ufe0f(?=\u20e3)|\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?\u200d(?=\p{Extended_Pictographic})|[\u0620-\u074a\u0900-\u0dff\u1000-\u109f\u1780-\u17d3][\u200c\u200d](?=[\u0620-\u074a\u0900-\u0dff\u1000-\u109f\u1780-\u17d3]))/gu;

test("escapes exactly the characters that the pattern of the rules matches", () => {
  const pieces = [
    "👩",
    "🏽",
    "❤",
    "\ufe0e",
    "\ufe0f",
    "\u200c",
    "\u200d",
    "\u20e3",
    "1",
    "#",
    "م",
    "क",
    "\r\n",
    "\r",
    "\ud83d",
    "é",
    "漢",
  ];
  const unit = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...pieces) },
    fc.string({ unit: "binary", maxLength: 1 }),
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 30 }), (units) => {
      const text = units.join("");
      const expected = text
        .toWellFormed()
        .replaceAll("\r\n", "\n")
        .replaceAll(unsafe, (character) => {
          const code = character.codePointAt(0)!.toString(16);
          return code.length > 2 ? `\\u{${code}}` : `\\x${code.padStart(2, "0")}`;
        });
      expect(printable(text)).toBe(expected);
    }),
    { numRuns: 1_000 },
  );
});

test("the parts of a long text are complete", () => {
  const text = `${"é漢😀\u200b\r\n".repeat(10_000)}😀`;
  expect(printable(text)).toBe(`${"é漢😀\\u{200b}\n".repeat(10_000)}😀`);
});

test("printableJson indents, and returns null for a value without JSON", () => {
  expect(printableJson({ a: ["\u009b"] }, 2)).toBe('{\n  "a": [\n    "\\u009b"\n  ]\n}');
  expect(printableJson(undefined)).toBe("null");
});
