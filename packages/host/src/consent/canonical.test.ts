import { expect, test } from "vitest";
import { canonicalJson, hashOfDefinition, hashOfJson, hashWithoutName, sha256 } from "./canonical.ts";

test("the sample of RFC 8785, section 3.2.2, has its canonical form", () => {
  const text = `{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
    "literals": [null, true, false]
  }`;
  expect(canonicalJson(JSON.parse(text))).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

test("members are sorted by UTF-16 code units, as in RFC 8785, section 3.2.3", () => {
  const value: unknown = JSON.parse(
    String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
  );
  const values = canonicalJson(value).matchAll(/:"([^"]+)"/g);
  expect([...values].map(([, name]) => name)).toEqual([
    "Carriage Return",
    "One",
    "Control",
    "Latin Small Letter O With Diaeresis",
    "Euro Sign",
    "Emoji: Grinning Face",
    "Hebrew Letter Dalet With Dagesh",
  ]);
});

test.each([
  [0, "0"],
  [-0, "0"],
  [5e-324, "5e-324"],
  [1.7976931348623157e308, "1.7976931348623157e+308"],
  [9007199254740992, "9007199254740992"],
  [295147905179352830000, "295147905179352830000"],
  [1e21, "1e+21"],
  [Number("333333333.33333329"), "333333333.3333333"],
  [0.000001, "0.000001"],
  [1e-7, "1e-7"],
])("the number %d of RFC 8785, appendix B, is %s", (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

test("members with undefined are left out, and undefined elements are null", () => {
  expect(canonicalJson({ b: undefined, a: [undefined] })).toBe('{"a":[null]}');
});

test("a member named __proto__ is part of the hash", () => {
  expect(canonicalJson(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
});

test("an unpaired surrogate has a hash, which differs from that of the replacement character", () => {
  expect(hashOfJson("\ud800")).not.toBe(hashOfJson("\ufffd"));
});

test("a value that is nested too deeply throws a RangeError with the limit", () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(() => canonicalJson(deep)).toThrow(new RangeError("The JSON value is nested more than 200 levels deep."));
});

test("the hash is SHA-256", () => {
  expect(sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
});

test("the same definition has another hash as another kind", () => {
  expect(hashOfDefinition("tool", { name: "a" })).not.toBe(hashOfDefinition("prompt", { name: "a" }));
});

test("the hash without the name is that of a renamed definition, and not that of a changed one", () => {
  const tool = { name: "a", description: "Adds.", inputSchema: {} };
  expect(hashWithoutName("tool", tool)).toBe(hashWithoutName("tool", { ...tool, name: "b" }));
  expect(hashWithoutName("tool", tool)).not.toBe(hashWithoutName("tool", { ...tool, description: "Adds" }));
});
