import { expect, test } from "vitest";
import { fileText, partText, resultText } from "./message-text.ts";

const from = { server: "notes", name: "read" };
const labelled = '<server-text kind="result" server="notes" mark="a1">\nThe note\n</server-text mark="a1">';

test.each([
  ["a text of a server, without its label", { type: "text", text: labelled, from }, "The note"],
  ["a text of a server without a label", { type: "text", text: "The call failed.", from }, "The call failed."],
  ["a text of a user with the form of a label", { type: "text", text: labelled }, labelled],
] as const)("shows %s", (_, part, text) => {
  expect(partText(part)).toBe(text);
});

test("shows a file by its name, type and size, on one line", () => {
  const file = { type: "file", mediaType: "image/png", data: "AQID" } as const;
  expect(fileText(file)).toBe("[file: image/png, 3 bytes]");
  expect(fileText({ ...file, filename: "a\nb.png" })).toBe("[file: a b.png, image/png, 3 bytes]");
  expect(resultText([{ type: "text", text: labelled, from }, file])).toBe("The note\n[file: image/png, 3 bytes]");
});
