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

function deepList(levels: number): unknown {
  return JSON.parse("[".repeat(levels) + "]".repeat(levels));
}

describe("values and types that contradict each other", () => {
  test.each<[string, object, object]>([
    ["a text of the type null", { type: "null", enum: ["A"] }, { type: "null", description: 'Allowed values: "A".' }],
    [
      "numbers of the type string",
      { type: "string", enum: [1, 2] },
      { type: "string", description: "Allowed values: 1, 2." },
    ],
    ["a list of types", { type: ["object", "null"], enum: ["A"] }, { description: 'Allowed values: "A".' }],
    [
      "an array, whose items have the values",
      { type: "array", items: { type: "string" }, enum: ["A", "B"], description: "Kinds." },
      { type: "array", items: { type: "string" }, description: 'Kinds.\nAllowed values: "A", "B".' },
    ],
    ["fractions of the type integer", { type: "integer", enum: [1.5] }, { type: "integer" }],
    ["a constant", { type: "string", const: 1 }, { type: "string", description: "Allowed values: 1." }],
    ["a constant null", { type: "string", const: null }, { type: "string", description: "Allowed values: null." }],
    ["a deep constant", { type: "string", const: deepList(20_000) }, { type: "string" }],
  ])("lose the values: %s", (_name, schema, expected) => {
    for (const provider of providers) {
      const adapted = property(schema, provider);
      if (!Array.isArray(Object(schema).type)) expect(adapted.schema).toMatchObject(expected);
      expect(JSON.stringify(adapted.schema)).not.toMatch(/"(?:enum|const)"/);
      expect(adapted.losses).toContainEqual(expect.stringMatching(/^looser \/properties\/a (?:enum|const)$/));
      expect(violations(adapt({ type: "object", properties: { a: schema } }, provider).schema, provider)).toEqual([]);
    }
  });

  test.each<[string, object, object]>([
    ["of another type", { type: "string", enum: ["A", 5, null] }, { type: "string", enum: ["A"] }],
    ["that are repeated", { type: "string", enum: ["A", "A"] }, { type: "string", enum: ["A"] }],
    ["of none of two types", { type: ["string", "null"], enum: ["A", 5] }, { type: ["string", "null"], enum: ["A"] }],
    ["that are fractions", { type: "integer", enum: [1, 1.5] }, { type: "integer", enum: [1] }],
    ["none, of numbers that are integers", { type: "number", enum: [1, 1.5] }, { type: "number", enum: [1, 1.5] }],
    ["none, of a constant", { type: "string", const: "A" }, { type: "string", const: "A" }],
    ["none, of a type that is repeated", { type: ["string", "string"], enum: ["A"] }, { type: "string", enum: ["A"] }],
    ["none, without a type", { enum: ["A", 5, null] }, { enum: ["A", 5, null] }],
  ])("lose the values %s without a loss", (_name, schema, expected) => {
    expect(property(schema, "openai")).toEqual({ schema: expected, losses: [] });
    expect(property(schema, "anthropic")).toEqual({ schema: expected, losses: [] });
  });

  test.each<[string, object, object]>([
    [
      "has no value",
      {
        anyOf: [
          { type: "string", enum: ["A"] },
          { type: "null", enum: ["A"] },
        ],
      },
      { type: "string", enum: ["A"] },
    ],
    ["has a wrong constant", { oneOf: [{ type: "null", const: "A" }, { type: "string" }] }, { type: "string" }],
    ["is false", { anyOf: [false, { type: "string" }] }, { type: "string" }],
    [
      "has none of the types beside the union",
      { type: "string", anyOf: [{ type: "string" }, { type: "number" }] },
      { type: "string" },
    ],
    [
      "has none of the values beside the union",
      { enum: ["A"], anyOf: [{ type: "string" }, { type: "null" }] },
      { type: "string" },
    ],
  ])("lose a branch that %s", (_name, schema, branch) => {
    for (const provider of providers) {
      const adapted = property(schema, provider);
      const [union] = ["anyOf", "oneOf"].map((keyword) => Object(adapted.schema)[keyword]).filter(Boolean);
      expect(union ?? [adapted.schema]).toMatchObject([branch]);
      expect(JSON.stringify(adapted.schema)).not.toMatch(/"(?:null|number)"|"not"/);
    }
  });

  test("lose a union whose branches have no value", () => {
    const schema = { description: "D", anyOf: [{ type: "null", enum: ["A"] }, false] };
    for (const provider of providers) {
      const adapted = property(schema, provider);
      expect(adapted.losses).toContain("looser /properties/a anyOf");
      expect(JSON.stringify(adapted.schema)).toContain('"description":"D"');
    }
  });

  test.each([
    ["items", { type: "array", items: { type: "null", enum: ["A"] } }, "/properties/a/items enum"],
    [
      "properties",
      { type: "object", properties: { b: { type: "null", enum: ["A"] } } },
      "/properties/a/properties/b enum",
    ],
    ["a branch with a reference", { anyOf: [{ $ref: "#/$defs/x" }, { type: "string" }] }, "/$defs/x enum"],
  ])("are found below %s", (_name, schema, loss) => {
    const root = { type: "object", properties: { a: schema }, $defs: { x: { type: "null", enum: ["A"] } } };
    for (const provider of providers) {
      const { schema: adapted, losses } = adapt(root, provider);
      expect(losses.map(({ path, keyword }) => `${path} ${keyword}`)).toContain(loss);
      expect(violations(adapted, provider)).toEqual([]);
    }
  });
});
