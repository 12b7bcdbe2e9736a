import { describe, expect, test } from "vitest";
import { compileJsonSchema } from "./json-schema.ts";
import { SchemaError, formatIssue } from "./schema.ts";
import type { JsonSchema } from "./schema.ts";

const issues = (schema: JsonSchema | boolean, value: unknown): string[] =>
  (compileJsonSchema(schema)(value).issues ?? []).map(formatIssue);

const notString = 'Instance type "number" is invalid. Expected "string".';

const failure = (schema: unknown): SchemaError => {
  try {
    compileJsonSchema(schema as JsonSchema);
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
  throw new Error("the schema was accepted");
};

describe("dialects", () => {
  test.each([
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2020-12/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-04/schema#",
  ])("%s is accepted", ($schema) => {
    expect(issues({ $schema, type: "string" }, 1)).toEqual([`/: ${notString}`]);
  });

  test.each(["http://json-schema.org/draft-03/schema#", "https://example.com/mine", "", 7])(
    "%j is refused by name",
    ($schema) => {
      const error = failure({ $schema });
      expect(error.code).toBe("unsupported_dialect");
      expect(error.message).toContain(JSON.stringify($schema));
      expect(error.message).toContain("use 2020-12, 2019-09, draft-07 or draft-04");
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
    expect(issues({ $schema, minimum: 3, exclusiveMinimum: true }, 3)).toEqual([
      "/: Number is less than or equal to  3.",
    ]);
    expect(
      issues({ $schema, items: { $ref: "item" }, definitions: { i: { id: "item", type: "string" } } }, [1]),
    ).toEqual([`/0: ${notString}`]);
  });

  test("up to draft-07 a $ref stands alone; later it has company", () => {
    const schema = { $ref: "#/definitions/a", minLength: 2, definitions: { a: { type: "string" } } };
    expect(issues({ ...schema, $schema: "http://json-schema.org/draft-07/schema#" }, "a")).toEqual([]);
    expect(issues(schema, "a")).toEqual(["/: String is too short (1 < 2)."]);
  });

  test("a list of items from before 2020-12 is understood", () => {
    expect(issues({ items: [{ type: "string" }], additionalItems: false }, ["a", 1])).toEqual([
      '/1: Instance type "number" is invalid. Expected "nothing".',
    ]);
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
    ["the empty reference", { type: ["array", "string"], items: { $ref: "" } }],
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
    expect(issues(schema, { a: 1, b: 1 })).toEqual([`/a: ${notString}`]);
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

describe("schemas that the validator would fail on are refused by the place at fault", () => {
  test.each<[unknown, string]>([
    [{ properties: { a: { required: true } } }, "true at #/properties/a/required in place of a list"],
    [{ required: "name" }, '"name" at #/required in place of a list'],
    [{ properties: [] }, "[] at #/properties in place of schemas"],
    [{ properties: { a: "string" } }, '"string" at #/properties/a in place of schemas'],
    [{ properties: null }, "null at #/properties in place of schemas"],
    [{ dependencies: { a: null } }, "null at #/dependencies/a in place of schemas"],
    [{ items: 1 }, "1 at #/items in place of schemas"],
    [{ allOf: {} }, "{} at #/allOf in place of a list"],
    [{ anyOf: {} }, "{} at #/anyOf in place of a list"],
    [{ oneOf: true }, "true at #/oneOf in place of a list"],
    [{ allOf: [1] }, "1 at #/allOf/0 in place of schemas"],
    [{ enum: "a" }, '"a" at #/enum in place of a list'],
    [{ items: { pattern: "(" } }, '"(" at #/items in place of valid regular expressions'],
    [{ patternProperties: { "(": {} } }, '"(" at # in place of valid regular expressions'],
  ])("%j", (schema, message) => {
    const error = failure(schema);
    expect(error.code).toBe("invalid_schema");
    expect(error.message).toContain(message);
  });

  test("a misspelt type is one that no value has", () => {
    expect(issues({ type: "strnig" }, "a")).toEqual(['/: Instance type "string" is invalid. Expected "strnig".']);
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

  test("identifiers nested in each other, which double the work each, are refused in little time", () => {
    const ids = (levels: number): JsonSchema =>
      Array.from({ length: levels }).reduce<JsonSchema>((items, _, index) => ({ $id: `i${index}`, items }), {});
    expect(issues(ids(4), [])).toEqual([]);
    expect(failure(ids(40)).code).toBe("too_complex");
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
});
