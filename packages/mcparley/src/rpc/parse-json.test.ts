import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "./parse-json.ts";

const large = "QUJD".repeat(300_000);

test.each([
  ["a member", { jsonrpc: "2.0", id: 1, result: { contents: [{ uri: "file:///a", blob: large }] } }],
  ["a member between others", { a: [1, "x", { b: null }], large, c: "after", d: [true, 0.5] }],
  ["the whole value", large],
  ["text beyond ASCII", { large: "ä€😀".repeat(400_000) }],
  ["two large strings", { a: large, b: large }],
  ["the name of a member", { [large]: 1 }],
  ["a string with escapes", { text: `${large}\n"quoted" \\ ${large}` }],
  ["a string with an escaped quote at its start", { text: `"${large}` }],
  ["an array of numbers between strings", ["a", ...Array<number>(110_000).fill(1_234_567_890), "b"]],
  ["an empty string after another", { a: "", b: "", large }],
])("parses a large text like JSON.parse: %s", (_what, value) => {
  expect(parseJson(JSON.stringify(value))).toEqual(value);
  expect(parseJson(JSON.stringify(value, undefined, 2))).toEqual(value);
});

test("parses any value beside a large string like JSON.parse", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
      const text = JSON.stringify({ before, large, after });
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
    { numRuns: 10 },
  );
});

test.each([
  ["a line break in a large string", `{"a":"${large}\n"}`],
  ["a large string that is not closed", `{"a":"${large}`],
  ["a text that ends too early", `{"a":"${large}"`],
  ["text after the value", `{"a":"${large}"} x`],
])("refuses a large text that is not JSON: %s", (_what, text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});
