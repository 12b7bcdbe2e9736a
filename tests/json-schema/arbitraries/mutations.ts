import type { JsonSchema } from "../../../packages/mcparley/src/schema/schema.ts";
import { isObject } from "../../../packages/mcparley/src/rpc/messages.ts";
import type { Random } from "./random.ts";

/** Keywords of all dialects. In a dialect that does not define a keyword, every value of it is accepted. */
const keywords = words(`
  $comment title description default examples deprecated readOnly writeOnly format contentEncoding
  contentMediaType contentSchema $anchor $dynamicAnchor $recursiveAnchor type enum const multipleOf minimum
  maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern minItems maxItems uniqueItems
  minContains maxContains minProperties maxProperties required dependentRequired dependentSchemas dependencies
  allOf anyOf oneOf not if then else items prefixItems additionalItems contains properties patternProperties
  additionalProperties propertyNames unevaluatedItems unevaluatedProperties definitions $defs
`);

/** Another string in these keywords would change where references lead, so that they only receive other types. */
const references = ["$ref", "$id", "id", "$dynamicRef", "$recursiveRef"];

const replacements = JSON.parse(`[
  null, true, false, 0, 1, -1, 1.5, "", "a", "string", "1a",
  [], {}, ["a"], ["a", "a"], ["string"], ["string", "string"], [1], [1, 1], [{}], [true], [null], [{ "type": 1 }],
  { "a": 1 }, { "a": null }, { "a": true }, { "a": "b" }, { "a": {} }, { "a": [] }, { "a": ["b"] }, { "a": ["b", "b"] },
  { "a": [1] }, { "a": { "type": 1 } }, { "type": 1 }, { "type": "unknown" }
]`) as readonly unknown[];

/** Returns a copy of a valid schema in which one keyword has a random value, which is often invalid. */
export function mutate(schema: JsonSchema, random: Random): JsonSchema {
  const root = structuredClone(schema) as Record<string, unknown>;
  const target = random.pick(subschemasOf(root));
  const present = Object.keys(target).filter(
    (keyword) => keyword !== "$schema" && !isDefinitions(keyword, target, root),
  );
  const keyword =
    present.length > 0 && random.chance(0.6)
      ? random.pick(present)
      : random.pick([...keywords, ...references].filter((one) => !isDefinitions(one, target, root)));
  const values = references.includes(keyword) ? replacements.filter((one) => typeof one !== "string") : replacements;
  target[keyword] = structuredClone(random.pick(values));
  return root;
}

/** The definitions of the root stay, because references lead to them. */
function isDefinitions(keyword: string, target: object, root: object): boolean {
  return target === root && (keyword === "$defs" || keyword === "definitions");
}

const schemaKeywords = new Set(
  words(`
  not if then else items additionalItems contains additionalProperties propertyNames unevaluatedItems
  unevaluatedProperties allOf anyOf oneOf prefixItems
`),
);

const schemaMaps = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
]);

/** Returns the schema and all its subschemas that are objects. */
function subschemasOf(schema: unknown): Record<string, unknown>[] {
  if (!isObject(schema)) return [];
  const inside = Object.entries(schema).flatMap(([keyword, value]) => {
    if (schemaKeywords.has(keyword)) return Array.isArray(value) ? value : [value];
    return schemaMaps.has(keyword) && isObject(value) ? Object.values(value) : [];
  });
  return [schema, ...inside.flatMap(subschemasOf)];
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
