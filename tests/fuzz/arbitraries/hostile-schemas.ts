import fc from "fast-check";
import type { JsonSchema } from "../../../packages/mcparley/src/schema/schema.ts";

const names = ["a", "b", "c"];
const patterns = ["^(a+)+$", "(a|aa)*b", "^(?=a)", "(", "a{1,500}", "^[ab]*$"];

/** Lists with the same element many times, so that work multiplies. */
function many<T>(element: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.tuple(element, fc.integer({ min: 1, max: 7 })).map(([one, length]) => Array.from({ length }, () => one));
}

const leaf: fc.Arbitrary<JsonSchema> = fc.oneof(
  fc.constantFrom<JsonSchema>({ $ref: "#" }, { $ref: "#/$defs/a" }, { $dynamicRef: "#node" }, {}),
  fc.constantFrom("string", "number", "object", "array", "strng").map((type) => ({ type })),
  fc.constantFrom(...patterns).map((pattern) => ({ pattern })),
  fc.constantFrom<JsonSchema>({ uniqueItems: true }, { multipleOf: 1e-9 }, { format: "uri" }, { minLength: 3 }),
  many(fc.constantFrom<unknown>("a", 1, [1, [2, { a: [] }]], { a: { b: 1 } })).map((values) => ({ enum: values })),
);

const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => {
  const below = tie("schema");
  const keyword = (name: string): fc.Arbitrary<JsonSchema> => below.map((one) => ({ [name]: one }));
  return {
    schema: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      fc
        .tuple(fc.constantFrom("allOf", "anyOf", "oneOf", "prefixItems"), many(below))
        .map(([name, list]) => ({ [name]: list })),
      fc.constantFrom("items", "not", "if", "then", "else", "contains", "propertyNames").chain(keyword),
      fc.constantFrom("additionalProperties", "unevaluatedProperties", "unevaluatedItems").chain(keyword),
      fc
        .tuple(fc.constantFrom("properties", "dependentSchemas"), fc.dictionary(fc.constantFrom(...names), below))
        .map(([name, map]) => ({ [name]: map })),
      fc.dictionary(fc.constantFrom(...patterns), below).map((map) => ({ patternProperties: map })),
      fc.tuple(below, below, below).map(([first, second, third]) => ({ ...first, ...second, ...third })),
    ),
  };
});

/** Schemas that a hostile peer could write: recursive, with alternatives that multiply, and often invalid. */
export const hostileSchema: fc.Arbitrary<JsonSchema> = fc
  .tuple(schema, schema)
  .map(([root, a]) => ({ $dynamicAnchor: "node", ...root, $defs: { a } }));

/** Values that make such a schema expensive: deep, wide, and equal in many places. */
export const hostileValue: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<unknown>("", "a", "a".repeat(300), `${"a".repeat(40)}!`, "ab", 0, 0.1, 1e308, null, true),
    many(tie("value")),
    fc.dictionary(fc.constantFrom(...names, "a".repeat(60)), tie("value")),
    fc
      .tuple(tie("value"), fc.integer({ min: 1, max: 60 }))
      .map(([value, levels]) => Array.from({ length: levels }).reduce<unknown>((a) => ({ a }), value)),
  ),
})).value;
