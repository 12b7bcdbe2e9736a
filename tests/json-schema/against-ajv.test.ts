import fc from "fast-check";
import { describe, expect } from "vitest";
import { type JsonSchema, SchemaError } from "../../packages/mcparley/src/schema/schema.ts";
import { holds } from "../fuzz/holds.ts";
import { compileMetaSchema, compileWithAjv, deviations } from "./ajv.ts";
import { mutate } from "./arbitraries/mutations.ts";
import { randomOf } from "./arbitraries/random.ts";
import { schemasOf } from "./arbitraries/schemas.ts";
import { valueNear } from "./arbitraries/values.ts";
import { compileJsonSchema } from "../support/compile-json-schema.ts";
import { dialects } from "./dialects.ts";

describe.each(dialects)("%s", (dialect) => {
  const known = deviations.filter((deviation) => deviation.dialects.includes(dialect));
  const isValidSchema = compileMetaSchema(dialect);
  const schemasAndSeeds = fc.record({
    schema: schemasOf(dialect),
    seeds: fc.array(fc.integer(), { minLength: 1, maxLength: 12 }),
  });

  holds(
    `agrees with ajv on random schemas and values of ${dialect}`,
    schemasAndSeeds,
    ({ schema, seeds }) => {
      expect(isValidSchema(schema)).toBe(true);
      const ajv = compileWithAjv(schema, dialect);
      const ours = compileJsonSchema(schema);
      for (const seed of seeds) {
        const value = valueNear(schema, randomOf(seed));
        const expected = ajv(value);
        if (expected === undefined || known.some(({ affects }) => affects(schema, value))) continue;
        const { issues } = ours(value);
        if ((issues === undefined) !== expected) throw new Error(difference("value", value, expected, issues));
      }
    },
    { weight: 3 },
  );

  holds(`refuses the schemas that the meta-schema of ${dialect} refuses`, schemasAndSeeds, ({ schema, seeds }) => {
    for (const seed of seeds) {
      const mutated = mutate(schema, randomOf(seed));
      const expected = isValidSchema(mutated);
      const error = errorOf(mutated);
      if ((error === undefined) !== expected) throw new Error(difference("schema", mutated, expected, error?.message));
    }
  });
});

/** Returns the error for an invalid schema. Every other error is thrown. */
function errorOf(schema: JsonSchema): SchemaError | undefined {
  try {
    compileJsonSchema(schema);
    return undefined;
  } catch (error) {
    if (error instanceof SchemaError && error.code === "invalid_schema") return error;
    throw error;
  }
}

function difference(kind: "value" | "schema", input: unknown, isValidForAjv: boolean, found: unknown): string {
  const [expected, actual] = isValidForAjv ? ["valid", `invalid: ${JSON.stringify(found)}`] : ["invalid", "valid"];
  return `For ajv the ${kind} ${JSON.stringify(input)} is ${expected}, for mcparley it is ${actual}`;
}
