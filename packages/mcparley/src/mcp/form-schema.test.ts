import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { resolveForm, toRequestedSchema } from "./form-schema.ts";
import type { JsonObject } from "../rpc/messages.ts";
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
    required: ["a"],
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
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"boolean"}},"required":["__proto__"]}',
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

describe("the form that a server requests", () => {
  const $defs = {
    Color: { title: "Color", enum: ["red", "green"] },
    Name: { type: "string", minLength: 1 },
    Again: { $ref: "#/$defs/Name" },
    "a/b ~": { type: "integer" },
    Red: { const: "red", title: "Red" },
    Form: { type: "object", properties: { a: { $ref: "#/$defs/Name" } }, required: ["a"] },
    Loop: { $ref: "#/$defs/Loop" },
  };
  const resolved = (property: unknown): unknown =>
    resolveForm({ type: "object", properties: { a: property }, $defs }).properties["a"];

  test.each<[string, unknown, JsonObject]>([
    ["a reference to a choice", { $ref: "#/$defs/Color" }, { type: "string", title: "Color", enum: ["red", "green"] }],
    [
      "a reference with members beside it",
      { $ref: "#/$defs/Name", title: "Your name", default: "Ann" },
      { type: "string", minLength: 1, title: "Your name", default: "Ann" },
    ],
    ["a reference to a reference", { $ref: "#/$defs/Again" }, { type: "string", minLength: 1 }],
    ["a reference with escapes", { $ref: "#/$defs/a~1b%20~0" }, { type: "integer" }],
    [
      "allOf with a reference",
      { allOf: [{ $ref: "#/$defs/Color" }], default: "red" },
      { type: "string", title: "Color", enum: ["red", "green"], default: "red" },
    ],
    ["allOf of two", { allOf: [{ type: "string" }, { maxLength: 3 }] }, { type: "string", maxLength: 3 }],
    ["a constant text", { const: "yes", title: "Sure?" }, { type: "string", enum: ["yes"], title: "Sure?" }],
    ["a constant text with a type", { type: "string", const: "yes" }, { type: "string", enum: ["yes"] }],
    ["a constant number", { const: 5 }, { type: "number", minimum: 5, maximum: 5 }],
    ["a constant integer", { type: "integer", const: 5 }, { type: "integer", minimum: 5, maximum: 5 }],
    ["a constant boolean", { const: true, title: "I agree" }, { type: "boolean", title: "I agree" }],
    ["anyOf of constants", { anyOf: [{ const: "a" }, { const: "b" }] }, { type: "string", enum: ["a", "b"] }],
    [
      "anyOf of references to titled constants",
      { anyOf: [{ $ref: "#/$defs/Red" }, { const: "b" }] },
      {
        type: "string",
        oneOf: [
          { const: "red", title: "Red" },
          { const: "b", title: "b" },
        ],
      },
    ],
    [
      "an optional text",
      { anyOf: [{ type: "string", minLength: 2 }, { type: "null" }], title: "T", default: null },
      { type: "string", minLength: 2, title: "T", default: null },
    ],
    [
      "an optional choice",
      { anyOf: [{ $ref: "#/$defs/Color" }, { type: "null" }] },
      { type: "string", title: "Color", enum: ["red", "green"] },
    ],
    [
      "an optional constant",
      { oneOf: [{ const: "a" }, { const: "b" }, { const: null }] },
      { type: "string", enum: ["a", "b"] },
    ],
    ["a list of types", { type: ["null", "integer"], minimum: 1 }, { type: "integer", minimum: 1 }],
    ["a text or a number", { oneOf: [{ type: "object" }, { type: "string" }, { type: "number" }] }, { type: "string" }],
    [
      "a list of a referenced choice",
      { type: "array", items: { $ref: "#/$defs/Color" } },
      { type: "array", items: { type: "string", enum: ["red", "green"] } },
    ],
    ["a schema without a type", { title: "Text" }, { title: "Text", type: "string" }],
    ["a schema that is true", true, { type: "string" }],
  ])("has a field for %s", (_, property, expected) => {
    expect(resolved(property)).toEqual(expected);
  });

  test.each(Object.entries(published))("keeps a published field: %s", (_, property) => {
    expect(resolved(property)).toEqual(property);
  });

  test.each<[string, JsonObject]>([
    ["enumNames", { type: "string", enum: ["r"], enumNames: ["Red"] }],
    ["a pattern and members of others", { type: "string", pattern: "^a", "x-hint": { wide: true } }],
    ["numbers to choose", { type: "integer", enum: [1, 2] }],
  ])("keeps %s", (_, property) => {
    expect(resolved(property)).toEqual(property);
  });

  test("keeps a schema that is a reference or consists of parts", () => {
    const a = { type: "string", minLength: 1 };
    expect(resolveForm({ $ref: "#/$defs/Form", $defs })).toMatchObject({ properties: { a }, required: ["a"] });
    const parts = [{ $ref: "#/$defs/Form" }, { properties: { b: { const: "x" } }, required: ["a", "b"] }];
    expect(resolveForm({ type: "object", allOf: parts, $defs })).toMatchObject({
      properties: { a, b: { type: "string", enum: ["x"] } },
      required: ["a", "b"],
    });
  });

  test.each<[string, unknown]>([
    ["an object", { type: "object", properties: {} }],
    ["a schema of members without a type", { properties: { b: { type: "string" } } }],
    ["a list without choices", { type: "array", items: { type: "string" } }],
    ["a list of objects", { type: "array", items: { type: "object" } }],
    ["null", { type: "null" }],
    ["a constant that is null", { const: null }],
    ["a constant that is an object", { const: {} }],
    ["alternatives of objects", { anyOf: [{ type: "object" }, { type: "array" }] }],
    ["alternatives of alternatives", { anyOf: [{ anyOf: [{ type: "string" }] }] }],
    ["no alternative", { anyOf: [] }],
    ["allOf of many", { allOf: Array.from({ length: 5 }, () => ({ type: "string" })) }],
    ["allOf in allOf", { allOf: [{ allOf: [{ allOf: [{ allOf: [{ allOf: [{ type: "string" }] }] }] }] }] }],
    ["a missing definition", { $ref: "#/$defs/Missing" }],
    ["an inherited member", { $ref: "#/constructor" }],
    ["a reference to itself", { $ref: "#/$defs/Loop" }],
    ["a reference to an anchor", { $ref: "#color" }],
    ["a schema that is false", false],
    ["a type that does not exist", { type: "text" }],
    ["a negation", { not: { type: "string" } }],
  ])("is refused with the name of a field that is %s", (_, property) => {
    expect(() => resolved(property)).toThrow('The property "a" cannot be a field of a form.');
  });

  test.each<[string, JsonObject, string]>([
    ["no choices", { type: "string", enum: [] }, "it has no choices"],
    ["no titled choices", { type: "array", items: { enum: [] } }, "it has no choices"],
    ["bounds", { type: "integer", minimum: 2, maximum: 1 }, "its minimum is larger than its maximum"],
    ["lengths", { type: "string", minLength: 2, maxLength: 1 }, "its minLength is larger than its maxLength"],
    [
      "numbers of items",
      { type: "array", items: { enum: ["a", "b"] }, minItems: 2, maxItems: 1 },
      "its minItems is larger than its maxItems",
    ],
    [
      "more items than choices",
      { type: "array", items: { enum: ["a"] }, minItems: 2 },
      "its minItems is larger than its choices",
    ],
  ])("is refused with the reason of a field that has no valid value: %s", (_, property, why) => {
    const message = `No answer is valid for the property "a": ${why}.`;
    expect(() => resolved(property)).toThrow(message);
    expect(() => field(property)).toThrow(message);
  });

  test.each([resolveForm, toRequestedSchema])("is refused if a required property is not defined", (read) => {
    const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a", "toString"] };
    expect(() => read(schema)).toThrow('The property "toString" is required, and the schema does not define it.');
  });

  test("is resolved in linear time for many references and alternatives", () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `d${index}`);
    const chain = Object.fromEntries(names.map((name, index) => [name, { $ref: `#/$defs/d${index + 1}` }]));
    const alternatives = Array.from({ length: 2_000 }, () => ({ $ref: "#/$defs/d0" }));
    const properties = Object.fromEntries(names.map((name) => [name, { $ref: "#/$defs/d1990" }]));
    expect(() => resolveForm({ type: "object", properties, $defs: chain })).toThrow("cannot be a field");
    expect(() => resolveForm({ type: "object", properties: { a: { anyOf: alternatives } }, $defs: chain })).toThrow(
      "cannot be a field",
    );
  });
});
