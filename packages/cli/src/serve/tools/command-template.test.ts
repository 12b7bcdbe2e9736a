import { describe, expect, test } from "vitest";
import { type Element, fillArguments, fillText } from "./command-template.ts";

const fill = (elements: Element[], values: Record<string, unknown>, options: string[] = []) =>
  fillArguments(elements, { values, options: new Set(options) });

describe("each element stays one argument, whatever its value holds", () => {
  test.each(["; rm -rf /", "$(id)", "`id`", "a b", "a\nb", "'\"", "&& id", "| id", "> /etc/x", "*", "%PATH%", "{{b}}"])(
    "%j",
    (a) => {
      expect(fill(["echo", "{{a}}", "--name={{ a }}"], { a, b: "never" })).toEqual(["echo", a, `--name=${a}`]);
    },
  );
});

test("an element whose value was not given is left out, and a group with it as a whole", () => {
  const elements: Element[] = ["p", ["--lang", "{{lang}}"], "{{file}}", "{{n}}"];
  expect(fill(elements, {})).toEqual(["p"]);
  expect(fill(elements, { lang: "en", n: 0 })).toEqual(["p", "--lang", "en", "0"]);
  expect(fill(elements, { lang: null, file: "" })).toEqual(["p", ""]);
});

test("a list becomes as many arguments as it has entries, and an object is written as JSON", () => {
  expect(fill(["p", "{{files}}", "--x={{files}}"], { files: ["a b", "c"] })).toEqual([
    "p",
    "a b",
    "c",
    '--x=["a b","c"]',
  ]);
  expect(fill(["p", "{{o}}"], { o: { a: 1 } })).toEqual(["p", '{"a":1}']);
});

describe("a value that would make an argument an option is refused", () => {
  test.each([
    [["p", "{{a}}"], { a: "-rf" }],
    [["p", "{{a}}{{b}}"], { a: "", b: "--output=/etc/x" }],
    [["p", "{{a}}"], { a: ["ok", "--bad"] }],
    [["p", "{{a}}"], { a: "-5" }],
    [["p", "{{a}}{{b}}"], { a: -5, b: "x" }],
    [["p", "{{a}}"], { a: [1, "-x"] }],
  ])("%j with %j", (elements, values) => {
    expect(() => fill(elements, values)).toThrow(/must not begin with a hyphen/);
  });

  test("unless each of its values may be an option", () => {
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

  test("unless it stands after --, is declared as an option, or is part of one", () => {
    expect(fill(["p", "--", "{{a}}"], { a: "-rf" })).toEqual(["p", "--", "-rf"]);
    expect(fill(["p", "{{a}}"], { a: "-v" }, ["a"])).toEqual(["p", "-v"]);
    expect(fill(["p", "--level={{a}}", "-n{{a}}"], { a: "-1" })).toEqual(["p", "--level=-1", "-n-1"]);
    expect(() => fill(["p", "{{a}}", "--", "{{a}}"], { a: "-x" })).toThrow(/hyphen/);
  });
});

test("a negative number is an argument, because it cannot be an option with a name", () => {
  expect(fill(["p", "{{a}}", "{{list}}"], { a: -5, list: [-1.5, 2] })).toEqual(["p", "-5", "-1.5", "2"]);
});

test("a NUL is refused, since it would end the argument", () => {
  expect(() => fill(["p", "{{a}}"], { a: "x\0y" })).toThrow("NUL");
});

test("in a text, a value that was not given is empty", () => {
  expect(fillText("a{{x}}b{{y}}", { x: 1 })).toBe("a1b");
});
