import { describe, expect, test } from "vitest";
import { preparePeerSchema } from "./peer-schema.ts";
import { type JsonSchema, formatIssue } from "../schema.ts";

async function check(schema: JsonSchema, value: unknown): Promise<{ issues: string[]; unchecked: readonly string[] }> {
  const { validate, unchecked } = await preparePeerSchema(schema);
  return { issues: (validate(value).issues ?? []).map(formatIssue), unchecked };
}

const accepted = { issues: [], unchecked: [] };

describe("patterns of a peer", () => {
  test.each<[pattern: string, matching: string, other: string]>([
    ["^[a-z0-9._-]+@[a-z]+\\.[a-z]{2,}$", "ada@example.com", "ada"],
    ["a", "bab", "bbb"],
    ["^\\d{4}-\\d{2}$", "2026-11", "2026-1"],
    ["^[\\w\\-\\.]+$", "a-b.c", "a b"],
    ["^\\p{Lu}", "Ärger", "ärger"],
    ["^\\u00e4$", "ä", "a"],
    ["^.$", "😀", "ab"],
    ["(?i)^abc$", "ABC", "abd"],
  ])("%s matches %j and not %j", async (pattern, matching, other) => {
    expect(await check({ pattern }, matching)).toEqual(accepted);
    expect(await check({ pattern }, other)).toEqual({
      issues: [`/: must match the pattern ${pattern}`],
      unchecked: [],
    });
    expect(await check({ patternProperties: { [pattern]: false } }, { [matching]: 1 })).toMatchObject({
      issues: [expect.any(String)],
    });
    expect(await check({ patternProperties: { [pattern]: false } }, { [other]: 1 })).toEqual(accepted);
  });

  test.each(["^(a+)+$", "^(a|a)*$", "(.*)(.*)(.*)(.*)x$", "^(([a-z])+.)+[A-Z]([a-z])+$"])(
    "%s needs steps linear in the length of the text",
    async (pattern) => {
      const { issues, unchecked } = await check({ pattern }, `${"a".repeat(5_000)}!`);
      expect(issues).toEqual([`/: must match the pattern ${pattern}`]);
      expect(unchecked).toEqual([]);
    },
  );

  test("refuses a text that needs more steps than the budget as too complex", async () => {
    const { issues } = await check({ pattern: "^(a{0,30}){30}$" }, "a".repeat(1_000_000));
    expect(issues).toEqual(["/: is too complex to be checked with this schema"]);
  });

  const ahead = "^(?=.*[A-Z]).{8,}$";
  const reported = [`The pattern ${ahead} cannot be evaluated in linear time.`];

  test("reports a pattern with look-around as unchecked, and refuses no value because of it", async () => {
    expect(await check({ pattern: ahead }, "x")).toEqual({ issues: [], unchecked: reported });
    expect(await check({ pattern: ahead, maxLength: 1 }, "xx")).toMatchObject({
      issues: ["/: must have at most 1 character"],
    });
  });

  test.each<[string, JsonSchema, unknown]>([
    ["not", { not: { pattern: ahead } }, "x"],
    ["oneOf", { oneOf: [{ pattern: ahead }, { type: "string" }] }, "x"],
    ["if", JSON.parse(`{ "if": { "pattern": "${ahead}" }, "then": false, "else": false }`) as JsonSchema, "x"],
    ["maxContains", { contains: { pattern: ahead }, maxContains: 0, minContains: 0 }, ["x"]],
    ["patternProperties", { patternProperties: { [ahead]: false }, additionalProperties: false }, { x: 1 }],
    ["unevaluatedProperties", { patternProperties: { [ahead]: false }, unevaluatedProperties: false }, { x: 1 }],
    ["propertyNames", { propertyNames: { not: { pattern: ahead } } }, { x: 1 }],
  ])("refuses no value because of an unchecked pattern inside %s", async (_, schema, value) => {
    expect(await check(schema, value)).toEqual({ issues: [], unchecked: reported });
  });

  test("does not evaluate patterns that are too large to compile", async () => {
    const large = `^(${"abcdefgh".repeat(10)}){1000}$`;
    const { unchecked } = await check({ pattern: large }, "x");
    expect(unchecked).toHaveLength(1);
    const many = { allOf: Array.from({ length: 500 }, (_, index) => ({ pattern: `^[a-z]{0,${index}}$` })) };
    expect((await check(many, "")).unchecked).toHaveLength(20);
  });
});

describe("schemas of a peer", () => {
  test.each<JsonSchema>([
    { type: "strng" },
    { properties: { a: { required: true } } },
    { items: [{ type: "string" }] },
    { $ref: "#/$defs/missing" },
  ])("accepts every value for the invalid schema %j, and reports it", async (schema) => {
    const { issues, unchecked } = await check(schema, 1);
    expect(issues).toEqual([]);
    expect(unchecked).toEqual([expect.stringMatching(/^The schema has /)]);
  });

  test.each<[string, JsonSchema]>([
    ["unsupported_dialect", { $schema: "https://example.com/mine" }],
    ["external_ref", { $ref: "https://example.com/schema.json" }],
    ["too_complex", { anyOf: Array.from({ length: 5_001 }, () => ({})) }],
  ])("throws %s", async (code, schema) => {
    await expect(preparePeerSchema(schema)).rejects.toMatchObject({ code });
  });
});
