import { expect, test } from "vitest";
import { mapTexts, wellFormed, withoutDeepLevels } from "./map-texts.ts";

const hide = { text: (text: string): string => text.replaceAll("hunter2", "*") };

test("changes all texts and names of a JSON value", () => {
  expect(mapTexts({ a: ["x hunter2"], hunter2: { b: "hunter2", c: 1, d: null } }, hide)).toEqual({
    a: ["x *"],
    "*": { b: "*", c: 1, d: null },
  });
  expect(mapTexts({ hunter2: undefined }, hide)).toEqual({ "*": undefined });
});

test("keeps a member with the name __proto__ as a member", () => {
  const value = mapTexts(JSON.parse('{"__proto__": {"a": "hunter2"}}') as object, hide);
  expect(Object.entries(value)).toEqual([["__proto__", { a: "*" }]]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test("a value without a changed text is returned itself, and objects of a class stay", () => {
  const value = { a: ["b", { c: new Uint8Array(2) }] };
  expect(mapTexts(value, hide)).toBe(value);
  const [, { c }] = mapTexts({ ...value, d: "hunter2" }, hide).a as [string, { c: Uint8Array }];
  expect(c).toBe((value.a[1] as { c: Uint8Array }).c);
});

test("each half of a surrogate pair becomes U+FFFD, in texts and names", () => {
  expect(wellFormed({ "a\ud83d": ["\ude00 😀"] })).toEqual({ "a\ufffd": ["\ufffd 😀"] });
});

test("keeps 150 levels, and replaces what is below them with a text", () => {
  const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  const whole = nested(150);
  expect(withoutDeepLevels(whole)).toBe(whole);
  for (const levels of [151, 100_000]) {
    expect(JSON.stringify(withoutDeepLevels({ a: 1, b: nested(levels - 1) }))).toBe(
      `{"a":1,"b":${"[".repeat(149)}"[more than 150 levels]"${"]".repeat(149)}}`,
    );
  }
});
