import { describe, expect, test } from "vitest";
import { z } from "zod";
import { mcpHeaders } from "./mirrored-headers.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { compileSchema } from "../../schema/validation/compile-schema.ts";

const failure = (schema: JsonSchema): unknown => {
  try {
    return mcpHeaders(schema);
  } catch (error) {
    return error;
  }
};
const region = { type: "string", "x-mcp-header": "Region" };

test("annotations are collected along properties, in their order", () => {
  const schema = {
    type: "object",
    properties: {
      region,
      query: { type: "string" },
      where: { type: "object", properties: { shard: { type: "integer", "x-mcp-header": "Shard" } } },
      dry: { type: ["boolean", "null"], "x-mcp-header": "dry.run" },
    },
  };
  expect(mcpHeaders(schema)).toEqual([
    { header: "Mcp-Param-Region", path: ["region"], type: "string" },
    { header: "Mcp-Param-Shard", path: ["where", "shard"], type: "integer" },
    { header: "Mcp-Param-dry.run", path: ["dry"], type: "boolean" },
  ]);
});

test("a schema without annotations has no headers, and a property may have the name x-mcp-header", () => {
  expect(mcpHeaders({})).toEqual([]);
  expect(mcpHeaders({ type: "object", properties: { "x-mcp-header": { type: "string" } } })).toEqual([]);
  expect(
    mcpHeaders({ properties: { a: { type: "object", default: { "x-mcp-header": "" }, enum: [region] } } }),
  ).toEqual([]);
});

test("annotations in the metadata of a schema library are found", () => {
  const input = z.object({ region: z.string().meta({ "x-mcp-header": "Region" }), n: z.int() });
  expect(mcpHeaders(compileSchema(input, "input").json)).toEqual([
    { header: "Mcp-Param-Region", path: ["region"], type: "string" },
  ]);
});

describe("violations name the property", () => {
  test.each([
    ["empty", ""],
    ["a space", "My Region"],
    ["a colon", "Region:Primary"],
    ["not ASCII", "Région"],
    ["a control character", "Region\t1"],
    ["CR LF", "Region\r\nX: 1"],
    ["not a string", 1],
    ["null", null],
  ])("the name is %s", (_, name) => {
    const error = failure({ properties: { a: { properties: { b: { type: "string", "x-mcp-header": name } } } } });
    expect(error).toMatchObject({ name: "SchemaError", code: "invalid_schema" });
    expect(error).toMatchObject({ message: expect.stringContaining(`The x-mcp-header of "a.b" `) as string });
    expect((error as Error).message).not.toMatch(/[\r\n\t]/);
  });

  test.each([["number"], ["object"], ["array"], ["null"], [["string", "integer"]], [["null"]], [undefined]])(
    "the type is %j",
    (type) => {
      const error = failure({ properties: { a: { ...(type && { type }), "x-mcp-header": "A" } } });
      expect(error).toMatchObject({
        message: expect.stringMatching(/^The x-mcp-header of "a" .*"string", "integer" or "boolean"/) as string,
      });
    },
  );

  test("a name is used twice, in any case", () => {
    const error = failure({ properties: { a: region, b: { type: "string", "x-mcp-header": "REGION" } } });
    expect(error).toMatchObject({ message: expect.stringMatching(/^The x-mcp-header of "b" is used twice/) as string });
  });

  test.each<[string, JsonSchema]>([
    ["/", { ...region, properties: {} }],
    ["/properties/a/items", { properties: { a: { type: "array", items: region } } }],
    ["/properties/a/items/properties/b", { properties: { a: { items: { properties: { b: region } } } } }],
    ["/prefixItems/0", { prefixItems: [region] }],
    ["/allOf/0/properties/a", { allOf: [{ properties: { a: region } }] }],
    ["/anyOf/0/properties/a", { anyOf: [{ properties: { a: region } }] }],
    ["/oneOf/0", { oneOf: [region] }],
    ["/not/properties/a", { not: { properties: { a: region } } }],
    ["/if/properties/a", { if: { properties: { a: region } } }],
    ["/$defs/a", { $defs: { a: region } }],
    ["/definitions/a", { definitions: { a: region } }],
    ["/additionalProperties", { additionalProperties: region }],
    ["/patternProperties/^a", { patternProperties: { "^a": region } }],
    ["/dependentSchemas/a/properties/b", { dependentSchemas: { a: { properties: { b: region } } } }],
  ])("the path to %s contains a keyword other than properties", (property, schema) => {
    const error = failure(schema);
    expect(error).toMatchObject({ name: "SchemaError", code: "invalid_schema" });
    expect(error).toMatchObject({ message: expect.stringContaining(`The x-mcp-header of "${property}" `) as string });
  });
});

test("ignores annotations below 64 levels, in a schema of any depth", () => {
  const nest = (levels: number): JsonSchema =>
    Array.from({ length: levels }).reduce<JsonSchema>((a) => ({ properties: { a } }), region);
  expect(mcpHeaders(nest(64))).toHaveLength(1);
  expect(mcpHeaders(nest(65))).toEqual([]);
  expect(mcpHeaders(nest(100_000))).toEqual([]);
});
