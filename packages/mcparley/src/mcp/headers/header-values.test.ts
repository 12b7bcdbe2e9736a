import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeHeaderValue, encodeHeaderValue, headerValueMatches } from "./header-values.ts";

describe("the specification's examples", () => {
  test.each([
    ["us-west1", "us-west1"],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
  ])("%j is encoded as %s", (value, header) => {
    expect(encodeHeaderValue(value)).toBe(header);
    expect(decodeHeaderValue(header)).toBe(value);
  });
});

test.each<[string | number | boolean, string]>([
  ["", ""],
  [42, "42"],
  [-7, "-7"],
  [-0, "0"],
  [true, "true"],
  [false, "false"],
  ["a b", "a b"],
  ["a\tb", "=?base64?YQli?="],
  ["=?BASE64?YQ==?=", "=?BASE64?YQ==?="],
  ["=?base64?YQ==", "=?base64?YQ=="],
  ["YQ==?=", "YQ==?="],
])("%j is encoded as the header %j", (value, header) => {
  expect(encodeHeaderValue(value)).toBe(header);
  expect(decodeHeaderValue(header)).toBe(String(value));
});

test.each([
  ["missing padding", "=?base64?SGVsbG8?="],
  ["too much padding", "=?base64?SGVsbG8==?="],
  ["a character that is not Base64", "=?base64?SGVs!G8=?="],
  ["a space in Base64", "=?base64?SGVs bG8=?="],
  ["URL-safe Base64", "=?base64?_-__?="],
  ["bytes that are not UTF-8", "=?base64?/w==?="],
  ["not ASCII", "caf\u00e9"],
  ["a control character", "a\u0000b"],
  ["a line break", "a\r\nb"],
])("a header with %s cannot be read", (_, header) => {
  expect(decodeHeaderValue(header)).toBeUndefined();
  expect(headerValueMatches("string", header, header)).toBe(false);
});

test("decodes a tab, and an encoded empty value", () => {
  expect(decodeHeaderValue("a\tb")).toBe("a\tb");
  expect(decodeHeaderValue("=?base64??=")).toBe("");
  expect(decodeHeaderValue("=?base64?=")).toBe("=?base64?=");
});

test("decoding restores every encoded text, which has only characters that a header allows", () => {
  const text = fc.string({ unit: "binary" }).map((value) => value.replace(/\p{Surrogate}/gu, ""));
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        fc.string(),
        text.map((value) => `=?base64?${value}?=`),
      ),
      (value) => {
        const header = encodeHeaderValue(value);
        expect(header).toMatch(/^[ -~]*$/);
        expect(header.trim()).toBe(header);
        expect(decodeHeaderValue(header)).toBe(value);
      },
    ),
  );
});

test("decoding any header returns a text or undefined", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (header) => {
      expect(["string", "undefined"]).toContain(typeof decodeHeaderValue(`=?base64?${header}?=`));
      expect(["string", "undefined"]).toContain(typeof decodeHeaderValue(header));
    }),
  );
});

test.each<["string" | "integer" | "boolean", string, unknown, boolean]>([
  ["string", "us-west1", "us-west1", true],
  ["string", "US-WEST1", "us-west1", false],
  ["string", "=?base64?SGVsbG8=?=", "Hello", true],
  ["string", "", "", true],
  ["string", "1", 1, true],
  ["integer", "42", 42, true],
  ["integer", "42.0", 42, true],
  ["integer", "4.2e1", 42, true],
  ["integer", "=?base64?NDI=?=", 42, true],
  ["integer", "-7", -7, true],
  ["integer", "43", 42, false],
  ["integer", " 42", 42, false],
  ["integer", "0x2a", 42, false],
  ["integer", "", 0, false],
  ["integer", "9007199254740991", 9007199254740991, true],
  ["integer", "9007199254740993", 9007199254740992, false],
  ["integer", "42", "42", true],
  ["boolean", "true", true, true],
  ["boolean", "True", true, false],
  ["boolean", "false", true, false],
  ["string", "null", null, false],
  ["string", "undefined", undefined, false],
  ["string", "[object Object]", {}, false],
])("as %s, the header %j for %j in the body: %s", (type, header, bodyValue, matches) => {
  expect(headerValueMatches(type, header, bodyValue)).toBe(matches);
});
