import { expect, test } from "vitest";
import { type InputText, type Rows, inputRows } from "./input-rows.ts";

/** Returns the rows of an input in a terminal of 20 columns, whose cursor is at its end. */
function rowsOf(input: Partial<InputText>, { columns = 20, most = 10 } = {}): Rows {
  const { prompt = "> ", text = "", cursor = text.length } = input;
  return inputRows({ prompt, text, cursor }, columns, most);
}

test("further rows begin below the text, and not below the prompt", () => {
  expect(rowsOf({ text: "one\ntwo" })).toEqual({ rows: ["> one", "  two"], cursor: { row: 1, column: 5 } });
});

test("a line that is wider than the terminal is broken", () => {
  expect(rowsOf({ text: "abcdefghij" }, { columns: 8 })).toEqual({
    rows: ["> abcdef", "  ghij"],
    cursor: { row: 1, column: 6 },
  });
});

test("a cursor behind the last column stands at the start of the next row", () => {
  expect(rowsOf({ text: "abcdef" }, { columns: 8 })).toEqual({
    rows: ["> abcdef", "  "],
    cursor: { row: 1, column: 2 },
  });
  expect(rowsOf({ text: "abcde" }, { columns: 8 }).rows).toEqual(["> abcde"]);
});

test("a prompt that is wider than half of the terminal stands above the text", () => {
  expect(rowsOf({ prompt: "A long question? ", text: "yes" })).toEqual({
    rows: ["A long question? ", "yes"],
    cursor: { row: 1, column: 3 },
  });
});

test("of a text with too many rows those around the cursor are shown", () => {
  const text = Array.from({ length: 9 }, (_, index) => `line ${index}`).join("\n");
  expect(rowsOf({ text }, { most: 3 }).rows).toEqual(["  line 6", "  line 7", "  line 8"]);
  expect(rowsOf({ text, cursor: 0 }, { most: 3 })).toEqual({
    rows: ["> line 0", "  line 1", "  line 2"],
    cursor: { row: 0, column: 2 },
  });
  expect(rowsOf({ text, cursor: text.indexOf("4") }, { most: 3 }).cursor).toEqual({ row: 1, column: 7 });
});

test("the colours of the prompt remain, and take no columns", () => {
  expect(rowsOf({ prompt: "\u001b[1m> \u001b[22m", text: "x" })).toEqual({
    rows: ["\u001b[1m> \u001b[22mx"],
    cursor: { row: 0, column: 3 },
  });
});

test.each([
  ["a colour", "\u001b[31mred", String.raw`\x1b[31mred`],
  ["the removal of a line", "a\r\u001b[2Kb", String.raw`a\x0d\x1b[2Kb`],
  ["a change of the direction", "\u202eab", String.raw`\u{202e}ab`],
  ["a tab", "a\tb", "a    b"],
])("the text never contains %s", (_name, text, shown) => {
  const { rows, cursor } = rowsOf({ text }, { columns: 40 });
  expect(rows).toEqual([`> ${shown}`]);
  expect(cursor).toEqual({ row: 0, column: shown.length + 2 });
});

test("wide characters take two columns", () => {
  expect(rowsOf({ text: "日本語" }, { columns: 6 })).toEqual({
    rows: ["> 日本", "  語"],
    cursor: { row: 1, column: 4 },
  });
});
