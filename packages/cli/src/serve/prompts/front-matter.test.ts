import { expect, test } from "vitest";
import { splitFrontMatter } from "./prompt-file.ts";

test("the text between the first two lines of hyphens is YAML, and lines are counted on from the file's first", () => {
  const { yaml, body, bodyLine } = splitFrontMatter("a.md", "---\ntitle: A\n---\n\nHello\n---\nnot YAML\n");
  expect(yaml).toEqual({ file: "a.md", text: "title: A", firstLine: 2 });
  expect(body).toBe("\nHello\n---\nnot YAML\n");
  expect(bodyLine).toBe(4);
});

test("a file without front matter is all body", () => {
  expect(splitFrontMatter("a.md", "Hello\n---\nx")).toEqual({ yaml: undefined, body: "Hello\n---\nx", bodyLine: 1 });
});

test("a byte order mark and Windows line ends make no difference", () => {
  const { yaml, body } = splitFrontMatter("a.md", "\uFEFF---\r\ntitle: A\r\n---\r\nHello\r\n");
  expect(yaml?.text).toBe("title: A");
  expect(body).toBe("Hello\n");
});

test("front matter without an end is a problem of its first line", () => {
  expect(() => splitFrontMatter("a.md", "---\ntitle: A\nHello")).toThrow(
    /^a\.md:1: the front matter is never closed — End it/,
  );
});
