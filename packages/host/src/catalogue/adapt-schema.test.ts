import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { adaptSchema } from "./adapt-schema.ts";
import type { ProviderName } from "./providers.ts";
import { violations } from "./testing/schema-checker.ts";

const providers: readonly ProviderName[] = ["common", "openai", "anthropic", "google"];
const at = { server: "shop", tool: "buy" };
const adapt = (schema: unknown, provider: ProviderName = "common") => adaptSchema(schema, provider, at);
/** Adapts the schema of a property. */
const property = (schema: unknown, provider: ProviderName) => {
  const adapted = adapt({ type: "object", properties: { a: schema } }, provider);
  const { properties } = adapted.schema;
  return {
    schema: Object.entries(Object(properties)).find(([name]) => name === "a")?.[1],
    losses: adapted.losses.map(({ path, keyword, effect }) => `${effect} ${path} ${keyword}`),
  };
};

describe("the outermost schema", () => {
  test.each(providers)("is an object with properties for %s", (provider) => {
    for (const schema of [{}, { type: "object" }, true, null, 7, "x", [], { type: ["object", "null"] }, { type: 5 }]) {
      expect(adapt(schema, provider).schema).toEqual({ type: "object", properties: {} });
    }
  });

  test.each(providers)("is the same with and without a keyword that is removed for %s", (provider) => {
    const simple = { type: "string", description: "A text." };
    const properties = { a: simple, b: { type: "integer", title: "B" } };
    const schemas = [
      { type: "object", properties },
      { type: "object", properties, required: ["b", "a"], title: "T", description: "D" },
      { required: ["a"], properties: { a: simple }, type: "object" },
      { type: "object", properties, required: ["a", "a"] },
      { type: "object", properties, required: ["a", "toString"] },
      { type: "object", properties, required: [] },
      { type: "object", properties, required: undefined },
      { type: "object", properties, required: 5 },
      { type: "object", properties, additionalProperties: false },
      { type: "object", properties, description: "\u200b" },
      { type: "object", properties, description: 5 },
      { type: "object", properties: { "a b": simple, ["x".repeat(65)]: simple, c: simple } },
      { type: "object", properties: { a: { ...simple, default: 5 }, b: {} } },
      { type: "object", properties: [] },
      { properties },
    ];
    for (const schema of schemas) {
      const { schema: adapted, losses } = adapt(schema, provider);
      const other = adapt({ ...schema, $comment: "" }, provider);
      expect(JSON.stringify(adapted)).toBe(JSON.stringify(other.schema));
      expect(losses).toEqual(other.losses);
    }
  });

  test.each(providers)("has the properties of all branches of a union for %s", (provider) => {
    const adapted = adapt(
      {
        type: "object",
        properties: { id: { type: "string" } },
        required: ["id"],
        oneOf: [
          { properties: { kind: { const: "url" }, url: { type: "string" } }, required: ["kind", "url"] },
          { properties: { kind: { const: "file" }, path: { type: "string" } }, required: ["kind", "path"] },
        ],
      },
      provider,
    );
    expect(adapted.schema).toMatchObject({
      type: "object",
      description: 'Send one of these sets of properties: ("kind" = "url", "url") or ("kind" = "file", "path").',
      properties: {
        id: { type: "string" },
        kind: { enum: ["url", "file"] },
        url: { type: "string" },
        path: { type: "string" },
      },
      required: ["id", "kind"],
    });
    expect(adapted.losses).toEqual([
      {
        ...at,
        path: "",
        keyword: "oneOf",
        effect: "narrower",
        change: "The branches of `oneOf` became one object with the properties of all branches.",
      },
    ]);
  });

  test.each(providers)("keeps the properties beside a union of required names for %s", (provider) => {
    const { schema } = adapt(
      {
        type: "object",
        properties: { route: { type: "string" }, file: { type: "string" } },
        anyOf: [{ required: ["route"] }, { required: ["file"] }],
      },
      provider,
    );
    expect(schema).toEqual({
      type: "object",
      description: 'Send one of these sets of properties: ("route") or ("file").',
      properties: { route: { type: "string" }, file: { type: "string" } },
    });
  });

  test.each(providers)("has the keywords of allOf and of a reference for %s", (provider) => {
    const adapted = adapt(
      {
        $ref: "#/$defs/Base",
        allOf: [{ properties: { b: { type: "integer" } }, required: ["b"] }],
        $defs: { Base: { type: "object", properties: { a: { type: "string" } }, required: ["a"] } },
      },
      provider,
    );
    const { required, ...rest } = adapted.schema;
    expect(rest).toEqual({ type: "object", properties: { a: { type: "string" }, b: { type: "integer" } } });
    expect(new Set(Array.isArray(required) ? required : [])).toEqual(new Set(["a", "b"]));
    expect(adapted.losses).toEqual([]);
  });

  test("loses not and enum for OpenAI, and keeps not for Anthropic", () => {
    const schema = { type: "object", properties: {}, not: { required: ["a"] } };
    expect(adapt(schema, "openai").losses.map(({ keyword }) => keyword)).toEqual(["not"]);
    expect(adapt(schema, "anthropic")).toEqual({ schema, losses: [] });
  });
});

describe("keywords", () => {
  test("are kept without a loss if the provider accepts them", () => {
    const schema = {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1, maxLength: 9, pattern: "^a", description: "A name." },
        count: { type: "integer", minimum: 0, maximum: 5, default: 1 },
        tags: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 3 },
        mode: { type: "string", enum: ["a", "b"] },
        nested: { type: "object", properties: { x: { type: "boolean" } }, required: ["x"] },
      },
      required: ["name"],
    };
    for (const provider of providers) expect(adapt(schema, provider)).toEqual({ schema, losses: [] });
  });

  test("that JSON Schema 2020-12 has are kept for OpenAI and Anthropic", () => {
    const schema = {
      type: "object",
      properties: {
        a: { oneOf: [{ const: 1 }, { type: ["string", "null"] }] },
        b: { type: "object", patternProperties: { "^x": { type: "string" } }, additionalProperties: false },
        c: { type: "array", prefixItems: [{ type: "string" }], items: { type: "number", exclusiveMinimum: 0 } },
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        d: { if: { type: "string" }, then: { minLength: 2 }, else: { not: { type: "null" } } },
      },
      additionalProperties: false,
    };
    for (const provider of ["openai", "anthropic"] as const)
      expect(adapt(schema, provider)).toEqual({ schema, losses: [] });
  });

  test("with an invalid value are removed and reported", () => {
    for (const provider of providers) {
      const { schema, losses } = property({ type: "string", minLength: "3", pattern: "(", enum: [] }, provider);
      expect(schema).toEqual({ type: "string" });
      expect(losses).toEqual([
        "looser /properties/a minLength",
        "looser /properties/a pattern",
        "looser /properties/a enum",
      ]);
    }
    expect(property({ type: "string[]" }, "openai")).toEqual({ schema: {}, losses: ["looser /properties/a type"] });
  });

  test("that identify a schema and vendor extensions are removed without a report", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "x",
      $comment: "y",
      "x-order": 1,
      type: "object",
    };
    for (const provider of providers) expect(adapt(schema, provider).losses).toEqual([]);
  });

  test("of older drafts become those of 2020-12", () => {
    const schema = { type: "integer", minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false };
    expect(property(schema, "anthropic")).toEqual({
      schema: { type: "integer", exclusiveMinimum: 0, maximum: 9 },
      losses: [],
    });
    const tuple = { type: "array", items: [{ type: "string" }], additionalItems: false };
    expect(property(tuple, "anthropic").schema).toEqual({
      type: "array",
      prefixItems: [{ type: "string" }],
      items: { not: {} },
    });
    expect(property({ dependencies: { x: ["y"], z: { required: ["w"] } } }, "openai").schema).toEqual({
      dependentRequired: { x: ["y"] },
      dependentSchemas: { z: { required: ["w"] } },
    });
  });
});

describe("for Google", () => {
  test("a nullable type becomes a union, without a loss", () => {
    for (const schema of [
      { type: ["string", "null"], description: "A name.", minLength: 1 },
      { anyOf: [{ type: "string", minLength: 1 }, { type: "null" }], description: "A name.", default: null },
    ]) {
      expect(property(schema, "google")).toEqual({
        schema: { anyOf: [{ type: "string", minLength: 1, description: "A name." }, { type: "null" }] },
        losses: [],
      });
    }
  });

  test("exclusive limits of integers become inclusive ones, without a loss", () => {
    const schema = { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 10 };
    expect(property(schema, "google")).toEqual({ schema: { type: "integer", minimum: 1, maximum: 9 }, losses: [] });
    expect(property({ type: "number", exclusiveMinimum: 0 }, "google")).toEqual({
      schema: { type: "number", minimum: 0 },
      losses: ["looser /properties/a exclusiveMinimum"],
    });
  });

  test("values that are no strings are named in the description", () => {
    expect(property({ enum: [1, 2] }, "google")).toEqual({
      schema: { type: "integer", description: "Allowed values: 1, 2." },
      losses: ["looser /properties/a enum"],
    });
    expect(property({ type: "string", enum: ["", "a"] }, "google").schema).toEqual({
      type: "string",
      description: 'Allowed values: "", "a".',
    });
    expect(property({ const: "a" }, "google")).toEqual({ schema: { type: "string", enum: ["a"] }, losses: [] });
    expect(property({ enum: [true, false, null] }, "google")).toEqual({
      schema: { anyOf: [{ type: "boolean" }, { type: "null" }] },
      losses: [],
    });
  });

  test("a format that is refused is named in the description", () => {
    expect(property({ type: "string", format: "uri", description: "The page." }, "google")).toEqual({
      schema: { type: "string", description: "The page.\nFormat: uri." },
      losses: ["looser /properties/a format"],
    });
    expect(property({ type: "string", format: "date-time" }, "google").losses).toEqual([]);
  });

  test("a tuple becomes an array with one schema for its items", () => {
    const pair = { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false };
    expect(property(pair, "google")).toEqual({
      schema: { type: "array", items: { anyOf: [{ type: "string" }, { type: "integer" }] }, maxItems: 2 },
      losses: ["looser /properties/a prefixItems"],
    });
  });

  test("each schema gets a type", () => {
    const { schema, losses } = property({ description: "Anything." }, "google");
    expect(schema).toMatchObject({
      anyOf: [{ type: "string", description: "Anything." }, {}, {}, {}, {}, { type: "null" }],
    });
    expect(losses).toEqual(["narrower /properties/a type"]);
    expect(property({ properties: { x: { type: "string" } } }, "google")).toEqual({
      schema: { type: "object", properties: { x: { type: "string" } } },
      losses: ["narrower /properties/a type"],
    });
    expect(property({ type: "array" }, "google").losses).toEqual(["narrower /properties/a/items type"]);
  });

  test("keywords beside a union apply to each branch", () => {
    const schema = { type: "string", anyOf: [{ minLength: 3 }, { pattern: "^a" }, { not: {} }] };
    expect(property(schema, "google")).toEqual({
      schema: {
        anyOf: [
          { minLength: 3, type: "string" },
          { pattern: "^a", type: "string" },
        ],
      },
      losses: [],
    });
  });

  test("names in required that are no properties are removed", () => {
    expect(
      adapt({ type: "object", properties: { a: { type: "string" } }, required: ["a", "b"] }, "google"),
    ).toMatchObject({
      schema: { required: ["a"] },
      losses: [{ keyword: "required", path: "" }],
    });
  });
});

describe("names of properties that Anthropic refuses", () => {
  test("are removed, named in the description, and reported", () => {
    const schema = {
      type: "object",
      properties: { "filter[id]": { type: "string" }, ok: { type: "string" } },
      required: ["filter[id]", "ok"],
      additionalProperties: false,
    };
    const adapted = adapt(schema, "anthropic");
    expect(adapted.schema).toEqual({
      type: "object",
      properties: { ok: { type: "string" } },
      required: ["ok"],
      description: 'Further properties that can be sent: "filter[id]".',
    });
    expect(adapted.losses.map(({ path, keyword }) => [path, keyword])).toEqual([
      ["", "additionalProperties"],
      ["/properties/filter[id]", "properties"],
    ]);
    expect(adapt(schema, "openai").losses).toEqual([]);
  });
});

describe("references", () => {
  const schema = {
    type: "object",
    properties: { first: { $ref: "#/$defs/Item" }, second: { $ref: "#/$defs/Item", description: "Another." } },
    $defs: { Item: { type: "object", properties: { id: { type: "integer", exclusiveMinimum: 0 } } } },
  };

  test("are kept for OpenAI and Anthropic, with the definitions that are used", () => {
    const unused = { ...schema, $defs: { ...schema.$defs, Other: { type: "string" } } };
    for (const provider of ["openai", "anthropic"] as const)
      expect(adapt(unused, provider)).toEqual({ schema, losses: [] });
  });

  test("are replaced by their targets for Google", () => {
    const item = { type: "object", properties: { id: { type: "integer", minimum: 1 } } };
    expect(adapt(schema, "google")).toEqual({
      schema: { type: "object", properties: { first: item, second: { ...item, description: "Another." } } },
      losses: [],
    });
  });

  test("to properties and with escapes are found", () => {
    const other = {
      type: "object",
      properties: { "a/b~c d": { type: "string", maxLength: 3 }, x: { $ref: "#/properties/a~1b~0c%20d" } },
    };
    expect(adapt(other, "google").schema["properties"]).toMatchObject({ x: { type: "string", maxLength: 3 } });
    expect(adapt(other, "openai").schema["$defs"]).toEqual({ a_1b_0c_d: { type: "string", maxLength: 3 } });
  });

  test.each(["https://example.com/schema.json", "#/$defs/Missing", "#anchor", "#/%", 7, "#/$defs/__proto__"])(
    "to %s are removed and reported",
    (reference) => {
      for (const provider of providers) {
        const { losses } = property({ $ref: reference, type: "string" }, provider);
        expect(losses).toContain("looser /properties/a $ref");
      }
    },
  );

  test("that are recursive end with a loss for Google, and are kept for OpenAI", () => {
    const tree = {
      type: "object",
      properties: { root: { $ref: "#/$defs/Node" } },
      $defs: { Node: { type: "object", properties: { children: { type: "array", items: { $ref: "#/$defs/Node" } } } } },
    };
    expect(adapt(tree, "openai")).toEqual({ schema: tree, losses: [] });
    const { schema: adapted, losses } = adapt(tree, "google");
    expect(adapted["properties"]).toEqual({
      root: { type: "object", properties: { children: { type: "array", items: { type: "object" } } } },
    });
    expect(losses.map(({ path, keyword }) => [path, keyword])).toEqual([
      ["/$defs/Node/properties/children/items", "$ref"],
    ]);
  });

  test("that lead to themselves through allOf and unions end", () => {
    const schemas = [
      { $ref: "#" },
      { allOf: [{ $ref: "#" }] },
      { anyOf: [{ $ref: "#" }], properties: { a: { $ref: "#/properties/a" } } },
      { $ref: "#/$defs/A", $defs: { A: { $ref: "#/$defs/B" }, B: { $ref: "#/$defs/A" } } },
      {
        properties: { a: { $ref: "#/$defs/A" } },
        $defs: {
          A: {
            properties: {
              b: { allOf: [{ $ref: "#/$defs/A" }] },
              c: { anyOf: [{ $ref: "#/$defs/A" }, { type: "null" }] },
            },
          },
        },
      },
    ];
    for (const provider of providers) {
      for (const each of schemas) expect(JSON.stringify(adapt(each, provider)).length).toBeLessThan(20_000);
    }
  });
});

test("a looser schema below a negation is reported as narrower", () => {
  const { losses } = property({ not: { $ref: "#/$defs/Missing" } }, "openai");
  expect(losses).toEqual(["narrower /properties/a/not $ref"]);
});

describe("limits", () => {
  test("a schema whose references double at each level stays small", () => {
    const levels = Array.from({ length: 40 }, (_, level) => [
      `L${level}`,
      { type: "object", properties: { a: { $ref: `#/$defs/L${level + 1}` }, b: { $ref: `#/$defs/L${level + 1}` } } },
    ]);
    const schema = {
      type: "object",
      properties: { a: { $ref: "#/$defs/L0" } },
      $defs: { ...Object.fromEntries(levels), L40: { type: "string" } },
    };
    for (const provider of providers) {
      const adapted = adapt(schema, provider);
      expect(JSON.stringify(adapted.schema).length).toBeLessThan(2_000_000);
      expect(adapted.losses.length).toBeLessThanOrEqual(200);
    }
  });

  test("a schema that is very deep or very wide is cut", () => {
    let deep: unknown = { type: "string" };
    for (let level = 0; level < 5000; level++) deep = { type: "object", properties: { a: deep } };
    const wide = {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`p${index}`, { type: "string" }])),
    };
    const union = {
      type: "object",
      anyOf: Array.from({ length: 3000 }, () => ({ $ref: "#/$defs/Big" })),
      $defs: { Big: wide },
    };
    for (const provider of providers) {
      expect(adapt(deep, provider).losses).not.toEqual([]);
      expect(JSON.stringify(adapt(wide, provider).schema).length).toBeLessThan(1_000_000);
      expect(JSON.stringify(adapt(union, provider).schema).length).toBeLessThan(1_000_000);
    }
  });

  test("a long description is cut, and its invisible characters are escaped", () => {
    const { schema, losses } = property(
      { type: "string", description: `a\u200b\u{e0041}${"x".repeat(2000)}` },
      "openai",
    );
    const { description } = Object(schema);
    expect(description).toMatch(/^a\\u\{200b\}\\u\{e0041\}x+…$/);
    expect(description).toHaveLength(1024);
    expect(losses).toEqual(["looser /properties/a description"]);
  });

  test("a property named __proto__ stays a property", () => {
    const schema: unknown = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    for (const provider of providers) {
      expect(Object.keys(Object(adapt(schema, provider).schema["properties"]))).toEqual(["__proto__"]);
    }
  });
});

const typeName = fc.constantFrom("string", "number", "integer", "boolean", "object", "array", "null");
const name = fc.constantFrom("a", "b", "c", "kind", "x y");
const small = fc.integer({ min: 0, max: 3 });
const leafValue = fc.constantFrom<unknown>("a", "b", "", 1, 2, 1.5, true, false, null);

/** Arbitrary schemas of JSON Schema 2020-12 with the keywords that are used by tools, and with some references. */
const schemaWith = (...references: string[]) =>
  fc.letrec<{ schema: unknown }>((tie) => {
    const child = tie("schema");
    const children = fc.array(child, { minLength: 1, maxLength: 3 });
    const named = fc.dictionary(name, child, { maxKeys: 3 });
    const keywords: Record<string, fc.Arbitrary<unknown>> = {
      type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
      enum: fc.uniqueArray(leafValue, { minLength: 1, maxLength: 3 }),
      const: leafValue,
      description: fc.constant("Text."),
      default: leafValue,
      properties: named,
      required: fc.uniqueArray(name, { maxLength: 2 }),
      additionalProperties: fc.oneof(fc.boolean(), child),
      patternProperties: fc.dictionary(fc.constantFrom("^a", "b$"), child, { maxKeys: 1 }),
      propertyNames: fc.constant({ pattern: "^[a-c]" }),
      items: child,
      prefixItems: children,
      minItems: small,
      maxItems: small,
      uniqueItems: fc.boolean(),
      contains: child,
      minLength: small,
      maxLength: small,
      pattern: fc.constantFrom("^a", "b"),
      format: fc.constantFrom("uri", "date-time"),
      minimum: small,
      exclusiveMinimum: small,
      maximum: small,
      multipleOf: fc.constantFrom(1, 0.5),
      anyOf: children,
      oneOf: children,
      allOf: children,
      not: child,
      if: child,
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: child,
      else: child,
      unevaluatedProperties: fc.boolean(),
      dependentRequired: fc.constant({ a: ["b"] }),
      $ref: fc.constantFrom(...references),
    };
    // The keywords are chosen first, because most of them have schemas as their values.
    const few = fc
      .subarray(Object.entries(keywords), { maxLength: 5 })
      .chain((chosen) => fc.record(Object.fromEntries(chosen)));
    return {
      schema: fc.oneof(
        { depthSize: "small", maxDepth: 4 },
        fc.constantFrom<unknown>({}, { type: "string" }, true, false),
        few,
      ),
    };
  }).schema;

const documentOf = (root: fc.Arbitrary<unknown>, first: fc.Arbitrary<unknown>, second: fc.Arbitrary<unknown>) =>
  fc.tuple(root, first, second).map(([schema, A, B]) => ({ ...Object(schema), type: "object", $defs: { A, B } }));
const recursive = schemaWith("#/$defs/A", "#/$defs/B", "#");
const recursiveDocument = documentOf(recursive, recursive, recursive);
// The validator of the test would run without an end on some recursive schemas.
const document = documentOf(
  schemaWith("#/$defs/A", "#/$defs/B"),
  schemaWith("#/$defs/B"),
  schemaWith("#/$defs/Missing").filter((schema) => !JSON.stringify(schema).includes("$ref")),
);

const anyArguments = fc.dictionary(
  name,
  fc.oneof(
    leafValue,
    fc.array(leafValue, { maxLength: 3 }),
    fc.dictionary(name, fc.oneof(leafValue, fc.array(leafValue, { maxLength: 2 })), { maxKeys: 3 }),
  ),
  { maxKeys: 3 },
);

/** Maximum characters of a schema that the validator of the test compiles. */
const MAX_ORACLE_CHARS = 2000;
const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, addUsedSchema: false });

function validator(schema: object): ((value: unknown) => boolean | undefined) | undefined {
  try {
    const validate = ajv.compile(schema);
    return (value) => {
      try {
        return validate(value);
      } catch {
        // The code that the validator generates can have a defect.
        return undefined;
      }
    };
  } catch {
    return undefined;
  } finally {
    ajv.removeSchema(schema);
  }
}

test("a list of one type becomes the type for google, also beside a union that restricts nothing", () => {
  const schema = { properties: { a: { type: ["object"], anyOf: [{}] }, b: { type: ["string"] } } };
  expect(adapt(schema, "google").schema).toMatchObject({
    properties: { a: { type: "object" }, b: { type: "string" } },
  });
});

describe.each(providers)("any schema for %s", (provider) => {
  test("has only what the provider accepts, and does not change when it is adapted again", () => {
    fc.assert(
      fc.property(fc.oneof(recursiveDocument, fc.jsonValue()), (schema) => {
        const once = adapt(schema, provider).schema;
        expect(violations(once, provider)).toEqual([]);
        expect(adapt(once, provider).schema).toEqual(once);
      }),
      { numRuns: 500 },
    );
  });

  test("accepts all arguments that the original accepts, unless a loss is reported as narrower", () => {
    fc.assert(
      fc.property(document, fc.array(anyArguments, { minLength: 3, maxLength: 8 }), (schema, list) => {
        const { schema: adapted, losses } = adapt(schema, provider);
        const isLarge = JSON.stringify(schema).length > MAX_ORACLE_CHARS;
        if (isLarge || losses.some(({ effect }) => effect === "narrower")) return;
        const original = validator(schema);
        if (!original) return;
        const accepts = validator(adapted);
        expect(accepts).toBeDefined();
        for (const value of list)
          if (original(value)) expect([value, adapted, accepts?.(value)]).not.toEqual([value, adapted, false]);
      }),
      { numRuns: 400 },
    );
  });
});

test.each(providers)("a value that is nested too deep is removed for %s, and reported", (provider) => {
  const deep = JSON.parse("[".repeat(2000) + "]".repeat(2000)) as unknown;
  const { schema, losses } = property({ type: "string", description: "A text.", default: deep }, provider);
  expect(schema).toEqual({ type: "string", description: "A text." });
  expect(losses).toEqual(["looser /properties/a default"]);
});

test("4,000 definitions whose pointers end alike have different names", () => {
  const names = Array.from({ length: 4000 }, (_, number) => `d${number}`);
  const { schema } = adapt(
    {
      type: "object",
      $defs: Object.fromEntries(names.map((name) => [name, { x: { type: "string" } }])),
      properties: Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}/x` }])),
    },
    "openai",
  );
  expect(Object.keys(Object(schema["$defs"]))).toHaveLength(4000);
});

test("a reference of more than 4,096 characters leads to no schema", () => {
  const referenceTo = (name: string) => {
    const schema = {
      type: "object",
      properties: { a: { $ref: `#/$defs/${name}` } },
      $defs: { [name]: { type: "string" } },
    };
    return adapt(schema, "google").losses.map(({ path, keyword }) => `${path} ${keyword}`);
  };
  expect(referenceTo("a".repeat(4_096 - "#/$defs/".length))).toEqual([]);
  expect(referenceTo("a".repeat(4_097 - "#/$defs/".length))).toContain("/properties/a $ref");
});

test("a loss names at most 256 characters of each name in its path", () => {
  const name = `~${"a".repeat(300)}`;
  const schema = { type: "object", properties: { [name]: { type: "string", readOnly: 5 } } };
  const paths = adapt(schema, "google").losses.map(({ path }) => path);
  expect(paths).toContain(`/properties/~0${"a".repeat(255)}`);
});
