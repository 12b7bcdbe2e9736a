import { describe, expect, test } from "vitest";
import { type JsonSchema, formatIssue } from "../schema.ts";
import { compileJsonSchema } from "mcparley-tests/support/compile-json-schema.ts";

const issues = (schema: JsonSchema | boolean, value: unknown): string[] =>
  (compileJsonSchema(schema)(value).issues ?? []).map(formatIssue);

/** As text, because the linter takes an object with a `then` for a promise. */
const conditional = JSON.parse(
  '{ "if": { "required": ["a"] }, "then": { "required": ["b"] }, "else": { "required": ["c"] } }',
) as JsonSchema;

describe("issues of one keyword", () => {
  test.each<[JsonSchema | boolean, unknown, string[]]>([
    [{ properties: { a: { type: "string" } } }, { a: 1 }, ["/a: must be string, not number"]],
    [{ required: ["a"] }, {}, ['/: must have the property "a"']],
    [{ type: ["string", "null"] }, 1, ["/: must be string or null, not number"]],
    [{ type: "integer" }, 1.5, ["/: must be integer, not number"]],
    [{ type: "string" }, null, ["/: must be string, not null"]],
    [{ type: "object" }, [], ["/: must be object, not array"]],
    [{ const: { a: 1 } }, {}, ['/: must be {"a":1}']],
    [{ enum: ["a", 1, null] }, "b", ['/: must be one of ["a",1,null]']],
    [{ minimum: 3 }, 2, ["/: must be at least 3"]],
    [{ maximum: 3 }, 4, ["/: must be at most 3"]],
    [{ exclusiveMinimum: 3 }, 3, ["/: must be greater than 3"]],
    [{ exclusiveMaximum: 3 }, 3, ["/: must be less than 3"]],
    [{ multipleOf: 0.01 }, 0.015, ["/: must be a multiple of 0.01"]],
    [{ minLength: 2 }, "😀", ["/: must have at least 2 characters"]],
    [{ maxLength: 2 }, "abc", ["/: must have at most 2 characters"]],
    [{ pattern: "^a" }, "b", ["/: must match the pattern ^a"]],
    [{ format: "email" }, "b", ["/: must be a valid email"]],
    [{ minItems: 1 }, [], ["/: must have at least 1 item"]],
    [{ maxItems: 2 }, [1, 2, 3], ["/: must have at most 2 items"]],
    [{ uniqueItems: true }, [{ a: 1 }, 2, { a: 1 }], ["/: must not have the same item twice; see index 2"]],
    [{ minProperties: 1 }, {}, ["/: must have at least 1 property"]],
    [{ maxProperties: 0 }, { a: 1 }, ["/: must have at most 0 properties"]],
    [{ additionalProperties: false }, { a: 1 }, ["/a: is not a known property"]],
    [{ additionalProperties: { type: "string" } }, { a: 1, b: "" }, ["/a: must be string, not number"]],
    [{ patternProperties: { "^a": { type: "string" } } }, { ab: 1 }, ["/ab: must be string, not number"]],
    [{ propertyNames: { pattern: "^a" } }, { b: 1 }, ['/: must not have a property named "b"']],
    [{ dependentRequired: { a: ["b"] } }, { a: 1 }, ['/: must have the property "b" if it has "a"']],
    [{ dependencies: { a: ["b"] } }, { a: 1 }, ['/: must have the property "b" if it has "a"']],
    [{ dependencies: { a: { required: ["b"] } } }, { a: 1 }, ['/: must have the property "b"']],
    [{ dependentSchemas: { a: { required: ["b"] } } }, { a: 1 }, ['/: must have the property "b"']],
    [{ items: { type: "string" } }, ["", 1, 2], ["/1: must be string, not number", "/2: must be string, not number"]],
    [{ prefixItems: [true], items: false }, [1, 2], ["/1: is not allowed"]],
    [{ contains: { const: 3 } }, [1, 2], ['/: must have at least 1 item that match the schema in "contains", not 0']],
    [
      { contains: { const: 1 }, minContains: 2 },
      [1, 2],
      ['/: must have at least 2 items that match the schema in "contains", not 1'],
    ],
    [
      { contains: { const: 1 }, maxContains: 1 },
      [1, 1],
      ['/: must have at most 1 item that match the schema in "contains", not 2'],
    ],
    [{ not: { type: "string" } }, "", ['/: must not match the schema in "not"']],
    [conditional, { a: 1 }, ['/: must have the property "b"']],
    [conditional, {}, ['/: must have the property "c"']],
    [{ allOf: [{ type: "string" }, { minLength: 2 }] }, "a", ["/: must have at least 2 characters"]],
    [{ allOf: [{ type: "string" }, { type: "string" }] }, 1, ["/: must be string, not number"]],
    [{ properties: { a: true }, unevaluatedProperties: false }, { b: 1 }, ["/b: is not a known property"]],
    [
      { properties: { a: { type: "string" } }, unevaluatedProperties: false },
      { a: 1 },
      ["/a: must be string, not number"],
    ],
    [{ prefixItems: [true], unevaluatedItems: false }, [1, 2], ["/1: is not allowed"]],
    [{ $ref: "#/$defs/a", $defs: { a: { type: "string" } } }, 1, ["/: must be string, not number"]],
    [
      { properties: { "a/b~ %#": { items: { type: "string" } } } },
      { "a/b~ %#": [1] },
      ["/a~1b~0 %#/0: must be string, not number"],
    ],
    [true, 1, []],
    [false, 1, ["/: is not allowed"]],
    [{ properties: { a: true, b: false } }, { a: 1, b: 2 }, ["/b: is not allowed"]],
  ])("%j reports the issues of %j", (schema, value, expected) => {
    expect(issues(schema, value)).toEqual(expected);
  });

  test("returns a valid value unchanged", () => {
    const value = { a: [1, { b: null }] };
    expect(compileJsonSchema({ type: "object" })(value)).toHaveProperty("value", value);
  });

  test.each([
    [0.0075, 0.0001, true],
    [0.00751, 0.0001, false],
    [19.99, 0.01, true],
    [4.35, 0.01, true],
    [1e308, 0.5, true],
    [12_391_239_123, 1e-8, true],
    [9_007_199_254_740_991, 3, false],
    [7, 2, false],
    [-6, 2, true],
  ])("%d as a multiple of %d is %s", (value, multipleOf, expected) => {
    expect(issues({ multipleOf }, value).length === 0).toBe(expected);
  });

  test("reports every issue with the path of the invalid value", () => {
    const schema = {
      type: "object",
      properties: { a: { $ref: "#/$defs/node" }, b: { type: "number" } },
      required: ["a", "c"],
      additionalProperties: false,
      $defs: { node: { properties: { next: { $ref: "#/$defs/node" }, size: { type: "integer", minimum: 1 } } } },
    };
    expect(issues(schema, { a: { next: { next: { size: 0 } } }, b: "x", d: 1 })).toEqual([
      '/: must have the property "c"',
      "/a/next/next/size: must be at least 1",
      "/b: must be number, not string",
      "/d: is not a known property",
    ]);
  });

  test("treats __proto__ and toString as ordinary property names", () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string"}},"additionalProperties":false}') as object;
    expect(issues({ ...schema }, JSON.parse('{"__proto__":1}'))).toEqual(["/__proto__: must be string, not number"]);
    expect(issues({ ...schema }, JSON.parse('{"__proto__":"a"}'))).toEqual([]);
    expect(issues({ additionalProperties: false }, JSON.parse('{"__proto__":1}'))).toEqual([
      "/__proto__: is not a known property",
    ]);
    expect(issues({ required: ["toString"] }, {})).toHaveLength(1);
  });

  test.each([undefined, () => 1, Symbol("x"), 1n, { a: undefined }])(
    "refuses %s, which JSON does not have",
    (value) => {
      expect(compileJsonSchema({ properties: { a: {} } })(value).issues).toEqual([
        { path: expect.stringMatching(/^(\/a)?$/) as string, message: "is not a JSON value" },
      ]);
    },
  );
});

describe("size of the report", () => {
  test("reports at most 20 issues", () => {
    const properties = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`p${index}`, 1]));
    expect(issues({ additionalProperties: false }, properties)).toHaveLength(20);
    delete properties["p20"];
    delete properties["p19"];
    expect(issues({ additionalProperties: false }, properties)).toHaveLength(19);
  });

  test("repeats at most 80 characters of a name", () => {
    const [named] = compileJsonSchema({ propertyNames: { maxLength: 80 } })({ ["x".repeat(10_000)]: 1 }).issues ?? [];
    expect(named?.message).toBe(`must not have a property named "${"x".repeat(79)}…"`);
    const [below] = compileJsonSchema({ additionalProperties: false })({ ["x".repeat(10_000)]: 1 }).issues ?? [];
    expect(below?.path).toHaveLength(81);
  });

  test("never repeats a value, which may be a secret", () => {
    const secret = "s3cret-value";
    const strict = { enum: ["a"], type: "number", minLength: 99, pattern: "^z", format: "uuid" };
    expect(JSON.stringify(issues(strict, secret))).not.toContain(secret);
    const numeric = { minimum: 10, exclusiveMinimum: 10, maximum: -9, exclusiveMaximum: -9, multipleOf: 3 };
    for (const number of [1.123, -1.123, 1.123e-7, 1.123e30, -1.123e30]) {
      expect(issues(numeric, number).length).toBeGreaterThan(2);
      expect(JSON.stringify(issues(numeric, number))).not.toContain("1.123");
    }
  });

  test("shortens a long list of allowed values to 300 characters", () => {
    const [issue] = compileJsonSchema({ enum: Array.from({ length: 1000 }, (_, index) => index) })(-1).issues ?? [];
    expect(issue?.message).toHaveLength(300);
  });
});

describe("issues of alternatives", () => {
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

  test("reports the alternative with the same tag", () => {
    expect(issues(shape, { kind: "box", side: "1" })).toEqual([
      "/: must match exactly one of 2 alternatives",
      "/side: must be number, not string",
    ]);
  });

  test("reports the alternative of the same type", () => {
    expect(issues({ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, [1])).toEqual([
      "/: must match at least one of 2 alternatives",
      "/0: must be string, not number",
    ]);
  });

  test("reports all alternatives if no alternative is close", () => {
    expect(issues(shape, { kind: "line" })).toEqual(
      expect.arrayContaining(['/kind: must be "circle"', '/kind: must be "box"']),
    );
    expect(issues({ anyOf: [{ type: "string" }, { type: "number" }] }, null)).toEqual([
      "/: must match at least one of 2 alternatives",
      "/: must be string, not null",
      "/: must be number, not null",
    ]);
  });

  test("distinguishes several matches of oneOf from no match", () => {
    expect(issues({ oneOf: [{ type: "number" }, { minimum: 0 }, { type: "string" }] }, 1)).toEqual([
      "/: must match exactly one of the 3 alternatives, but matches several",
    ]);
  });

  test("reports an issue after a union", () => {
    const schema = { properties: { a: { anyOf: [{ type: "string" }, false] }, b: { type: "string" } } };
    expect(issues(schema, { a: 1, b: 1 })).toContain("/b: must be string, not number");
  });
});

test("does not change the schema, and ignores later changes of it", () => {
  const schema = { type: "object", properties: { a: { $ref: "#/$defs/b" } }, $defs: { b: { type: "string" } } };
  const before = JSON.stringify(schema);
  const validate = compileJsonSchema(Object.freeze(schema));
  expect(JSON.stringify(schema)).toBe(before);
  schema.$defs.b.type = "number";
  expect(validate({ a: "text" })).toEqual({ value: { a: "text" } });
});

describe("values of an enum, a constant and a list of different items", () => {
  const circle = { kind: "circle", radius: 100 };

  test.each<[string, JsonSchema, unknown]>([
    ["an object before a shorter one", { enum: [circle, {}] }, circle],
    ["an object after a shorter one", { enum: [{}, circle] }, circle],
    ["the shorter object", { enum: [circle, {}] }, {}],
    ["a list before a shorter one", { enum: [[1, [2, 3]], []] }, [1, [2, 3]]],
    [
      "an object with its members in another order",
      { enum: [{ a: 1, b: { c: 2, d: 3 } }] },
      { b: { d: 3, c: 2 }, a: 1 },
    ],
    ["a constant with its members in another order", { const: { a: 1, b: 2 } }, { b: 2, a: 1 }],
    ["a primitive beside an object", { enum: [circle, "a", null] }, null],
    ["texts that look like objects", { enum: ["{}"] }, "{}"],
    ["different objects in a list", { uniqueItems: true }, [{ a: 1 }, { a: 2 }, { b: 1 }, [1], "[1,]"]],
  ])("%s is accepted", (_, schema, value) => {
    expect(issues(schema, value)).toEqual([]);
  });

  test.each<[string, JsonSchema, unknown]>([
    ["an object with one member more", { enum: [circle, {}] }, { ...circle, x: 1 }],
    ["an object with one member less", { enum: [circle] }, { kind: "circle" }],
    ["a list with one item more", { enum: [[1]] }, [1, 1]],
    ["the text of an object", { enum: [{}] }, "{}"],
    [
      "an object in another order twice",
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ])("%s is refused", (_, schema, value) => {
    expect(issues(schema, value)).toHaveLength(1);
  });
});

test.each([
  ["maxLength", 2, "😀😀", true],
  ["maxLength", 2, "😀😀a", false],
  ["maxLength", 2, "😀ab", false],
  ["maxLength", 1, "😀", true],
  ["minLength", 3, "😀😀", false],
  ["minLength", 2, "😀😀", true],
  ["minLength", 3, "😀😀a", true],
])("%s %i counts characters and not their halves: %j", (keyword, limit, value, isValid) => {
  expect(issues({ [keyword]: limit }, value)).toHaveLength(isValid ? 0 : 1);
});
