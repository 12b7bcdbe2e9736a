import { describe, expect, test } from "vitest";
import { maxShown, startOf, suspiciousCharacters, visibleJson, visibleText } from "./visible-text.ts";

describe("escapes", () => {
  test.each([
    ["a direction override", "safe\u202etxt.exe", "safe\\u{202e}txt.exe"],
    ["a zero-width space", "de\u200blete", "de\\u{200b}lete"],
    ["a byte order mark", "\ufeffname", "\\u{feff}name"],
    ["tag characters", "Hi\u{e0041}\u{e0042}", "Hi\\u{e0041}\\u{e0042}"],
    ["a terminal escape", "\u001b[2J", "\\u{1b}[2J"],
    ["a carriage return", "visible\rhidden", "visible\\u{d}hidden"],
    ["an invisible filler", "a\u3164b", "a\\u{3164}b"],
    ["an empty braille pattern", "a\u2800b", "a\\u{2800}b"],
    ["a variation selector that carries data", "a\u{e0101}", "a\\u{e0101}"],
    ["a Cyrillic letter in a Latin word", "p\u0430ypal", "p\\u{430}ypal"],
    ["a Greek letter in a Latin word", "g\u03bfogle", "g\\u{3bf}ogle"],
    ["a word of Cyrillic look-alikes in a Latin text", "open \u0440\u0430\u0443", "open \\u{440}\\u{430}\\u{443}"],
    ["fullwidth letters", "\uff41dmin", "\\u{ff41}dmin"],
    ["mathematical letters", "\u{1d41a}dmin", "\\u{1d41a}dmin"],
  ])("%s", (_what, text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });
});

describe("keeps", () => {
  test.each([
    ["ASCII with tabs and line breaks", "Reads a file.\n\tReturns its text. \\u{202e}"],
    ["Western European text", "Größe, façade, 1º, niño"],
    ["Russian", "Читает файл с диска"],
    ["Russian with a Latin word", "Читает файл JSON с диска"],
    ["Greek", "Διαβάζει ένα αρχείο"],
    ["Japanese", "ファイルを読む"],
    ["Persian with a joiner", "می\u200cخواهم"],
    ["emoji with a variation selector and a joiner", "⚠️ 👩‍💻"],
  ])("%s", (_what, text) => {
    expect(visibleText(text)).toBe(text);
  });
});

test("each character of a name outside of printable ASCII is suspicious", () => {
  expect(visibleText("\u0440\u0430\u0443", true)).toBe("\\u{440}\\u{430}\\u{443}");
  expect(visibleText("read_file-1.2/x", true)).toBe("read_file-1.2/x");
  expect(visibleText("größe", true)).toBe("gr\\u{f6}\\u{df}e");
});

test("positions are those of UTF-16 code units", () => {
  expect(suspiciousCharacters("😀\r\n\u200b p\u0430y")).toEqual([
    { character: "\r", position: 2, reason: "invisible" },
    { character: "\u200b", position: 4, reason: "invisible" },
    { character: "\u0430", position: 7, reason: "confusable" },
  ]);
});

test("half of a surrogate pair is suspicious, and does not hide the characters after it", () => {
  expect(visibleText("a\ud800b} \u200b}c")).toBe("a\\u{d800}b} \\u{200b}}c");
});

describe("a text over the limit", () => {
  test("is whole at the limit", () => {
    expect(visibleText("a".repeat(maxShown))).toBe("a".repeat(maxShown));
  });

  test("is cut one unit later, and differs from another text with the same start", () => {
    const [one, other] = ["b", "c"].map((end) => visibleText("a".repeat(maxShown) + end));
    expect(one).toMatch(/^a{65536}\[1 more characters are not shown\. SHA-256 of the whole text: [\da-f]{64}\]$/);
    expect(one).not.toBe(other);
  });

  test("is not cut within a character", () => {
    expect(startOf(`${"a".repeat(9)}😀b`, 10)).toBe("a".repeat(9));
    expect(startOf(`${"a".repeat(8)}😀b`, 10)).toBe(`${"a".repeat(8)}😀`);
  });
});

test("JSON of different values is different, also if a text contains an escape", () => {
  expect(visibleJson("\u202e")).toBe('"\\u{202e}"');
  expect(visibleJson("\\u{202e}")).toBe('"\\\\u{202e}"');
  expect(visibleJson(1)).not.toBe(visibleJson("1"));
});
