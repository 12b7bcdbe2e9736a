import { describe, expect, test } from "vitest";
import { compileJsonSchema } from "./json-schema.ts";
import { formatIssue } from "./schema.ts";
import type { JsonSchema } from "./schema.ts";

const issues = (schema: JsonSchema | boolean, value: unknown): string[] =>
  (compileJsonSchema(schema)(value).issues ?? []).map(formatIssue);

/** As text, because the linter takes an object with a `then` for a promise. */
const conditional = JSON.parse(
  '{ "if": { "required": ["a"] }, "then": { "required": ["b"] }, "else": { "required": ["c"] } }',
) as JsonSchema;

describe("values", () => {
  test("a fitting value is given back, the very same one", () => {
    const value = { a: [1, { b: null }] };
    expect(compileJsonSchema({ type: "object" })(value)).toEqual({ value });
    expect(compileJsonSchema({ type: "object" })(value)).toHaveProperty("value", value);
  });

  test.each<[JsonSchema | boolean, unknown, string[]]>([
    [{ properties: { location: { type: "string" } } }, { location: 1 }, ["/location: must be string"]],
    [{ required: ["location"] }, {}, ['/: required property "location" is missing']],
    [{ type: ["string", "null"] }, 1, ["/: must be string or null"]],
    [{ type: "integer" }, 1.5, ["/: must be integer"]],
    [{ const: { a: 1 } }, {}, ['/: must be {"a":1}']],
    [{ enum: ["a", 1, null] }, "b", ['/: must be one of "a", 1, null']],
    [{ minimum: 3 }, 2, ["/: must be at least 3"]],
    [{ maximum: 3 }, 4, ["/: must be at most 3"]],
    [{ exclusiveMinimum: 3 }, 3, ["/: must be greater than 3"]],
    [{ exclusiveMaximum: 3 }, 3, ["/: must be less than 3"]],
    [{ multipleOf: 0.01 }, 0.015, ["/: must be a multiple of 0.01"]],
    [{ minLength: 2 }, "😀", ["/: must have at least 2 characters"]],
    [{ maxLength: 2 }, "abc", ["/: must have at most 2 characters"]],
    [{ pattern: "^a" }, "b", ["/: must match the pattern ^a"]],
    [{ format: "email" }, "b", ["/: must be a valid email"]],
    [{ minItems: 1 }, [], ["/: must have at least 1 items"]],
    [{ maxItems: 1 }, [1, 2], ["/: must have at most 1 items"]],
    [{ uniqueItems: true }, [{ a: 1 }, { a: 1 }], ["/: must not hold the same item twice"]],
    [{ minProperties: 1 }, {}, ["/: must have at least 1 properties"]],
    [{ maxProperties: 0 }, { a: 1 }, ["/: must have at most 0 properties"]],
    [{ additionalProperties: false }, { a: 1 }, ["/a: is not allowed"]],
    [{ additionalProperties: { type: "string" } }, { a: 1, b: "" }, ["/a: must be string"]],
    [{ patternProperties: { "^a": { type: "string" } } }, { ab: 1 }, ["/ab: must be string"]],
    [{ propertyNames: { pattern: "^a" } }, { b: 1 }, ['/: property name "b" is not allowed']],
    [{ dependentRequired: { a: ["b"] } }, { a: 1 }, ['/: property "b" is required beside the others']],
    [{ dependencies: { a: ["b"] } }, { a: 1 }, ['/: property "b" is required beside the others']],
    [{ dependencies: { a: { required: ["b"] } } }, { a: 1 }, ['/: required property "b" is missing']],
    [{ dependentSchemas: { a: { required: ["b"] } } }, { a: 1 }, ['/: required property "b" is missing']],
    [{ items: { type: "string" } }, ["", 1, 2], ["/1: must be string", "/2: must be string"]],
    [{ prefixItems: [{ type: "string" }], items: false }, [1, 2], ["/0: must be string", "/1: is not allowed"]],
    [{ contains: { type: "string" } }, [1, 2], ["/: must hold an item that fits the schema under contains"]],
    [
      { contains: { type: "string" }, minContains: 2 },
      ["", 1],
      ["/: must hold at least 2 items that fit the schema under contains"],
    ],
    [
      { contains: { type: "string" }, maxContains: 1 },
      ["", ""],
      ["/: must hold at most 1 items that fit the schema under contains"],
    ],
    [{ not: { type: "string" } }, "", ["/: must not fit the schema under not"]],
    [conditional, { a: 1 }, ['/: required property "b" is missing']],
    [conditional, {}, ['/: required property "c" is missing']],
    [{ allOf: [{ type: "string" }, { minLength: 2 }] }, "a", ["/: must have at least 2 characters"]],
    [{ allOf: [{ type: "string" }, { type: "string" }] }, 1, ["/: must be string"]],
    [{ properties: { a: { type: "string" } }, unevaluatedProperties: false }, { b: 1 }, ["/b: is not allowed"]],
    [{ properties: { a: { type: "string" } }, unevaluatedProperties: false }, { a: 1 }, ["/a: must be string"]],
    [{ $ref: "#/$defs/a", $defs: { a: { type: "string" } } }, 1, ["/: must be string"]],
    [
      { properties: { "a/b~ %#": { items: { type: "string" } } } },
      { "a/b~ %#": [1] },
      ["/a~1b~0 %#/0: must be string"],
    ],
    [{ properties: { contains: { items: { type: "string" } } } }, { contains: [1] }, ["/contains/0: must be string"]],
    [true, 1, []],
    [false, 1, ["/: is not allowed"]],
    [{ properties: { a: true, b: false } }, { a: 1, b: 2 }, ["/b: is not allowed"]],
  ])("%j on %j", (schema, value, expected) => {
    expect(issues(schema, value)).toEqual(expected);
  });

  test("only causes are reported, with the path of the value that has to change", () => {
    const schema = {
      type: "object",
      properties: { a: { $ref: "#/$defs/node" }, b: { type: "number" } },
      required: ["a", "c"],
      additionalProperties: false,
      $defs: { node: { properties: { next: { $ref: "#/$defs/node" }, size: { type: "integer", minimum: 1 } } } },
    };
    expect(issues(schema, { a: { next: { next: { size: 0 } } }, b: "x", d: 1 })).toEqual([
      '/: required property "c" is missing',
      "/a/next/next/size: must be at least 1",
      "/b: must be number",
      "/d: is not allowed",
    ]);
  });

  test("a property called __proto__ is a property like any other", () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"}},"additionalProperties":false}',
    ) as JsonSchema;
    expect(issues(schema, JSON.parse('{"__proto__":1}'))).toEqual(["/__proto__: must be string"]);
    expect(issues(schema, JSON.parse('{"__proto__":"a"}'))).toEqual([]);
    expect(issues({ additionalProperties: false }, JSON.parse('{"__proto__":1}'))).toEqual([
      "/__proto__: is not allowed",
    ]);
    expect(issues({ required: ["toString"] }, {})).toHaveLength(1);
  });

  test("at most 8 issues, and never more than 80 characters of the peer's own text", () => {
    const schema = { additionalProperties: false, propertyNames: { maxLength: 80 } };
    const value = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`p${index}`, 1]));
    expect(issues(schema, value)).toHaveLength(8);
    const [message] = compileJsonSchema(schema)({ ["x".repeat(10_000)]: 1 }).issues ?? [];
    expect(message?.message).toBe(`property name "${"x".repeat(79)}…" is not allowed`);
    const secret = "s3cret-value";
    expect(JSON.stringify(issues({ enum: ["a"], type: "number", minLength: 99, pattern: "^z" }, secret))).not.toContain(
      secret,
    );
    expect(JSON.stringify(issues({ minimum: 10 }, 4242 - 4241 + 0.123))).not.toContain("0.123");
  });

  test("a hundred thousand wrong items give 8 issues, quickly", () => {
    const wrong = Array.from({ length: 100_000 }, () => 1);
    expect(issues({ properties: { a: { items: { type: "string" } } } }, { a: wrong })).not.toHaveLength(0);
    expect(issues({ properties: { a: { items: { type: "string" } } } }, { a: wrong }).length).toBeLessThanOrEqual(8);
  });

  test.each([undefined, () => 1, Symbol("x"), 1n, { a: undefined }])(
    "what JSON cannot express is an issue: %s",
    (value) => {
      const [issue] =
        compileJsonSchema({ type: "object", properties: { a: {} }, additionalProperties: { type: "string" } })(value)
          .issues ?? [];
      expect(issue).toEqual({ path: "", message: "holds something that JSON cannot express" });
    },
  );
});

describe("alternatives", () => {
  const shape = {
    oneOf: [
      {
        type: "object",
        properties: { kind: { const: "circle" }, radius: { type: "number" } },
        required: ["kind", "radius"],
      },
      { type: "object", properties: { kind: { const: "box" }, side: { type: "number" } }, required: ["kind", "side"] },
    ],
  };

  test("plain types and values are named together", () => {
    expect(issues({ anyOf: [{ type: "string" }, { type: "number" }] }, null)).toEqual(["/: must be string or number"]);
    expect(issues({ anyOf: [{ const: "a" }, { const: "b" }, { type: "null" }] }, 1)).toEqual([
      '/: must be "a" or "b" or null',
    ]);
  });

  test("of a tagged union the alternative with the right tag is reported", () => {
    expect(issues(shape, { kind: "box", side: "1" })).toEqual(["/side: must be number"]);
    expect(issues(shape, { kind: "circle" })).toEqual(['/: required property "radius" is missing']);
  });

  test("the alternative of the right type is reported", () => {
    expect(issues({ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, [1])).toEqual([
      "/0: must be string",
    ]);
  });

  test("too many matches are told apart from none", () => {
    expect(issues({ oneOf: [{ type: "number" }, { minimum: 0 }, { type: "string" }] }, 1)).toEqual([
      "/: must match exactly one of several alternatives, not 2",
    ]);
  });

  test("an issue after a union is still reported", () => {
    expect(
      issues({ properties: { a: { anyOf: [{ type: "string" }, false] }, b: { type: "string" } } }, { a: 1, b: 1 }),
    ).toContain("/b: must be string");
  });
});

describe("the work for one value is bounded", () => {
  test("a reference that leads to itself is an issue, not an endless loop", () => {
    expect(issues({ $ref: "#" }, 1)).toHaveLength(1);
    expect(issues({ anyOf: [{ $ref: "#" }, { $ref: "#" }] }, 1)).toHaveLength(1);
  });

  test("references that double at every step end with an issue", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [
        `d${index}`,
        { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
      ]),
    );
    expect(issues({ $ref: "#/$defs/d0", $defs: { ...$defs, d50: {} } }, 1)).toEqual([
      "/: is too large to be checked against this schema",
    ]);
  });

  test("alternatives that double at every level of the value end with an issue", () => {
    const schema = { properties: { a: { anyOf: [{ $ref: "#" }, { $ref: "#" }] } } };
    const value = Array.from({ length: 60 }).reduce((a) => ({ a }), {});
    expect(issues(schema, value)).toEqual(["/: is too large to be checked against this schema"]);
    expect(issues(schema, { a: { a: {} } })).toEqual([]);
  });

  test("a value nested too deeply for a recursive schema is an issue", () => {
    const value = Array.from({ length: 50_000 }).reduce((a) => [a], []);
    expect(issues({ items: { $ref: "#" } }, value)).toHaveLength(1);
  });

  test("D9: unique items are compared for 2,048 items at most", () => {
    const numbers = Array.from({ length: 2049 }, (_, index) => index);
    expect(issues({ uniqueItems: true }, numbers.slice(1))).toEqual([]);
    expect(issues({ uniqueItems: true }, numbers)).toEqual(["/: must have at most 2048 items"]);
    expect(issues({ uniqueItems: false }, numbers)).toEqual([]);
  });
});

test("the schema is neither changed nor kept", () => {
  const schema = { type: "object", properties: { a: { $ref: "#/$defs/b" } }, $defs: { b: { type: "string" } } };
  const frozen = JSON.stringify(schema);
  const check = compileJsonSchema(Object.freeze(schema));
  expect(JSON.stringify(schema)).toBe(frozen);
  expect(Object.getOwnPropertyNames(schema.$defs.b)).toEqual(["type"]);
  schema.$defs.b.type = "number";
  expect(check({ a: "text" })).toEqual({ value: { a: "text" } });
});
