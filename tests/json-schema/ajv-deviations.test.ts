import { describe, expect, test } from "vitest";
import { type JsonSchema, SchemaError } from "../../packages/mcparley/src/schema/schema.ts";
import { compileMetaSchema, compileWithAjv, deviations, refusedBeyondMetaSchema } from "./ajv.ts";
import { compileJsonSchema } from "../support/compile-json-schema.ts";
import { dialectUri, dialects } from "./dialects.ts";

// An entry that is no longer true must be deleted, because the random tests skip the schemas and values that it affects.
describe.each(dialects)("%s", (dialect) => {
  for (const { reason, example } of deviations.filter((one) => one.dialects.includes(dialect))) {
    test(`follows the specification although ajv differs: ${reason}`, () => {
      const schema: JsonSchema = { $schema: dialectUri[dialect], ...example.schema };
      expect(compileWithAjv(schema, dialect)(example.value)).toBe(!example.valid);
      expect(compileJsonSchema(schema)(example.value).issues === undefined).toBe(example.valid);
    });
  }

  test.each(refusedBeyondMetaSchema)("refuses a schema that the meta-schema accepts: $reason", ({ schema }) => {
    const own: JsonSchema = { $schema: dialectUri[dialect], ...schema };
    expect(compileMetaSchema(dialect)(own)).toBe(true);
    expect(() => compileJsonSchema(own)).toThrow(SchemaError);
  });
});
