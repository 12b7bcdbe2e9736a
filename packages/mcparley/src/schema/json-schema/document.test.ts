import { describe, expect, test } from "vitest";
import { type JsonSchema, SchemaError, formatIssue } from "../schema.ts";
import { compileJsonSchema } from "mcparley-tests/support/compile-json-schema.ts";

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

const draft04 = "http://json-schema.org/draft-04/schema#";
const draft07 = "http://json-schema.org/draft-07/schema#";
const draft201909 = "https://json-schema.org/draft/2019-09/schema";

describe("dialects", () => {
  test.each([
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2020-12/schema#",
    draft201909,
    draft07,
    "http://json-schema.org/draft-07/schema",
    draft04,
  ])("accepts %s", ($schema) => {
    expect(issues({ $schema, type: "string" }, 1)).toEqual(["/: must be string, not number"]);
  });

  test.each(["http://json-schema.org/draft-03/schema#", "https://example.com/mine", "", 7])(
    "refuses %j and names it",
    ($schema) => {
      const error = failure({ $schema });
      expect(error.code).toBe("unsupported_dialect");
      expect(error.message).toContain(JSON.stringify($schema));
      expect(error.message).toContain("use 2020-12, 2019-09, draft-07 or draft-04");
    },
  );

  test("refuses a document in two dialects", () => {
    const $defs = { a: { $schema: draft07 } };
    expect(failure({ $defs })).toMatchObject({
      code: "unsupported_dialect",
      message: expect.stringContaining("/$defs/a") as string,
    });
  });

  test("reads exclusive bounds of draft-04 as flags, and id as its $id", () => {
    expect(issues({ $schema: draft04, minimum: 3, exclusiveMinimum: true }, 3)).toEqual(["/: must be greater than 3"]);
    const definitions = { i: { id: "item", type: "string" } };
    expect(issues({ $schema: draft04, items: { $ref: "item" }, definitions }, [1])).toHaveLength(1);
  });

  test("ignores sibling keywords of a $ref up to draft-07, and not later", () => {
    const schema = { $ref: "#/definitions/a", minLength: 2, definitions: { a: { type: "string" } } };
    expect(issues({ ...schema, $schema: draft07 }, "a")).toEqual([]);
    expect(issues(schema, "a")).toEqual(["/: must have at least 2 characters"]);
  });

  test("reads a list of items up to 2019-09, and names prefixItems for 2020-12", () => {
    const schema = { items: [{ type: "string" }], additionalItems: false };
    expect(issues({ ...schema, $schema: draft201909 }, ["a", 1])).toEqual(["/1: is not allowed"]);
    expect(failure(schema).message).toContain("prefixItems");
  });

  test.each([
    ["const", draft04, { const: 1 }],
    ["if", draft04, { if: true, else: false }],
    ["propertyNames", draft04, { propertyNames: { maxLength: 0 } }],
    ["dependentRequired", draft07, { dependentRequired: { a: ["b"] } }],
    ["unevaluatedProperties", draft07, { unevaluatedProperties: false }],
    ["minContains", draft07, { contains: { const: 1 }, minContains: 2 }],
  ])("ignores %s in dialects older than the one that defines it", (_, $schema, schema) => {
    expect(issues({ $schema, ...schema }, { a: 1 })).toEqual([]);
    expect(issues({ $schema, ...schema }, [1])).toEqual([]);
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
    ["an unknown keyword", { items: { $ref: "#/components/a" }, components: { a: { type: "string" } } }],
    ["$dynamicRef", { items: { $dynamicRef: "#a" }, $defs: { a: { $dynamicAnchor: "a", type: "string" } } }],
    [
      "$dynamicRef beside $ref",
      { items: { $ref: "#/$defs/b", $dynamicRef: "#a" }, $defs: { a: { $dynamicAnchor: "a", type: "string" }, b: {} } },
    ],
    ["the empty reference", { type: ["array", "string"], items: { $ref: "" } }],
    [
      "$recursiveRef",
      { $schema: draft201909, type: ["array", "string"], $recursiveAnchor: true, items: { $recursiveRef: "#" } },
    ],
  ])("follows %s", (_, schema) => {
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
  ])("refuses the external reference %s at definition, and fetches nothing", ($ref) => {
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
    "refuses %s, which has no target",
    ($ref) => {
      const error = failure({ items: { $ref }, $defs: { a: { type: "string" } } });
      expect(error).toMatchObject({ code: "invalid_schema", message: expect.stringContaining($ref) as string });
    },
  );

  test("resolves a dynamic reference by the outermost resource that has its anchor", () => {
    const tree = {
      $id: "tree",
      $dynamicAnchor: "node",
      properties: { data: true, children: { items: { $dynamicRef: "#node" } } },
    };
    const strict = {
      $id: "strict",
      $dynamicAnchor: "node",
      $ref: "tree",
      unevaluatedProperties: false,
      $defs: { tree },
    };
    expect(issues(strict, { children: [{ data: 1 }] })).toEqual([]);
    expect(issues(strict, { children: [{ daat: 1 }] })).toEqual(["/children/0/daat: is not a known property"]);
    expect(issues(tree, { children: [{ daat: 1 }] })).toEqual([]);
  });

  test("ignores id after draft-04", () => {
    const schema = { properties: { a: { id: "x", type: "string" }, b: { id: "x" } } };
    expect(issues(schema, { a: 1, b: 1 })).toEqual(["/a: must be string, not number"]);
    expect(failure({ ...schema, items: { $ref: "x" } }).code).toBe("external_ref");
  });

  test("ignores an id that is no URI, and a reference inside default", () => {
    expect(
      issues(
        { id: "https://example.com/x y", type: "string", default: { $ref: "https://example.com" }, enum: ["a"] },
        "a",
      ),
    ).toEqual([]);
  });

  test("refuses an $id that is no URI, or that occurs twice", () => {
    expect(failure({ $id: "http://[" }).code).toBe("invalid_schema");
    expect(failure({ $defs: { a: { $id: "x" }, b: { $id: "x" } } }).code).toBe("invalid_schema");
  });
});

describe("check against the meta-schema", () => {
  test.each<[unknown, string]>([
    [
      { type: "strng" },
      '"strng" at #/type, which must be array, boolean, integer, null, number, object, string, or a list',
    ],
    [{ type: [] }, "[] at #/type"],
    [{ type: ["string", "string"] }, '["string","string"] at #/type'],
    [{ minimum: "x" }, '"x" at #/minimum, which must be a number'],
    [{ minLength: -1 }, "-1 at #/minLength, which must be an integer that is not negative"],
    [{ minLength: 1.5 }, "1.5 at #/minLength"],
    [{ multipleOf: 0 }, "0 at #/multipleOf, which must be a number greater than 0"],
    [{ pattern: 5 }, "5 at #/pattern, which must be a regular expression"],
    [{ pattern: "(" }, '"(" at #/pattern, which must be a regular expression'],
    [{ patternProperties: { "(": {} } }, '{"(":{}} at #/patternProperties'],
    [{ uniqueItems: "yes" }, '"yes" at #/uniqueItems, which must be a boolean'],
    [
      { properties: { a: { required: true } } },
      "true at #/properties/a/required, which must be a list of different strings",
    ],
    [{ required: ["a", "a"] }, '["a","a"] at #/required'],
    [{ properties: [] }, "[] at #/properties, which must be an object of schemas"],
    [{ properties: { a: "string" } }, '{"a":"string"} at #/properties'],
    [{ dependencies: { a: null } }, '{"a":null} at #/dependencies'],
    [{ dependentRequired: { a: "b" } }, '{"a":"b"} at #/dependentRequired'],
    [{ items: 1 }, "1 at #/items"],
    [{ items: { additionalProperties: 1 } }, "1 at #/items/additionalProperties, which must be a schema"],
    [{ allOf: {} }, "{} at #/allOf, which must be a list of schemas that is not empty"],
    [{ anyOf: [] }, "[] at #/anyOf"],
    [{ oneOf: [1] }, "[1] at #/oneOf"],
    [{ enum: "a" }, '"a" at #/enum, which must be a list'],
    [{ description: 1 }, "1 at #/description, which must be a string"],
    [{ $anchor: "1a" }, '"1a" at #/$anchor'],
    [{ $id: "a#b" }, '"a#b" at #/$id, which must be a URI without a fragment'],
    [
      { $schema: draft04, required: [] },
      "[] at #/required, which must be a list of different strings that is not empty",
    ],
    [{ $schema: draft04, items: true }, "true at #/items"],
    [{ $schema: draft04, exclusiveMinimum: 1 }, "1 at #/exclusiveMinimum, which must be a boolean"],
    [{ $schema: draft04, exclusiveMaximum: true }, "true at #/exclusiveMaximum, which must be used with maximum"],
  ])("refuses %j", (schema, message) => {
    const error = failure(schema);
    expect(error.code).toBe("invalid_schema");
    expect(error.message).toContain(message);
  });

  test("accepts every other value below an unknown keyword, or in default, examples and enum", () => {
    const data = { type: "strng", minimum: "x" };
    expect(issues({ "x-mine": data, default: data, examples: [data], enum: [data], const: data }, data)).toEqual([]);
  });

  test("accepts a pattern that is valid only without the Unicode flag", () => {
    expect(issues({ pattern: String.raw`^[\w-\.]+$` }, "a.b")).toEqual([]);
  });

  test("refuses a schema that cannot be written as JSON", () => {
    expect(failure({ const: 1n }).message).toContain("cannot be written as JSON");
  });
});

const nest = (levels: number): JsonSchema =>
  Array.from({ length: levels }).reduce<JsonSchema>((items) => ({ items }), { type: "string" });

const wide = (count: number): JsonSchema => ({
  properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, {}])),
});

describe("limits of a schema", () => {
  test("accepts 64 levels", () => {
    expect(issues(nest(64), [])).toEqual([]);
    expect(failure(nest(65))).toMatchObject({
      code: "too_complex",
      message: expect.stringContaining("64 levels") as string,
    });
    expect(failure(nest(100_000)).code).toBe("too_complex");
  });

  test("accepts 5,000 subschemas", () => {
    expect(issues(wide(4_999), {})).toEqual([]);
    expect(failure(wide(5_000))).toMatchObject({
      code: "too_complex",
      message: expect.stringContaining("5000") as string,
    });
  });

  test("accepts 1 MiB of JSON", () => {
    const long = (length: number): JsonSchema => ({ description: "x".repeat(length - '{"description":""}'.length) });
    expect(issues(long(1_048_576), {})).toEqual([]);
    expect(failure(long(1_048_577))).toMatchObject({
      code: "too_complex",
      message: expect.stringContaining("1048577 characters") as string,
    });
  });

  test("accepts 60 identifiers nested in each other", () => {
    const ids = Array.from({ length: 60 }).reduce<JsonSchema>((items, _, index) => ({ $id: `i${index}`, items }), {});
    expect(issues(ids, [])).toEqual([]);
  });

  test("refuses a schema that contains itself", () => {
    const schema: Record<string, unknown> = {};
    schema["items"] = schema;
    expect(failure(schema).code).toBe("too_complex");
  });
});
