import { describe, expect, test } from "vitest";
import { type Element, fillArguments, fillText } from "./command-template.ts";

const fill = (elements: Element[], values: Record<string, unknown>, options: string[] = []) =>
  fillArguments(elements, { values, options: new Set(options) });

describe("each element remains one argument for any value", () => {
  test.each(["; rm -rf /", "$(id)", "`id`", "a b", "a\nb", "'\"", "&& id", "| id", "> /etc/x", "*", "%PATH%", "{{b}}"])(
    "%j",
    (a) => {
      expect(fill(["echo", "{{a}}", "--name={{ a }}"], { a, b: "never" })).toEqual(["echo", a, `--name=${a}`]);
    },
  );
});

test("omits an element whose value is absent, and the whole group that contains it", () => {
  const elements: Element[] = ["p", ["--lang", "{{lang}}"], "{{file}}", "{{n}}"];
  expect(fill(elements, {})).toEqual(["p"]);
  expect(fill(elements, { lang: "en", n: 0 })).toEqual(["p", "--lang", "en", "0"]);
  expect(fill(elements, { lang: null, file: "" })).toEqual(["p", ""]);
});

test("makes one argument of each entry of a list, and JSON of an object", () => {
  expect(fill(["p", "{{files}}", "--x={{files}}"], { files: ["a b", "c"] })).toEqual([
    "p",
    "a b",
    "c",
    '--x=["a b","c"]',
  ]);
  expect(fill(["p", "{{o}}"], { o: { a: 1 } })).toEqual(["p", '{"a":1}']);
});

describe("a value that would make an argument an option", () => {
  test.each([
    [["p", "{{a}}"], { a: "-rf" }],
    [["p", "{{a}}{{b}}"], { a: "", b: "--output=/etc/x" }],
    [["p", "{{a}}"], { a: ["ok", "--bad"] }],
    [["p", "{{a}}"], { a: "-5" }],
    [["p", "{{a}}{{b}}"], { a: -5, b: "x" }],
    [["p", "{{a}}"], { a: [1, "-x"] }],
  ])("is refused: %j with %j", (elements, values) => {
    expect(() => fill(elements, values)).toThrow(/must not begin with a hyphen/);
  });

  test("is accepted if each of its values may be an option", () => {
    for (const values of [
      { a: "-x", b: "" },
      { a: "", b: "-x" },
      { a: "-", b: "x" },
    ]) {
      expect(() => fill(["p", "{{a}}{{b}}"], values, ["a"])).toThrow(/must not begin with a hyphen/);
      expect(() => fill(["p", "{{a}}{{b}}"], values, ["b"])).toThrow(/must not begin with a hyphen/);
      expect(fill(["p", "{{a}}{{b}}"], values, ["a", "b"])).toEqual(["p", `${values.a}${values.b}`]);
    }
  });

  test("is accepted after --, if it is declared as an option, and as a part of one", () => {
    expect(fill(["p", "--", "{{a}}"], { a: "-rf" })).toEqual(["p", "--", "-rf"]);
    expect(fill(["p", "{{a}}"], { a: "-v" }, ["a"])).toEqual(["p", "-v"]);
    expect(fill(["p", "--level={{a}}", "-n{{a}}"], { a: "-1" })).toEqual(["p", "--level=-1", "-n-1"]);
    expect(() => fill(["p", "{{a}}", "--", "{{a}}"], { a: "-x" })).toThrow(/hyphen/);
  });
});

test("accepts a negative number, because it cannot be a named option", () => {
  expect(fill(["p", "{{a}}", "{{list}}"], { a: -5, list: [-1.5, 2] })).toEqual(["p", "-5", "-1.5", "2"]);
});

test("refuses a NUL character, because it would end the argument", () => {
  expect(() => fill(["p", "{{a}}"], { a: "x\0y" })).toThrow("NUL");
});

test("replaces an absent value in a text by an empty text", () => {
  expect(fillText("a{{x}}b{{y}}", { x: 1 })).toBe("a1b");
});
