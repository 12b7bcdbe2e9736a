import { describe, expect, test } from "vitest";
import { adaptSchema } from "./adapt-schema.ts";

/** Adapts a property for Google, which accepts no `allOf` and no reference. */
function adapt(schema: object, definitions: object = {}) {
  const root = { type: "object", properties: { a: schema }, $defs: definitions };
  const adapted = adaptSchema(root, "google", { server: "shop", tool: "buy" });
  const { a } = Object(adapted.schema.properties) as { a: unknown };
  return { schema: a, losses: adapted.losses.map(({ path, keyword, effect }) => `${effect} ${path} ${keyword}`) };
}

describe("two values of a keyword in `allOf` become one that applies both", () => {
  test.each<[string, object, object, object]>([
    ["the smaller maximum, which is the second", { maximum: 10 }, { maximum: 5 }, { maximum: 5 }],
    ["the smaller maximum, which is the first", { maximum: 5 }, { maximum: 10 }, { maximum: 5 }],
    ["the larger minimum, which is the second", { minimum: 1 }, { minimum: 2 }, { minimum: 2 }],
    ["the larger minimum, which is the first", { minimum: 2 }, { minimum: 1 }, { minimum: 2 }],
    ["the smaller exclusive maximum", { exclusiveMaximum: 9 }, { exclusiveMaximum: 5 }, { maximum: 4 }],
    ["the larger exclusive minimum", { exclusiveMinimum: 1 }, { exclusiveMinimum: 5 }, { minimum: 6 }],
  ])("%s", (_name, first, second, limits) => {
    expect(adapt({ type: "integer", allOf: [first, second] })).toEqual({
      schema: { type: "integer", ...limits },
      losses: [],
    });
    expect(adapt({ type: "integer", ...first, allOf: [second] }).schema).toEqual({ type: "integer", ...limits });
  });

  test.each<[string, object, object, object]>([
    [
      "lengths of texts",
      { minLength: 1, maxLength: 9 },
      { minLength: 3, maxLength: 7 },
      { minLength: 3, maxLength: 7 },
    ],
    ["values of both lists", { enum: ["a", "b", "c"] }, { enum: ["c", "b", "d"] }, { enum: ["b", "c"] }],
    ["the common type", { type: ["string", "null"] }, { type: ["string", "number"] }, { type: "string" }],
  ])("%s", (_name, first, second, expected) => {
    const schema = { allOf: [{ type: "string" }, first, second] };
    expect(adapt(schema)).toEqual({ schema: { type: "string", ...expected }, losses: [] });
  });

  test("the numbers of items and of properties", () => {
    const items = { type: "string" };
    const list = {
      type: "array",
      items,
      allOf: [
        { maxItems: 5, minItems: 1 },
        { maxItems: 3, minItems: 2 },
      ],
    };
    expect(adapt(list).schema).toEqual({ type: "array", items, maxItems: 3, minItems: 2 });
  });

  test("the properties and required names of both", () => {
    const first = { properties: { b: { type: "integer", maximum: 9 } }, required: ["b"] };
    const second = { properties: { b: { maximum: 4 }, c: { type: "string" } }, required: ["c", "b"] };
    expect(adapt({ type: "object", allOf: [first, second] }).schema).toEqual({
      type: "object",
      properties: { b: { type: "integer", maximum: 4 }, c: { type: "string" } },
      required: ["b", "c"],
    });
  });
});

test.each([
  ["two patterns", { pattern: "^a" }, { pattern: "b$" }, "pattern"],
  ["types without a common one", { type: "string" }, { type: "array" }, "type"],
  ["lists without a common value", { enum: ["a"] }, { enum: ["b"] }, "enum"],
])("%s cannot be combined: the first stays, and the loss is reported", (_name, first, second, keyword) => {
  const { schema, losses } = adapt({ allOf: [{ type: "string", ...first }, second] });
  expect(schema).toMatchObject({ type: "string", ...first });
  expect(losses).toEqual([`looser /properties/a/allOf/1 ${keyword}`]);
});

test("the stricter of a limit and that of the target of a reference is shown", () => {
  const limited = { type: "integer", maximum: 5 };
  expect(adapt({ $ref: "#/$defs/limited", maximum: 10 }, { limited }).schema).toEqual(limited);
  expect(adapt({ $ref: "#/$defs/limited", maximum: 3 }, { limited }).schema).toEqual({ type: "integer", maximum: 3 });
});
