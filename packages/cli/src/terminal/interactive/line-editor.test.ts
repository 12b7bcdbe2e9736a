import { expect, test } from "vitest";
import type { KeyEvent } from "../questions/keys.ts";
import { LineEditor } from "./line-editor.ts";

function key(name: string, ctrl = false): KeyEvent & { type: "key" } {
  return { type: "key", name, text: "", ctrl, meta: false, key: { name, ctrl } };
}

function editorOf(text: string): LineEditor {
  const editor = new LineEditor();
  editor.set(text);
  return editor;
}

const characters = [
  ["a letter", "a"],
  ["a family of joined emoji", "👨‍👩‍👧‍👦"],
  ["a flag", "🇩🇪"],
  ["a skin colour", "👍🏽"],
  ["a keycap", "1️⃣"],
  ["a combining mark", "e\u0301"],
  ["several marks", "a\u0323\u0302"],
  ["an ideograph", "漢"],
  ["a syllable of jamo", "\u1112\u1161\u11ab"],
  ["a flag of tags", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"],
] as const;

test.each(characters)("one key passes or deletes %s", (_name, character) => {
  for (const [left, right] of [
    [key("left"), key("right")],
    [key("b", true), key("f", true)],
  ] as const) {
    const editor = editorOf(`x${character}y`);
    editor.press(left);
    editor.press(left);
    expect(editor.cursor).toBe(1);
    editor.press(right);
    expect(editor.cursor).toBe(1 + character.length);
  }
  for (const backspace of [key("backspace"), key("h", true)]) {
    const editor = editorOf(`x${character}`);
    editor.press(backspace);
    expect(editor.text).toBe("x");
  }
  for (const remove of [key("delete"), key("d", true)]) {
    const editor = editorOf(`x${character}y`);
    editor.press(key("home"));
    editor.press(key("right"));
    editor.press(remove);
    expect([editor.text, editor.cursor]).toEqual(["xy", 1]);
  }
});

test("two flags are two characters", () => {
  const editor = editorOf("🇩🇪🇫🇷");
  editor.press(key("backspace"));
  expect(editor.text).toBe("🇩🇪");
  editor.press(key("backspace"));
  expect(editor.text).toBe("");
});

test("up and down stop before a character, and not within it", () => {
  const editor = editorOf("ab\n👨‍👩‍👧x");
  editor.press(key("home"));
  editor.press(key("right"));
  editor.press(key("right"));
  editor.press(key("down"));
  expect(editor.text.slice(0, editor.cursor)).toBe("ab\n");
  editor.press(key("right"));
  editor.press(key("up"));
  expect(editor.cursor).toBe(2);
});

test("keys at the borders of the text change nothing", () => {
  const editor = editorOf("a");
  editor.press(key("right"));
  editor.press(key("delete"));
  expect([editor.text, editor.cursor]).toEqual(["a", 1]);
  editor.press(key("home"));
  editor.press(key("left"));
  editor.press(key("backspace"));
  expect([editor.text, editor.cursor]).toEqual(["a", 0]);
});

test("a line break is one character", () => {
  const editor = editorOf("a\nb");
  editor.press(key("left"));
  editor.press(key("backspace"));
  expect(editor.text).toBe("ab");
});

test("thousands of marks on one letter are deleted in parts, and not for ever", () => {
  const editor = editorOf(`a${"\u0301".repeat(1000)}`);
  for (let press = 0; press < 6; press++) editor.press(key("backspace"));
  expect(editor.text).toBe("");
});
