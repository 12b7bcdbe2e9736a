import { compileCheck } from "./json-schema-check.ts";
import { toOutcome } from "./schema-issues.ts";
import type { JsonSchema, Validator } from "./schema.ts";

/**
 * Prepares a JSON Schema for use, and returns the function that checks values with it. Checking uses no `eval`.
 *
 * Supported are the dialects 2020-12 (the default), 2019-09, draft-07 and draft-04. `format` is checked for the formats
 * of the JSON Schema vocabulary and ignored otherwise; `default` is not filled in. The schema is copied: changing it
 * later has no effect. Arrays that must have unique items may have at most 2,048. A value too large for the schema,
 * or one that JSON cannot express, gives an issue like any other.
 *
 * Throws a SchemaError when the schema itself is at fault: `unsupported_dialect`, `external_ref` (nothing is ever
 * fetched), `too_complex` (nested over 64 levels, over 10,000 subschemas) or `invalid_schema`. Keywords are not checked
 * beyond what the validator needs: a misspelt `type`, say, is one that no value has.
 */
export function compileJsonSchema(schema: JsonSchema | boolean): Validator {
  const check = compileCheck(schema);
  return (value) => {
    const report = check(value);
    return report ? toOutcome(report) : { value };
  };
}
