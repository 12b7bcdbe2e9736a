import { expect, test } from "vitest";
import { splitFrontMatter } from "./prompt-file.ts";

test("reads the text between the first two --- lines as YAML, with the line numbers of the file", () => {
  const { yaml, body, bodyLine } = splitFrontMatter("a.md", "---\ntitle: A\n---\n\nHello\n---\nnot YAML\n");
  expect(yaml).toEqual({ file: "a.md", text: "title: A", firstLine: 2 });
  expect(body).toBe("\nHello\n---\nnot YAML\n");
  expect(bodyLine).toBe(4);
});

test("reads a file without front matter as the body", () => {
  expect(splitFrontMatter("a.md", "Hello\n---\nx")).toEqual({
    yaml: { file: "a.md", text: "" },
    body: "Hello\n---\nx",
    bodyLine: 1,
  });
});

test("ignores a byte order mark and accepts Windows line ends", () => {
  const { yaml, body } = splitFrontMatter("a.md", "\uFEFF---\r\ntitle: A\r\n---\r\nHello\r\n");
  expect(yaml.text).toBe("title: A");
  expect(body).toBe("Hello\n");
});

test("reports front matter without an end at its first line", () => {
  expect(() => splitFrontMatter("a.md", "---\ntitle: A\nHello")).toThrow(
    /^a\.md:1: the front matter has no end — End it/,
  );
});
