import { describe, expect, test } from "vitest";
import { compileJsonSchema } from "./json-schema.ts";
import { formatIssue } from "./schema.ts";
import type { JsonSchema } from "./schema.ts";

const issues = (schema: JsonSchema | boolean, value: unknown): string[] =>
  (compileJsonSchema(schema)(value).issues ?? []).map(formatIssue);

/** What is said of a value of the wrong type. "nothing" is the type that a schema of `false` asks for. */
const notA = (actual: string, expected: string): string =>
  `Instance type "${actual}" is invalid. Expected "${expected}".`;

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
    [{ properties: { location: { type: "string" } } }, { location: 1 }, [`/location: ${notA("number", "string")}`]],
    [{ required: ["location"] }, {}, ['/: Instance does not have required property "location".']],
    [{ type: ["string", "null"] }, 1, [`/: ${notA("number", 'string", "null')}`]],
    [{ type: "integer" }, 1.5, [`/: ${notA("number", "integer")}`]],
    [{ const: { a: 1 } }, {}, ['/: Instance does not match {"a":1}.']],
    [{ enum: ["a", 1, null] }, "b", ['/: Instance does not match any of ["a",1,null].']],
    [{ minimum: 3 }, 2, ["/: Number is less than 3."]],
    [{ maximum: 3 }, 4, ["/: Number is greater than 3."]],
    [{ exclusiveMinimum: 3 }, 3, ["/: Number is not greater than 3."]],
    [{ exclusiveMaximum: 3 }, 3, ["/: Number is greater than or equal to 3."]],
    [{ multipleOf: 0.01 }, 0.015, ["/: Number is not a multiple of 0.01."]],
    [{ minLength: 2 }, "😀", ["/: String is too short (1 < 2)."]],
    [{ maxLength: 2 }, "abc", ["/: String is too long (3 > 2)."]],
    [{ pattern: "^a" }, "b", ["/: String does not match pattern."]],
    [{ format: "email" }, "b", ['/: String does not match format "email".']],
    [{ minItems: 1 }, [], ["/: Array has too few items (0 < 1)."]],
    [{ maxItems: 1 }, [1, 2], ["/: Array has too many items (2 > 1)."]],
    [{ uniqueItems: true }, [{ a: 1 }, { a: 1 }], ["/: Duplicate items at indexes 0 and 1."]],
    [{ minProperties: 1 }, {}, ["/: Instance does not have at least 1 properties."]],
    [{ maxProperties: 0 }, { a: 1 }, ["/: Instance does not have at most 0 properties."]],
    [{ additionalProperties: false }, { a: 1 }, [`/a: ${notA("number", "nothing")}`]],
    [{ additionalProperties: { type: "string" } }, { a: 1, b: "" }, [`/a: ${notA("number", "string")}`]],
    [{ patternProperties: { "^a": { type: "string" } } }, { ab: 1 }, [`/ab: ${notA("number", "string")}`]],
    [{ propertyNames: { pattern: "^a" } }, { b: 1 }, ['/: Property name "b" does not match schema.']],
    [{ dependentRequired: { a: ["b"] } }, { a: 1 }, ['/: Instance has "a" but does not have "b".']],
    [{ dependencies: { a: ["b"] } }, { a: 1 }, ['/: Instance has "a" but does not have "b".']],
    [{ dependencies: { a: { required: ["b"] } } }, { a: 1 }, ['/: Instance does not have required property "b".']],
    [{ dependentSchemas: { a: { required: ["b"] } } }, { a: 1 }, ['/: Instance does not have required property "b".']],
    [{ items: { type: "string" } }, ["", 1, 2], [`/1: ${notA("number", "string")}`, `/2: ${notA("number", "string")}`]],
    [
      { prefixItems: [{ type: "string" }], items: false },
      [1, 2],
      [`/0: ${notA("number", "string")}`, `/1: ${notA("number", "nothing")}`],
    ],
    [{ contains: { type: "string" } }, [1, 2], ["/: Array does not contain item matching schema."]],
    [
      { contains: { type: "string" }, minContains: 2 },
      ["", 1],
      [
        `/1: ${notA("number", "string")}`,
        "/: Array must contain at least 2 items matching schema. Only 1 items were found.",
      ],
    ],
    [
      { contains: { type: "string" }, maxContains: 1 },
      ["", ""],
      ["/: Array may contain at most 1 items matching schema. 2 items were found."],
    ],
    [{ not: { type: "string" } }, "", ['/: Instance matched "not" schema.']],
    [conditional, { a: 1 }, ['/: Instance does not have required property "b".']],
    [conditional, {}, ['/: Instance does not have required property "c".']],
    [{ allOf: [{ type: "string" }, { minLength: 2 }] }, "a", ["/: String is too short (1 < 2)."]],
    [{ allOf: [{ type: "string" }, { type: "string" }] }, 1, [`/: ${notA("number", "string")}`]],
    [
      { properties: { a: { type: "string" } }, unevaluatedProperties: false },
      { b: 1 },
      [`/b: ${notA("number", "nothing")}`],
    ],
    [
      { properties: { a: { type: "string" } }, unevaluatedProperties: false },
      { a: 1 },
      [`/a: ${notA("number", "string")}`],
    ],
    [{ $ref: "#/$defs/a", $defs: { a: { type: "string" } } }, 1, [`/: ${notA("number", "string")}`]],
    [
      { properties: { "a/b~ %#": { items: { type: "string" } } } },
      { "a/b~ %#": [1] },
      [`/a~1b~0 %#/0: ${notA("number", "string")}`],
    ],
    [
      { properties: { contains: { items: { type: "string" } } } },
      { contains: [1] },
      [`/contains/0: ${notA("number", "string")}`],
    ],
    [true, 1, []],
    [false, 1, [`/: ${notA("number", "nothing")}`]],
    [{ properties: { a: true, b: false } }, { a: 1, b: 2 }, [`/b: ${notA("number", "nothing")}`]],
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
      '/: Instance does not have required property "c".',
      "/a/next/next/size: Number is less than 1.",
      `/b: ${notA("string", "number")}`,
      `/d: ${notA("number", "nothing")}`,
    ]);
  });

  test("a property called __proto__ is a property like any other", () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"}},"additionalProperties":false}',
    ) as JsonSchema;
    expect(issues(schema, JSON.parse('{"__proto__":1}'))).toEqual([`/__proto__: ${notA("number", "string")}`]);
    expect(issues(schema, JSON.parse('{"__proto__":"a"}'))).toEqual([]);
    expect(issues({ additionalProperties: false }, JSON.parse('{"__proto__":1}'))).toEqual([
      `/__proto__: ${notA("number", "nothing")}`,
    ]);
    expect(issues({ required: ["toString"] }, {})).toHaveLength(1);
  });

  test("at most 8 issues, and never more than 80 characters of the peer's own text", () => {
    const schema = { additionalProperties: false, propertyNames: { maxLength: 80 } };
    const value = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`p${index}`, 1]));
    expect(issues(schema, value)).toHaveLength(8);
    const [message] = compileJsonSchema(schema)({ ["x".repeat(10_000)]: 1 }).issues ?? [];
    expect(message?.message).toBe(`Property name "${"x".repeat(64)}…`);
    const secret = "s3cret-value";
    expect(JSON.stringify(issues({ enum: ["a"], type: "number", minLength: 99, pattern: "^z" }, secret))).not.toContain(
      secret,
    );
    const numeric = { minimum: 10, exclusiveMinimum: 10, maximum: -9, exclusiveMaximum: -9, multipleOf: 3 };
    for (const number of [1.123, -1.123, 1.123e-7, 1.123e30, -1.123e30]) {
      const reported = issues(numeric, number);
      expect(reported.length).toBeGreaterThan(2);
      expect(JSON.stringify(reported)).not.toContain("1.123");
    }
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
      expect(issue).toEqual({
        path: "",
        message: expect.stringMatching(/^Cannot be checked\. Instances of "\w+"/) as string,
      });
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

  const noneFits = "/: Instance does not match exactly one subschema (0 matches).";

  test("plain types and values are named together", () => {
    expect(issues({ anyOf: [{ type: "string" }, { type: "number" }] }, null)).toEqual([
      "/: Instance does not match any subschemas.",
      `/: ${notA("null", "string")}`,
      `/: ${notA("null", "number")}`,
    ]);
    expect(issues({ anyOf: [{ const: "a" }, { const: "b" }, { type: "null" }] }, 1)).toEqual([
      "/: Instance does not match any subschemas.",
      '/: Instance does not match "a".',
      '/: Instance does not match "b".',
      `/: ${notA("number", "null")}`,
    ]);
  });

  test("of a tagged union the alternative with the right tag is reported", () => {
    expect(issues(shape, { kind: "box", side: "1" })).toEqual([noneFits, `/side: ${notA("string", "number")}`]);
    expect(issues(shape, { kind: "circle" })).toEqual([
      noneFits,
      '/: Instance does not have required property "radius".',
    ]);
  });

  test("the alternative of the right type is reported", () => {
    expect(issues({ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, [1])).toEqual([
      "/: Instance does not match any subschemas.",
      `/0: ${notA("number", "string")}`,
    ]);
  });

  test("without an alternative that comes close, what each of them misses is reported", () => {
    const reported = issues(shape, { kind: "line" });
    expect(reported).toContain('/kind: Instance does not match "circle".');
    expect(reported).toContain('/kind: Instance does not match "box".');
  });

  test("too many matches are told apart from none", () => {
    expect(issues({ oneOf: [{ type: "number" }, { minimum: 0 }, { type: "string" }] }, 1)).toEqual([
      "/: Instance does not match exactly one subschema (2 matches).",
    ]);
  });

  test("an issue after a union is still reported", () => {
    expect(
      issues({ properties: { a: { anyOf: [{ type: "string" }, false] }, b: { type: "string" } } }, { a: 1, b: 1 }),
    ).toContain(`/b: ${notA("number", "string")}`);
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
      "/: Cannot be checked. It is too large for this schema.",
    ]);
  });

  test("alternatives that double at every level of the value end with an issue", () => {
    const schema = { properties: { a: { anyOf: [{ $ref: "#" }, { $ref: "#" }] } } };
    const value = Array.from({ length: 60 }).reduce((a) => ({ a }), {});
    expect(issues(schema, value)).toEqual(["/: Cannot be checked. It is too large for this schema."]);
    expect(issues(schema, { a: { a: {} } })).toEqual([]);
  });

  test('the format "url", which no dialect has and which takes exponential time, is not checked', () => {
    expect(issues({ format: "url" }, `http://${"a".repeat(50)}`)).toEqual([]);
  });

  test("the right alternative is found in little time, whatever there is to report", () => {
    const schema = { items: { anyOf: [{ type: "string" }, { type: "object", required: ["a"] }] } };
    expect(
      issues(
        schema,
        Array.from({ length: 20_000 }, () => 1),
      ),
    ).toHaveLength(8);
  });

  test("a value nested too deeply for a recursive schema is an issue", () => {
    const value = Array.from({ length: 50_000 }).reduce((a) => [a], []);
    expect(issues({ items: { $ref: "#" } }, value)).toHaveLength(1);
  });

  test("D9: unique items are compared for 2,048 items at most", () => {
    const numbers = Array.from({ length: 2049 }, (_, index) => index);
    expect(issues({ uniqueItems: true }, numbers.slice(1))).toEqual([]);
    expect(issues({ uniqueItems: true }, numbers)).toEqual(["/: Array has too many items (2049 > 2048)."]);
    expect(issues({ uniqueItems: true, maxItems: "many" }, numbers)).toHaveLength(1);
    expect(issues({ uniqueItems: true, maxItems: 1 }, [1, 2])).toHaveLength(1);
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
