import { expect, test } from "vitest";
import { inputRows } from "./input-rows.ts";

const rowsOf = (
  prompt: string,
  text: string,
  { columns = 20, most = 10, cursor = text.length } = {},
): ReturnType<typeof inputRows> => inputRows({ prompt, text, cursor }, columns, most);

test("a short text stands beside its prompt", () => {
  expect(rowsOf("> ", "hello")).toEqual({ rows: ["> hello"], cursor: { row: 0, column: 7 } });
});

test("the rows of a long text are aligned with the first one", () => {
  expect(rowsOf("> ", "a".repeat(20))).toEqual({
    rows: [`> ${"a".repeat(18)}`, "  aa"],
    cursor: { row: 1, column: 4 },
  });
});

test("a text that fills its row has the cursor on the next one", () => {
  expect(rowsOf("> ", "a".repeat(18))).toEqual({ rows: [`> ${"a".repeat(18)}`, "  "], cursor: { row: 1, column: 2 } });
});

test("a prompt of more than half of the width leaves the next rows to the text", () => {
  const { rows, cursor } = rowsOf("Call it? [y]es or [n]o? ", "a".repeat(20), { columns: 40 });
  expect(rows).toEqual([`Call it? [y]es or [n]o? ${"a".repeat(16)}`, "aaaa"]);
  expect(cursor).toEqual({ row: 1, column: 4 });
});

test("a prompt that leaves no room has rows of its own", () => {
  expect(rowsOf("A very long question? ", "yes")).toEqual({
    rows: ["A very long", "question?", "yes"],
    cursor: { row: 2, column: 3 },
  });
  expect(rowsOf(`${"x".repeat(25)}? `, "y").rows).toEqual(["x".repeat(20), "xxxxx?", "y"]);
});

test("shows the rows around the cursor", () => {
  const text = Array.from({ length: 20 }, (_, line) => `${line}`).join("\n");
  expect(rowsOf("> ", text, { most: 3, cursor: 0 }).rows).toEqual(["> 0", "  1", "  2"]);
  expect(rowsOf("> ", text, { most: 3 }).rows).toEqual(["  17", "  18", "  19"]);
  expect(rowsOf("> ", text, { most: 3, cursor: text.indexOf("10") }).rows).toEqual(["  9", "  10", "  11"]);
});

test("counts wide characters, and escapes controls", () => {
  expect(rowsOf("> ", "日本語")).toEqual({ rows: ["> 日本語"], cursor: { row: 0, column: 8 } });
  expect(rowsOf("> ", "a\u202eb").rows).toEqual([String.raw`> a\u{202e}b`]);
  expect(rowsOf("> ", "a\tb").rows).toEqual(["> a    b"]);
});

test("lays out a text of 200,000 characters in linear time", () => {
  expect(rowsOf("> ", "word ".repeat(40_000), { columns: 80, most: 5 }).rows).toHaveLength(5);
});

test("the colours of the prompt remain, and take no columns", () => {
  expect(rowsOf("\u001b[1m> \u001b[22m", "x")).toEqual({
    rows: ["\u001b[1m> \u001b[22mx"],
    cursor: { row: 0, column: 3 },
  });
});

test.each([
  ["a colour", "\u001b[31mred", String.raw`\x1b[31mred`],
  ["the removal of a line", "a\r\u001b[2Kb", String.raw`a\x0d\x1b[2Kb`],
])("a text with %s shows its characters", (_name, text, shown) => {
  expect(rowsOf("> ", text, { columns: 40 })).toEqual({
    rows: [`> ${shown}`],
    cursor: { row: 0, column: shown.length + 2 },
  });
});
