import { describe, expect, test } from "vitest";
import type { JsonSchema } from "../schema.ts";
import { compileJsonSchema } from "mcparley-tests/support/compile-json-schema.ts";
import type { CompileOptions } from "./compile.ts";

/** The default of `steps`. */
const defaultSteps = 1_000_000;

const tooComplex = { issues: [{ path: "", message: "is too complex to be checked with this schema" }] };

/** The smallest budget with which a value is accepted. */
function stepsFor(schema: JsonSchema, value: unknown, options: CompileOptions = {}): number {
  let [no, yes] = [0, defaultSteps];
  if (compileJsonSchema(schema)(value).issues) throw new Error("the value does not fit, or is too complex");
  while (yes - no > 1) {
    const steps = Math.floor((no + yes) / 2);
    if (compileJsonSchema(schema, { ...options, steps })(value).issues) no = steps;
    else yes = steps;
  }
  return yes;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe("the budget of steps", () => {
  test("accepts a value with exactly the steps that it needs, and not with one fewer", () => {
    const schema = { type: "array", items: { type: "number" } };
    const steps = stepsFor(schema, [1, 2, 3]);
    expect(compileJsonSchema(schema, { steps })([1, 2, 3])).toEqual({ value: [1, 2, 3] });
    expect(compileJsonSchema(schema, { steps: steps - 1 })([1, 2, 3])).toEqual(tooComplex);
  });

  test.each<[string, JsonSchema, (size: number) => unknown]>([
    ["items", { items: { type: "number", minimum: 0 } }, numbers],
    ["unique numbers", { uniqueItems: true }, numbers],
    ["unique objects", { uniqueItems: true }, (size) => numbers(size).map((a) => ({ a }))],
    [
      "properties",
      { additionalProperties: true },
      (size) => Object.fromEntries(numbers(size).map((n) => [`p${n}`, n])),
    ],
    ["characters of a format", { format: "json-pointer" }, (size) => `/${"a".repeat(100 * size)}`],
    ["characters of a regular expression", { format: "regex" }, (size) => "(a)*".repeat(size)],
    ["characters of a URI template", { format: "uri-template" }, (size) => "{a}".repeat(size)],
    ["characters of a pattern", { pattern: "^a*$" }, (size) => "a".repeat(10 * size)],
    ["a large constant", { enum: [numbers(1000)] }, () => numbers(1000)],
    ["contained items", { contains: { const: -1 }, minContains: 0 }, numbers],
    [
      "unevaluated properties",
      { patternProperties: { "^p": true }, unevaluatedProperties: false },
      (size) => Object.fromEntries(numbers(size).map((n) => [`p${n}`, n])),
    ],
  ])("%s use steps in proportion to their number", (_, schema, make) => {
    const [few, many] = [stepsFor(schema, make(100)), stepsFor(schema, make(1000))];
    expect(many).toBeLessThanOrEqual(10 * few);
    expect(many).toBeGreaterThan(50);
  });

  test("each declared property uses a step with the option exhaustive, also in alternatives that do not match", () => {
    const properties = Object.fromEntries(numbers(100).map((n) => [`p${n}`, true]));
    const schema = { anyOf: [{ required: ["a"], properties }, { properties }, { type: "string" }] };
    expect(stepsFor(schema, {}, { exhaustive: true }) - stepsFor(schema, {})).toBe(200);
  });

  test("unique items that are arrays of arrays use steps at every level", () => {
    const nest = (levels: number): unknown =>
      Array.from({ length: levels }).reduce<unknown>((item) => [item], numbers(50));
    const schema = { $defs: { a: { uniqueItems: true, items: { $ref: "#/$defs/a" } } }, $ref: "#/$defs/a" };
    expect(stepsFor(schema, nest(20))).toBeGreaterThan(20 * 50);
  });
});

describe("values that are refused as too complex", () => {
  test.each([{ $ref: "#" }, { anyOf: [{ $ref: "#" }, { $ref: "#" }] }, { not: { $ref: "#" } }, { if: { $ref: "#" } }])(
    "a reference to itself: %j",
    (schema) => {
      expect(compileJsonSchema(schema)(1)).toEqual(tooComplex);
    },
  );

  test("references that double at every step", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [
        `d${index}`,
        { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
      ]),
    );
    expect(compileJsonSchema({ $ref: "#/$defs/d0", $defs: { ...$defs, d50: {} } })(1)).toEqual(tooComplex);
  });

  test("alternatives that double at every level of the value", () => {
    const schema = { properties: { a: { oneOf: [{ $ref: "#" }, { $ref: "#" }] } } };
    const value = Array.from({ length: 60 }).reduce((a) => ({ a }), {});
    expect(compileJsonSchema(schema)(value)).toEqual(tooComplex);
  });

  test("a chain of 4,000 references, without exhausting the stack", () => {
    const $defs = Object.fromEntries(numbers(4000).map((n) => [`d${n}`, { $ref: `#/$defs/d${n + 1}` }]));
    expect(compileJsonSchema({ $ref: "#/$defs/d0", $defs: { ...$defs, d4000: {} } })(1)).toEqual(tooComplex);
  });

  test("a value of 50,000 levels, without exhausting the stack", () => {
    const deep = Array.from({ length: 50_000 }).reduce((a) => [a], []);
    expect(compileJsonSchema({ items: { $ref: "#" } })(deep)).toEqual(tooComplex);
    expect(compileJsonSchema({ uniqueItems: true })([deep, deep])).toEqual(tooComplex);
  });
});

test("a report that uses too many steps contains the issues that were found before", () => {
  const trap = { anyOf: [{ $ref: "#/$defs/trap" }, { $ref: "#/$defs/trap" }] };
  const schema = { required: ["a"], properties: { b: { $ref: "#/$defs/trap" } }, $defs: { trap } };
  expect(compileJsonSchema(schema)({ b: 1 })).toEqual({
    issues: [{ path: "", message: 'must have the property "a"' }],
  });
});
