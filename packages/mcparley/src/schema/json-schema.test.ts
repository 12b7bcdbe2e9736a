import { describe, expect, test } from "vitest";
import { compileJsonSchema } from "./json-schema.ts";
import { SchemaError, formatIssue } from "./schema.ts";
import type { JsonSchema } from "./schema.ts";

const issues = (schema: JsonSchema | boolean, value: unknown): string[] =>
  (compileJsonSchema(schema)(value).issues ?? []).map(formatIssue);

const failure = (schema: unknown): SchemaError => {
  try {
    compileJsonSchema(schema as JsonSchema);
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
  throw new Error("the schema was accepted");
};

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

describe("dialects", () => {
  test.each([
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2020-12/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-04/schema#",
  ])("%s is accepted", ($schema) => {
    expect(issues({ $schema, type: "string" }, 1)).toEqual(["/: must be string"]);
  });

  test.each(["http://json-schema.org/draft-03/schema#", "https://example.com/mine", "", 7])(
    "%j is refused by name",
    ($schema) => {
      const error = failure({ $schema });
      expect(error.code).toBe("unsupported_dialect");
      expect(error.message).toContain(JSON.stringify($schema));
      expect(error.message).toContain(
        "draft/2020-12/schema, https://json-schema.org/draft/2019-09/schema, http://json-schema.org/draft-07",
      );
    },
  );

  test("a document in two dialects is refused", () => {
    const $defs = { a: { $schema: "http://json-schema.org/draft-07/schema#" } };
    expect(failure({ $defs })).toMatchObject({
      code: "unsupported_dialect",
      message: expect.stringContaining("/$defs/a") as string,
    });
  });

  test("draft-04 has exclusive bounds as flags, and id for $id", () => {
    const $schema = "http://json-schema.org/draft-04/schema#";
    expect(issues({ $schema, minimum: 3, exclusiveMinimum: true }, 3)).toEqual(["/: must be greater than 3"]);
    expect(
      issues({ $schema, items: { $ref: "item" }, definitions: { i: { id: "item", type: "string" } } }, [1]),
    ).toEqual(["/0: must be string"]);
  });

  test("up to draft-07 a $ref stands alone; later it has company", () => {
    const schema = { $ref: "#/definitions/a", minLength: 2, definitions: { a: { type: "string" } } };
    expect(issues({ ...schema, $schema: "http://json-schema.org/draft-07/schema#" }, "a")).toEqual([]);
    expect(issues(schema, "a")).toEqual(["/: must have at least 2 characters"]);
  });

  test("a list of items from before 2020-12 is understood", () => {
    expect(issues({ items: [{ type: "string" }], additionalItems: false }, ["a", 1])).toEqual(["/1: is not allowed"]);
  });
});

describe("references", () => {
  test.each<[string, JsonSchema]>([
    ["the root", { items: { $ref: "#" }, type: ["array", "string"] }],
    ["a pointer", { items: { $ref: "#/$defs/a" }, $defs: { a: { type: "string" } } }],
    ["a pointer with escapes", { items: { $ref: "#/$defs/a~1b%20c%25" }, $defs: { "a/b c%": { type: "string" } } }],
    ["an anchor", { items: { $ref: "#a" }, $defs: { a: { $anchor: "a", type: "string" } } }],
    ["an $id", { items: { $ref: "a.json" }, $defs: { a: { $id: "a.json", type: "string" } } }],
    [
      "an $id and a pointer",
      { items: { $ref: "a.json#/$defs/b" }, $defs: { a: { $id: "a.json", $defs: { b: { type: "string" } } } } },
    ],
    [
      "an absolute $id",
      {
        $id: "https://example.com/root.json",
        items: { $ref: "https://example.com/a.json" },
        $defs: { a: { $id: "a.json", type: "string" } },
      },
    ],
    ["a URN", { items: { $ref: "urn:example:a" }, $defs: { a: { $id: "urn:example:a", type: "string" } } }],
    [
      "a pointer within an $id",
      { items: { $ref: "a" }, $defs: { a: { $id: "a", $ref: "#/$defs/b", $defs: { b: { type: "string" } } } } },
    ],
    ["a keyword of the author's own", { items: { $ref: "#/components/a" }, components: { a: { type: "string" } } }],
    ["$dynamicRef", { items: { $dynamicRef: "#a" }, $defs: { a: { $dynamicAnchor: "a", type: "string" } } }],
    [
      "$dynamicRef beside $ref",
      { items: { $ref: "#/$defs/b", $dynamicRef: "#a" }, $defs: { a: { $dynamicAnchor: "a", type: "string" }, b: {} } },
    ],
    ["$recursiveRef", { type: ["array", "string"], $recursiveAnchor: true, items: { $recursiveRef: "#" } }],
  ])("to %s are followed", (_, schema) => {
    expect(issues(schema, ["a"])).toEqual([]);
    expect(issues(schema, [1])).toHaveLength(1);
  });

  test.each([
    "https://example.com/schema.json",
    "http://169.254.169.254/latest/meta-data",
    "file:///etc/passwd",
    "other.json",
    "other.json#/$defs/a",
    "https://json-schema.org/draft/2020-12/schema",
  ])("D8: the external reference %s is refused when the schema is compiled", ($ref) => {
    for (const schema of [
      { $ref },
      { properties: { a: { items: { $ref } } } },
      { $defs: { unused: { $ref } } },
      { $dynamicRef: $ref },
    ]) {
      const error = failure(schema);
      expect(error.code).toBe("external_ref");
      expect(error.message).toContain(`"${$ref}"`);
      expect(error.message).toContain("#/$defs/<name>");
    }
  });

  test.each(["#/$defs/missing", "#missing", "#/$defs/a/type/x", "#/%E0%A4%A"])(
    "%s, leading nowhere, is refused",
    ($ref) => {
      const error = failure({ items: { $ref }, $defs: { a: { type: "string" } } });
      expect(error).toMatchObject({ code: "invalid_schema", message: expect.stringContaining($ref) as string });
    },
  );

  test("a dynamic reference that could mean several schemas is refused", () => {
    const $defs = { a: { $id: "a", $dynamicAnchor: "x" }, b: { $id: "b", $dynamicAnchor: "x" } };
    expect(failure({ $defs, items: { $dynamicRef: "a#x" } })).toMatchObject({ code: "invalid_schema" });
    expect(issues({ $defs, items: { $ref: "a#x" } }, [1])).toEqual([]);
  });

  test("annotations called id may be the same, and name nothing", () => {
    const schema = { properties: { a: { id: "x", type: "string" }, b: { id: "x" } } };
    expect(issues(schema, { a: 1, b: 1 })).toEqual(["/a: must be string"]);
    expect(failure({ ...schema, items: { $ref: "x" } }).code).toBe("external_ref");
  });

  test("an annotation called id, or a reference in a default, is no reference", () => {
    expect(
      issues(
        { id: "https://example.com/x y", type: "string", default: { $ref: "https://example.com" }, enum: ["a"] },
        "a",
      ),
    ).toEqual([]);
  });

  test("an $id that is no URI, or used twice, is refused", () => {
    expect(failure({ $id: "http://[" }).code).toBe("invalid_schema");
    expect(failure({ $defs: { a: { $id: "x" }, b: { $id: "x" } } }).code).toBe("invalid_schema");
  });
});

describe("invalid schemas are refused by the place at fault", () => {
  test.each<[unknown, string]>([
    [
      { type: "strnig" },
      '/type must be one of array, boolean, integer, null, number, object, string, or a list of them, not "strnig"',
    ],
    [{ properties: { a: { required: true } } }, "/properties/a/required must be a list of property names, not true"],
    [{ required: "name" }, '/required must be a list of property names, not "name"'],
    [{ properties: [] }, "/properties must be an object, not []"],
    [{ properties: { a: "string" } }, '/properties/a must be a schema (an object or a boolean), not "string"'],
    [{ items: 1 }, "/items must be a schema"],
    [{ allOf: {} }, "/allOf must be a list"],
    [{ allOf: [1] }, "/allOf/0 must be a schema"],
    [{ enum: "a" }, "/enum must be a list"],
    [{ minimum: "1" }, "/minimum must be a number"],
    [{ pattern: "(" }, "/pattern must be a regular expression"],
    [{ patternProperties: { "(": {} } }, "/patternProperties must be an object whose keys are regular expressions"],
    [{ $ref: 1 }, "/$ref must be a string"],
    [{ dependentRequired: { a: "b" } }, "/dependentRequired must be an object of lists"],
  ])("%j", (schema, message) => {
    const error = failure(schema);
    expect(error.code).toBe("invalid_schema");
    expect(error.message).toContain(message);
  });
});

const nest = (levels: number): JsonSchema =>
  Array.from({ length: levels }).reduce<JsonSchema>((items) => ({ items }), { type: "string" });

const wide = (count: number): JsonSchema => ({
  properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, {}])),
});

describe("bounds", () => {
  test("schemas may be nested 64 deep", () => {
    expect(issues(nest(64), [])).toEqual([]);
    expect(failure(nest(65))).toMatchObject({
      code: "too_complex",
      message: expect.stringContaining("64 levels") as string,
    });
    expect(failure(nest(100_000)).code).toBe("too_complex");
  });

  test("a schema that contains itself is refused", () => {
    const schema: Record<string, unknown> = {};
    schema["items"] = schema;
    expect(failure(schema).code).toBe("too_complex");
  });

  test("a document may hold 10,000 subschemas", () => {
    expect(issues(wide(9_999), {})).toEqual([]);
    expect(failure(wide(10_000))).toMatchObject({
      code: "too_complex",
      message: expect.stringContaining("10000") as string,
    });
  });

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
