import { describe, expect, test } from "vitest";
import { expectLinearTime } from "../../../../tests/support/linear-time.ts";
import fc from "fast-check";
import { JsonSyntaxError, parseJsonWithComments } from "./json.ts";

describe("parseJsonWithComments", () => {
  test("accepts comments and trailing commas, and leaves them in strings", () => {
    const text = '\ufeff// first\n{ "url": "http://a/*b*/", /* two\nlines */ "list": [1, 2,], }';
    expect(parseJsonWithComments(text).value).toEqual({ url: "http://a/*b*/", list: [1, 2] });
  });

  test("parses each JSON document as JSON.parse does", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parseJsonWithComments(text).value).toEqual(JSON.parse(text));
      }),
    );
  });

  test("returns a value or throws JsonSyntaxError for any text", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[{}[\]",:/*a\\ \n\d-]{0,40}$/), (text) => {
        try {
          parseJsonWithComments(text);
        } catch (error) {
          expect(error).toBeInstanceOf(JsonSyntaxError);
        }
      }),
    );
  });

  test("reads a key such as __proto__ as an ordinary member", () => {
    const { value } = parseJsonWithComments('{"__proto__": {"polluted": true}}');
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("returns the line of a member, and of the last one if a key occurs twice", () => {
    expect(parseJsonWithComments('{"a": 1,\n"a": 2}').value).toEqual({ a: 2 });
    expect(parseJsonWithComments('{"a": 1,\n"a": 2}').lineOf("a")).toBe(2);
    const parsed = parseJsonWithComments('{\n  // servers\n  "a": {\n    "b": [\n1] } }');
    expect(parsed.lineOf()).toBe(1);
    expect(parsed.lineOf("a")).toBe(3);
    expect(parsed.lineOf("a", "b")).toBe(4);
    expect(parsed.lineOf("a", "b", 0)).toBe(5);
    expect(parsed.lineOf("nothing")).toBeUndefined();
  });

  test.each([
    ['{\n  "a": 1\n  "b": 2 }', 3, 3, 'expected "," or "}" but found "b"'],
    ["{\n a: 1 }", 2, 2, "expected a key in double quotes but found a"],
    ['{ "a": tru }', 1, 8, "expected a value but found tru"],
    ['{ "a": [1, 2', 1, 13, 'expected "," or "]" but found the end of the file'],
    ['{ "a": "no end\n" }', 1, 8, "this string has no end on its line"],
    ["{} {}", 1, 4, "expected the end of the file but found {"],
    ["{ /* no end }", 1, 3, "this comment has no end"],
    ["{ 'a': 1 }", 1, 3, "expected a key in double quotes but found 'a'"],
    ['{ "a" 1 }', 1, 7, 'expected ":" after the key but found 1'],
    ["{} x", 1, 4, "expected the end of the file but found x"],
    ['{ "a": "\\q" }', 1, 8, '"\\q" is not a JSON string'],
    ['{ "a": [1 2] }', 1, 11, 'expected "," or "]" but found 2'],
    ['{ "a": 1, , "b": 2 }', 1, 11, "expected a key in double quotes but found ,"],
    ['{ "a": 30] }', 1, 10, 'expected "," or "}" but found ]'],
    ["[true}", 1, 6, 'expected "," or "]" but found }'],
    ["", 1, 1, "the file ends too early"],
    ['{ "a": 01 }', 1, 8, "expected a value but found 01"],
  ])("refuses %j at the position of the error", (text, line, column, message) => {
    expect(() => parseJsonWithComments(text)).toThrow(expect.objectContaining({ line, column, message }));
  });

  test("refuses deep nesting without a stack overflow", () => {
    expect(() => parseJsonWithComments(`${"[".repeat(64)}"["${"]".repeat(64)}`)).not.toThrow();
    expect(() => parseJsonWithComments("[".repeat(65) + "]".repeat(65))).toThrow("more than 64 levels");
    expect(() => parseJsonWithComments("[".repeat(100_000))).toThrow("more than 64 levels");
  });

  test("takes linear time for many lines", async () => {
    await expectLinearTime({ head: "[", unit: "1,\n", tail: "1]" }, parseJsonWithComments);
  });

  test("takes linear time for many members with a long key", async () => {
    const growing = { head: "", unit: "k", tail: "" };
    const prepare = (key: string): string => `{"${key}": [${"1,".repeat(key.length / 2)}]}`;
    await expectLinearTime(growing, parseJsonWithComments, { prepare });
  });
});
