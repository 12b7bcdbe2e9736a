import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readArguments } from "./arguments.ts";

const text = { type: "string" };

describe("readArguments", () => {
  test("reads an object", () => {
    expect(readArguments('{"path": "/tmp", "depth": 2}')).toEqual({ arguments: { path: "/tmp", depth: 2 } });
  });

  test.each(["", "  \n"])("reads %j as an empty object", (input) => {
    expect(readArguments(input)).toEqual({ arguments: {} });
  });

  test.each([
    ["null", "The arguments are null. Send one JSON object."],
    ["[1]", "The arguments are an array. Send one JSON object."],
    ['"a"', "The arguments are a string. Send one JSON object."],
    ["3", "The arguments are a number. Send one JSON object."],
  ])("refuses %s", (input, problem) => {
    expect(readArguments(input)).toEqual({ problem });
  });

  test.each(['{"a":', "{a: 1}", "{'a': 1}", '{"a": 1} {"b": 2}', '{"a": "b\\', '{"a": tru}', '{"a": 1e}', '{"a": 01}'])(
    "refuses %s, which is no JSON",
    (input) => {
      expect(readArguments(input)).toEqual({ problem: expect.stringMatching(/^The arguments are not valid JSON: /) });
    },
  );

  test("keeps members named __proto__ and constructor as data", () => {
    const read = readArguments('{"__proto__": {"admin": true}, "constructor": 1}');
    const args = "arguments" in read ? read.arguments : {};
    expect(Object.keys(args)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
    expect(args["admin"]).toBeUndefined();
  });

  test("refuses a property that occurs twice, also with an escape", () => {
    expect(readArguments('{"a": {"b": 1, "\\u0062": 2}}')).toEqual({
      problem: 'The property "/a/b" occurs twice. Send it once.',
    });
    expect(readArguments('{"a": {"b": 1}, "c": {"b": 2}, "d": ["d", "d"]}')).toHaveProperty("arguments");
  });

  test("accepts 64 levels and refuses 65", () => {
    const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect(readArguments(nested(64))).toHaveProperty("arguments");
    expect(readArguments(nested(65))).toEqual({ problem: "The arguments are nested deeper than 64 levels." });
  });

  test("accepts 100,000 values and refuses more", () => {
    const list = (items: number) => `{"a":[${"0,".repeat(items - 1)}0]}`;
    expect(readArguments(list(99_999))).toHaveProperty("arguments");
    expect(readArguments(list(100_000))).toEqual({ problem: "The arguments have more than 100000 values." });
  });

  test("accepts 4 MiB of text and refuses one character more", () => {
    const long = (length: number) => `{"a":"${"x".repeat(length - 8)}"}`;
    expect(readArguments(long(4_194_304))).toHaveProperty("arguments");
    expect(readArguments(long(4_194_305))).toHaveProperty("problem");
  });

  test("reads long texts of quotes, escapes and digits in linear time", () => {
    for (const part of ['"', '\\"', "\\", "9", "-", "{", '{"a":', "e"]) {
      const input = `{"a":"${part.repeat(500_000)}`;
      expect(readArguments(input)).toHaveProperty("problem");
      expect(readArguments(part.repeat(500_000))).toHaveProperty("problem");
    }
  });
});

describe("numbers in arguments", () => {
  test.each([
    "9007199254740993",
    "-9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "9007199254740993.0",
    "9007199254740993e0",
    "123456789012345678901234567890",
  ])("refuses the integer %s, whose digits would change", (literal) => {
    expect(readArguments(`{"ids": [1, {"a/b": ${literal}}]}`)).toEqual({
      problem: `The number at "/ids/1/a~1b" ${literal} cannot be represented exactly. Send it as a string: "${literal}".`,
    });
  });

  test("refuses a number beyond the range of a double", () => {
    expect(readArguments('{"a": 1e999}', { properties: { a: text } })).toEqual({
      problem: 'The number at "/a" 1e999 is too large for a number. Send it as a string: "1e999".',
    });
  });

  test.each([
    "9007199254740992",
    "9007199254740994",
    "1e23",
    "-0",
    "0.1",
    "3.14159265358979323846",
    "1.5e300",
    "100000000000000000000",
    "5e-324",
  ])("reads %s as a number", (literal) => {
    expect(readArguments(`{"a": ${literal}}`)).toEqual({ arguments: { a: Number(literal) } });
  });

  test("does not read digits in strings and names as numbers", () => {
    expect(readArguments('{"9007199254740993": "9007199254740993", "a\\"": "\\\\9007199254740993"}')).toHaveProperty(
      "arguments",
    );
  });

  const bigText = { arguments: { id: "9007199254740993" } };
  test.each([
    ["a string", { properties: { id: text } }],
    ["a list of types with string", { properties: { id: { type: ["integer", "string"] } } }],
    ["a union with a string", { properties: { id: { anyOf: [{ type: "integer" }, text] } } }],
    ["a reference to a string", { properties: { id: { $ref: "#/$defs/Id" } }, $defs: { Id: text } }],
    ["additional properties that are strings", { additionalProperties: text }],
    ["a branch with a string", { oneOf: [{ properties: { id: text } }, { properties: {} }] }],
  ])("sends an integer as the exact string if the schema accepts %s", (_name, schema) => {
    expect(readArguments('{"id": 9007199254740993}', { type: "object", ...schema })).toEqual(bigText);
  });

  test("sends integers in arrays and tuples as exact strings", () => {
    const schema = { properties: { ids: { items: text }, pair: { prefixItems: [{ type: "integer" }, text] } } };
    const input = '{"ids": [1, 9007199254740993], "pair": [2, 9007199254740995, "x"]}';
    expect(readArguments(input, schema)).toEqual({
      arguments: { ids: [1, "9007199254740993"], pair: [2, "9007199254740995", "x"] },
    });
  });

  test("refuses an integer for which the schema accepts no string", () => {
    for (const id of [{ type: "integer" }, {}, { $ref: "#/$defs/Missing" }, { $ref: "#/properties/id" }]) {
      expect(readArguments('{"id": 9007199254740993}', { properties: { id } })).toHaveProperty("problem");
    }
  });

  test("reads each value that JSON.stringify writes without a change", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const json = JSON.stringify(value);
        const read = readArguments(json);
        expect("arguments" in read ? JSON.stringify(read.arguments) : read).toBe(json);
      }),
    );
  });

  test("reads each integer exactly or not at all", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 69n), max: 2n ** 69n }), (integer) => {
        const read = readArguments(`{"a":${integer}}`);
        if ("arguments" in read) expect(BigInt(JSON.stringify(read.arguments["a"]))).toBe(integer);
        else expect(integer < -(2n ** 53n) || integer > 2n ** 53n).toBe(true);
      }),
    );
  });
});
