import { createRequire } from "node:module";
import type { JsonSchema } from "../../packages/mcparley/src/schema/schema.ts";

const require = createRequire(import.meta.url);

/**
 * Files of ajv's packages that contain the meta-schemas. Compared with the published meta-schemas, those of 2019-09 and 2020-12 are
 * equal, the one of draft-07 requires a non-empty `enum` without duplicates, and the one of draft-04 adds `format: "uri"` to `id`
 * and `$schema`.
 */
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
  const schemas = files.map((file) => require(file) as JsonSchema);
  return new Map(schemas.map((schema) => [String(schema.$id ?? schema.id).replace(/#$/, ""), schema]));
}
