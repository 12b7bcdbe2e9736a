import { describe, expect, test } from "vitest";
import { expectLinearTime } from "mcparley-tests/support/linear-time.ts";
import { FrontMatterError } from "./yaml.ts";
import { readFrontMatter } from "./front-matter.ts";

const read = (yaml: string) => readFrontMatter(`---\n${yaml}\n---\nbody\n`);

function refusal(text: string): FrontMatterError {
  try {
    readFrontMatter(text);
  } catch (error) {
    if (error instanceof FrontMatterError) return error;
    throw error;
  }
  return expect.fail("it was accepted");
}

test("returns the value of the YAML, the text below it, and the line of each key", () => {
  const text = `\uFEFF---
name: pdf-processing
description: >-
  Extracts text: from PDF documents,
  and fills forms.

license: "Apache-2.0" # a comment
metadata:
  version: '1.10'
  tags: [a, "b: c", 3]
allowed-tools:
- Read
- Bash(git:*)
---
# Body
`.replaceAll("\n", "\r\n");
  const { frontmatter, body, lines } = readFrontMatter(text);
  expect(frontmatter).toEqual({
    name: "pdf-processing",
    description: "Extracts text: from PDF documents, and fills forms.",
    license: "Apache-2.0",
    metadata: { version: "1.10", tags: ["a", "b: c", 3] },
    "allowed-tools": ["Read", "Bash(git:*)"],
  });
  expect(body).toBe("# Body\n");
  expect([...lines]).toEqual([
    ["name", 2],
    ["description", 3],
    ["license", 7],
    ["metadata", 8],
    ["allowed-tools", 11],
  ]);
});

test("values follow YAML 1.2: no dates, no yes, no octal numbers", () => {
  expect(read("a: 2026-01-02\nb: yes\nc: 0777\nd: 1e3\ne: ~\nf: 0x1F\ng: -.5\nh: True").frontmatter).toEqual({
    a: "2026-01-02",
    b: "yes",
    c: 777,
    d: 1000,
    e: null,
    f: 31,
    g: -0.5,
    h: true,
  });
});

describe("rejects YAML that readers may parse differently, with its line", () => {
  test.each([
    ["a: &x 1", 2, "begin with &"],
    ["a: 1\nb: *x", 3, "begin with *"],
    ["a: !!str 1", 2, "begin with !"],
    ["a: b: c", 2, "colon"],
    ["a: 1\na: 2", 3, "twice"],
    ["a:\n\tb: 1", 3, "tab"],
    ['a: "one\n  two"', 2, "quotes are not closed"],
    ["a: [1,\n  2]", 2, "brackets"],
    ["<<: {a: 1}", 2, '"<<"'],
    ["__proto__: {a: 1}", 2, "__proto__"],
    ["a: .inf", 2, "JSON"],
    ["1: a", 2, "not text"],
    ["a: 1\n  b: 2", 3, "colon"],
    ["a:\n  b: 2\n c: 3", 4, "same column"],
    ["- a", 2, "mapping"],
    ["a: |2\n   x", 2, "sign"],
    ["a: b\u0000c", 2, "U+0000"],
    ['a: "\\ud800"', 2, "escape"],
    ['a: "\\q"', 2, "escape"],
    ["a: !local x", 2, "begin with !"],
    ["a: b\n  - c", 3, "begin with -"],
    ["a: x\n  # c\n  y", 4, "same"],
    ["a:\n  # c\n  b", 3, "comment"],
    ["a: {b}", 2, "not complete"],
    ["a: [b: c]", 2, "not complete"],
    ["a: [b, ]", 2, "not complete"],
    ["a: |\n  x\n     \n  y", 4, "more spaces"],
    ["a: |\n  \tx", 3, "tab"],
    ['a: "x\ty"', 2, "tab"],
    ["a\n: b", 3, "not part of"],
    ["a: 1\nb\n  : c", 4, "on the line of its key"],
    ["? a\n: b", 2, "begin with ?"],
    ["%YAML 1.1\n--- a", 2, "directives"],
    ["a: 1\n--- b", 3, "second"],
    ["a: 1\n...", 3, "markers"],
  ])("%j", (yaml, line, reason) => {
    const error = refusal(`---\n${yaml}\n---\n`);
    expect(error.line).toBe(line);
    expect(error.message).toContain(reason);
  });

  test("refuses front matter that is missing, not closed or too long", () => {
    expect(refusal("# Title\n").message).toContain("no front matter");
    expect(refusal("---\nname: a\n").message).toContain("never closed");
    expect(refusal(`---\na: ${"x".repeat(70_000)}\n---\n`).message).toContain("longer");
  });
});

test("keys with the names of inherited members are ordinary keys", () => {
  const { frontmatter } = read("constructor: 1\ntoString: 2");
  expect(Object.keys(frontmatter)).toEqual(["constructor", "toString"]);
});

test("bounds the nesting to 16 collections in the outermost mapping", () => {
  const nested = (depth: number): string => Array.from({ length: depth }, (_, at) => `${" ".repeat(at)}a:`).join("\n");
  expect(() => read(nested(17))).not.toThrow();
  expect(refusal(`---\n${nested(18)}\n---\n`).message).toContain("deeper");
  expect(() => read(`a: ${"[".repeat(16)}${"]".repeat(16)}`)).not.toThrow();
  expect(refusal(`---\na: ${"[".repeat(17)}${"]".repeat(17)}\n---\n`).message).toContain("deeper");
  expect(refusal(`---\na: ${"[".repeat(60_000)}\n---\n`).message).toContain("deeper");
});

test.each([
  ["spaces inside a text", { head: "a: x", unit: " ", tail: "y" }],
  ["spaces before a comment", { head: "a: x", unit: " ", tail: "#y" }],
  ["colons", { head: "a: ", unit: ":", tail: "x" }],
  ["lists that never end", { head: "a: [", unit: "a, ", tail: "" }],
  ["empty lines", { head: "a: x", unit: "\n", tail: "  y" }],
  ["items", { head: "a:\n", unit: "- k: v\n", tail: "" }],
  ["anchors", { head: "a: ", unit: "&a ", tail: "" }],
  ["brackets that close nothing", { head: "a: ", unit: "]", tail: "" }],
  ["quotes", { head: "a: [", unit: '"",', tail: "1]" }],
  ["dashes", { head: "a:\n  ", unit: "- ", tail: "" }],
  ["question marks", { head: "", unit: "? ", tail: "" }],
])("is read in linear time: %s", (_, growing) => expectLinearTime(growing, readOrRefuse));

test("is read in linear time: keys", async () => {
  // Ten characters for each key, so that the text has about the requested length.
  const prepare = ({ length }: string): string =>
    Array.from({ length: length / 10 }, (_, at) => `k${at}: v`).join("\n");
  await expectLinearTime({ head: "", unit: "k", tail: "" }, readOrRefuse, { prepare });
});

function readOrRefuse(yaml: string): void {
  try {
    read(yaml);
  } catch (error) {
    expect(error).toBeInstanceOf(FrontMatterError);
  }
}
