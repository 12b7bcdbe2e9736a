import { expect, test } from "vitest";
import { styleFor } from "../../terminal/text.ts";
import { serverOutputs } from "./server-outputs.ts";

function lines() {
  const shown: string[] = [];
  const err = { terminal: false, width: 80, style: styleFor(false, {}) };
  return { shown, screen: { note: (text: string) => void shown.push(text), err } };
}

test("shows each line with the name of its server, and later ones in another place", () => {
  const [first, second] = [lines(), lines()];
  const outputs = serverOutputs(first.screen, true);
  outputs.write("notes", "one\ntw");
  outputs.write("a\u001bb", "other\n");
  outputs.showOn(second.screen);
  outputs.write("notes", "o\n");
  expect(first.shown).toEqual(["stderr of notes: one", "stderr of a\\x1bb: other"]);
  expect(second.shown).toEqual(["stderr of notes: two"]);
});

test("keeps the lines of each server without showing them", () => {
  const { shown, screen } = lines();
  const outputs = serverOutputs(screen, false);
  outputs.write("notes", "one\ntwo\n");
  expect(outputs.takeTail("notes")).toBe("one\ntwo");
  expect(outputs.takeTail("files")).toBe("");
  expect(shown).toEqual([]);
});

test("returns each line once, and none that is shown as it arrives", () => {
  const outputs = serverOutputs(lines().screen, false);
  outputs.write("notes", "one\n");
  expect(outputs.takeTail("notes")).toBe("one");
  expect(outputs.takeTail("notes")).toBe("");
  outputs.write("notes", "two\n");
  expect(outputs.takeTail("notes")).toBe("two");
  const live = serverOutputs(lines().screen, true);
  live.write("notes", "one\n");
  expect(live.takeTail("notes")).toBe("");
});
