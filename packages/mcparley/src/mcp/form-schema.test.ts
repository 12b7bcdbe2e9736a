import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { toRequestedSchema } from "./form-schema.ts";
import { type JsonSchema, SchemaError } from "../schema/schema.ts";
import { compileSchema } from "../schema/validation/compile-schema.ts";

const fromZod = (shape: z.ZodRawShape): unknown =>
  toRequestedSchema(compileSchema(z.object(shape), "input").json).properties;
const field = (schema: unknown): unknown =>
  toRequestedSchema({ type: "object", properties: { a: schema } }).properties["a"];
const refusal = (schema: JsonSchema): string => {
  try {
    toRequestedSchema(schema);
  } catch (error) {
    if (error instanceof SchemaError && error.code === "invalid_schema") return error.message;
    throw error;
  }
  throw new Error("the schema was accepted");
};

/** One field of each kind in the specification (client/elicitation, "Requested Schema"). */
const published = {
  text: {
    type: "string",
    title: "Name",
    description: "Text",
    minLength: 3,
    maxLength: 50,
    format: "email",
    default: "a@b.c",
  },
  number: { type: "number", title: "Number", description: "Text", minimum: 0, maximum: 100, default: 50 },
  integer: { type: "integer", minimum: 0 },
  boolean: { type: "boolean", title: "Yes", description: "Text", default: false },
  single: { type: "string", title: "Color", enum: ["Red", "Green"], default: "Red" },
  titled: {
    type: "string",
    oneOf: [
      { const: "#F00", title: "Red" },
      { const: "#0F0", title: "Green" },
    ],
    default: "#F00",
  },
  legacy: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
  multi: {
    type: "array",
    minItems: 1,
    maxItems: 2,
    items: { type: "string", enum: ["Red", "Green"] },
    default: ["Red"],
  },
  multiTitled: {
    type: "array",
    title: "Colors",
    items: { anyOf: [{ const: "#F00", title: "Red" }] },
    default: ["#F00"],
  },
};

test("keywords that the specification allows are unchanged", () => {
  const schema = { type: "object", properties: published, required: ["text", "single"] };
  expect(toRequestedSchema(schema)).toEqual(schema);
});

test("all other keywords are omitted", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    title: "Form",
    additionalProperties: false,
    properties: {
      a: { type: "string", pattern: "^a", format: "uuid", $comment: "no", examples: ["a"], minLength: "3", default: 7 },
      b: { type: "integer", multipleOf: 2, exclusiveMinimum: 0, exclusiveMaximum: 10 },
      c: { type: "number", exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      d: { type: "boolean", const: true },
      e: { type: "integer", format: "date", minLength: 1, minimum: 0 },
    },
    required: ["a", "gone"],
  };
  expect(toRequestedSchema(schema)).toEqual({
    type: "object",
    properties: {
      a: { type: "string" },
      b: { type: "integer", minimum: 1, maximum: 9 },
      c: { type: "number", minimum: 0 },
      d: { type: "boolean" },
      e: { type: "integer", minimum: 0 },
    },
    required: ["a"],
  });
  expect(toRequestedSchema({ type: "object", properties: {} })).toEqual({ type: "object", properties: {} });
});

describe("choices in all their forms", () => {
  test.each([
    [{ const: "a" }, { type: "string", enum: ["a"] }],
    [{ enum: ["a", "b"] }, { type: "string", enum: ["a", "b"] }],
    [
      { anyOf: [{ const: "a" }, { const: "b" }], description: "Text" },
      { type: "string", enum: ["a", "b"], description: "Text" },
    ],
    [
      { anyOf: [{ type: "string", const: "a", title: "A" }, { const: "b" }] },
      {
        type: "string",
        oneOf: [
          { const: "a", title: "A" },
          { const: "b", title: "b" },
        ],
      },
    ],
    [
      { type: "array", items: { oneOf: [{ const: "a", title: "A" }] }, uniqueItems: true },
      { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } },
    ],
    [
      { type: "array", items: { anyOf: [{ const: "a" }] } },
      { type: "array", items: { type: "string", enum: ["a"] } },
    ],
  ])("%j", (schema, expected) => {
    expect(field(schema)).toEqual(expected);
  });

  test("references to $defs are resolved, with their sibling keywords", () => {
    const $defs = { color: { type: "string", enum: ["r"], title: "Color" } };
    const properties = {
      a: { $ref: "#/$defs/color", title: "Mine" },
      b: { type: "array", items: { $ref: "#/$defs/color" } },
    };
    expect(toRequestedSchema({ type: "object", properties, $defs }).properties).toEqual({
      a: { type: "string", enum: ["r"], title: "Mine" },
      b: { type: "array", items: { type: "string", enum: ["r"] } },
    });
  });
});

describe("a property that cannot be a field is refused with its name and the rule", () => {
  test.each([
    [{ type: "object", properties: {} }],
    [{ type: "array", items: { type: "string" } }],
    [{ type: "array", items: { type: "object" } }],
    [{ type: ["string", "null"] }],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }],
    [{ type: "number", enum: [1, 2] }],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }],
    [{ anyOf: [] }],
    [{ anyOf: [null, true] }],
    [{ type: "choice" }],
    [{ type: "constructor" }],
    [{ $ref: "#/$defs/missing" }],
    [{ $ref: "#/properties/fine/type" }],
    [{ $ref: "https://example.com" }],
    [{ $ref: "other.json#/properties/fine" }],
    [{}],
    [true],
  ])("%j", (schema) => {
    const message = refusal({ type: "object", properties: { fine: { type: "string" }, broken: schema } });
    expect(message).toBe(
      'The property "broken" cannot be a field of a form. It must be a string, number, boolean, choice of strings or list of such choices. It cannot be null (make it optional) or nested.',
    );
  });

  test("a circular reference ends", () => {
    expect(
      refusal({ type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { $ref: "#/$defs/a" } } }),
    ).toContain('"a"');
  });

  test.each([{}, { type: "string" }, { type: "object" }, { allOf: [{ type: "object" }] }])(
    "%j is not a form",
    (schema) => {
      expect(refusal(schema)).toContain("an object with properties");
    },
  );
});

test("properties called __proto__ and constructor are ordinary", () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"boolean"}},"required":["toString","__proto__"]}',
  ) as JsonSchema;
  const { properties, required } = toRequestedSchema(schema);
  expect(Object.keys(properties)).toEqual(["__proto__", "constructor"]);
  expect(required).toEqual(["__proto__"]);
});

describe("schema libraries", () => {
  test("zod", () => {
    expect(
      fromZod({
        color: z.enum(["red", "green"]).default("red"),
        email: z.email().describe("Where to write"),
        url: z.url().optional(),
        at: z.iso.datetime(),
        on: z.iso.date(),
        count: z.number().int().min(1).default(3),
        any: z.int(),
        above: z.number().positive(),
        ok: z.boolean().default(true),
        size: z.union([z.literal("s").meta({ title: "Small" }), z.literal("l").meta({ title: "Large" })]),
        many: z.array(z.enum(["x", "y"])).min(1),
        named: z.enum(["x"]).meta({ id: "Named", title: "Named" }),
      }),
    ).toEqual({
      color: { type: "string", enum: ["red", "green"], default: "red" },
      email: { type: "string", format: "email", description: "Where to write" },
      url: { type: "string", format: "uri" },
      at: { type: "string", format: "date-time" },
      on: { type: "string", format: "date" },
      count: { type: "integer", minimum: 1, default: 3 },
      any: { type: "integer" },
      above: { type: "number", minimum: 0 },
      ok: { type: "boolean", default: true },
      size: {
        type: "string",
        oneOf: [
          { const: "s", title: "Small" },
          { const: "l", title: "Large" },
        ],
      },
      many: { type: "array", minItems: 1, items: { type: "string", enum: ["x", "y"] } },
      named: { type: "string", enum: ["x"], title: "Named" },
    });
  });

  test("optional fields and fields with a default are not required", () => {
    const schema = z.object({ a: z.string(), b: z.string().optional(), c: z.string().default("c") });
    expect(toRequestedSchema(compileSchema(schema, "input").json).required).toEqual(["a"]);
  });

  test("valibot and ArkType", () => {
    const valibot = toStandardJsonSchema(
      v.object({ color: v.picklist(["r", "g"]), n: v.optional(v.pipe(v.number(), v.integer()), 3) }),
    );
    expect(toRequestedSchema(compileSchema(valibot, "input").json)).toEqual({
      type: "object",
      properties: { color: { type: "string", enum: ["r", "g"] }, n: { type: "integer", default: 3 } },
      required: ["color"],
    });
    const arktype = type({ color: "'r' | 'g'", email: "string.email", "ok?": "boolean" });
    expect(toRequestedSchema(compileSchema(arktype, "input").json)).toEqual({
      type: "object",
      properties: {
        color: { type: "string", enum: ["g", "r"] },
        email: { type: "string", format: "email" },
        ok: { type: "boolean" },
      },
      required: ["color", "email"],
    });
  });
});
