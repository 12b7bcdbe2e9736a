import { createRequire } from "node:module";
import type { JsonSchema } from "../../packages/mcparley/src/schema/schema.ts";

const require = createRequire(import.meta.url);

/** Files of ajv's packages that contain the meta-schemas. */
const files = [
  "ajv-draft-04/dist/refs/json-schema-draft-04.json",
  "ajv/dist/refs/json-schema-draft-07.json",
  ...["schema", "meta/core", "meta/applicator", "meta/validation", "meta/meta-data", "meta/format", "meta/content"].map(
    (name) => `ajv/dist/refs/json-schema-2019-09/${name}.json`,
  ),
  ...[
    "schema",
    "meta/core",
    "meta/applicator",
    "meta/unevaluated",
    "meta/validation",
    "meta/meta-data",
    "meta/format-annotation",
    "meta/content",
  ].map((name) => `ajv/dist/refs/json-schema-2020-12/${name}.json`),
];

/** Returns the meta-schemas of the four dialects and their vocabularies, by URI without a fragment. */
export function readMetaSchemas(): Map<string, JsonSchema> {
  const schemas = files.map((file) => asPublished(structuredClone(require(file) as JsonSchema)));
  return new Map(schemas.map((schema) => [String(schema.$id ?? schema.id).replace(/#$/, ""), schema]));
}

/** Undoes two changes by ajv: draft-07 with a non-empty `enum` without duplicates, and draft-04 without a type for `format`. */
function asPublished(schema: JsonSchema): JsonSchema {
  const properties = schema.properties as object;
  if (schema.$id === "http://json-schema.org/draft-07/schema#") {
    return { ...schema, properties: { ...properties, enum: { type: "array", items: true } } };
  }
  if (schema.id === "http://json-schema.org/draft-04/schema#") {
    return { ...schema, properties: { ...properties, format: { type: "string" } } };
  }
  return schema;
}
