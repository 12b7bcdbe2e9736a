import { expect, test } from "vitest";
import { boolean, items, members, number, oneOf, plain, readMembers, readYaml, text, texts } from "./yaml-fields.ts";

const read = (source: string) => members(readYaml({ file: "x.yaml", text: source }));

test("reports a syntax error with its line in the file", () => {
  expect(() => readYaml({ file: "p.md", text: "title: x\nlist: [a\n", firstLine: 2 })).toThrow(
    /^p\.md:4:1: .*flow sequence/i,
  );
});

test("reports an unknown key with its place and a suggestion", () => {
  const root = readYaml({ file: "x.yaml", text: "title: a\n\ndescripton: b" });
  expect(() => members(root, ["title", "description"])).toThrow(
    'x.yaml:3:1: unknown key "descripton" — Did you mean "description"?',
  );
});

test("names first the keys that are read elsewhere, because a list of many keys is cut", () => {
  const readers = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`key${index}`, text]));
  const field = readYaml({ file: "x.yaml", text: "unlike: 1" });
  expect(() => readMembers(field, readers, ["input"])).toThrow(/unknown key "unlike" — .*\binput\b/);
});

test("reports a duplicate key, because one of the two would be lost", () => {
  expect(() => read("a: 1\na: 2")).toThrow(/^x\.yaml:2:1: .*unique/);
});

test("reports values of the wrong kind with their place and the expected kind", () => {
  const fields = read("a: [1]\nb: yes\nc: -1\nd: wild\ne: {f: 1}");
  expect(() => text(fields.get("a")!)).toThrow('x.yaml:1:1: "a" must be a text');
  expect(() => boolean(fields.get("b")!)).toThrow('x.yaml:2:1: "b" must be true or false');
  expect(() => number(fields.get("c")!)).toThrow('x.yaml:3:1: "c" must be a number of at least 0');
  expect(() => oneOf(fields.get("d")!, ["mild"])).toThrow('"d" cannot be "wild" — Did you mean "mild"?');
  expect(() => items(fields.get("e")!)).toThrow('"e" must be a list');
  expect(() => members(readYaml({ file: "x.yaml", text: "- a" }))).toThrow("the file must be a mapping");
});

test("returns a number as text in its source form", () => {
  expect(text(read("version: 1.10").get("version")!)).toBe("1.10");
  expect(texts(read("codes: [007, 1_000]").get("codes")!)).toEqual(["007", "1_000"]);
});

test("reads an absent mapping as empty, and names such as __proto__ as ordinary keys", () => {
  expect(read("")).toEqual(new Map());
  expect([...read("__proto__: 1\nconstructor: 2").keys()]).toEqual(["__proto__", "constructor"]);
});

test("resolves aliases, and refuses aliases that expand exponentially", () => {
  const fields = read("a: &x hello\nb: *x\nc: {d: *x}");
  expect(text(fields.get("b")!)).toBe("hello");
  expect(plain(fields.get("c")!)).toEqual({ d: "hello" });
  const level = (name: string, below: string) => `${name}: &${name} [${Array(20).fill(`*${below}`).join(",")}]`;
  const tower = ["a: &a [x]", level("b", "a"), level("c", "b"), level("d", "c")].join("\n");
  expect(() => plain(read(tower).get("d")!)).toThrow(/^x\.yaml:4:1: excessive alias count/i);
});

test("reports an alias without an anchor at its place", () => {
  expect(() => plain(read("a: 1\nb: *x").get("b")!)).toThrow(/^x\.yaml:2:1: .*\bx\b/);
  expect(() => plain(readYaml({ file: "x.yaml", text: "*x" }))).toThrow(/^x\.yaml:1:1: /);
});

test.each([
  ["brackets", "[".repeat(20_000)],
  ["braces", "{a: ".repeat(20_000)],
  ["dashes", "- ".repeat(20_000)],
  ["keys", "? ".repeat(20_000)],
])("reports deeply nested %s without a stack overflow", (_, text) => {
  expect(() => readYaml({ file: "x.yaml", text: `a: 1\n${text}`, firstLine: 2 })).toThrow(
    /^x\.yaml:[23].*: the YAML is nested more than 100 levels deep/,
  );
});

test("reads the nesting of usual schemas", () => {
  const deep = `${"[".repeat(90)}1${"]".repeat(90)}`;
  expect(JSON.stringify(plain(read(`a: ${deep}`).get("a")!))).toBe(deep);
});
