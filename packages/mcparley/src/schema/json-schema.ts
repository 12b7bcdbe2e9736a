import { validate } from "@cfworker/json-schema";
import type { OutputUnit, Schema } from "@cfworker/json-schema";
import { prepareSchema } from "./prepare-schema.ts";
import { toIssues } from "./schema-issues.ts";
import { shorten } from "./schema.ts";
import type { JsonSchema, Validator } from "./schema.ts";

/** How many references are followed for one value. Large documents need one or two an item; a trap needs billions. */
const MAX_STEPS = 300_000;

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
  const run = createRun(typeof schema === "boolean" ? { allOf: [schema] } : schema);
  return (value) => {
    try {
      // Stopping at the first failure makes the common case cheap and bounds the uncommon one.
      let report = run(value, true);
      if (report.length === 0) return { value };
      try {
        // All of a model's mistakes are named at once, unless they are too many for the validator.
        report = run(value, false);
      } catch {}
      return { issues: toIssues(report) };
    } catch (error) {
      return { issues: [{ path: "", message: `Cannot be checked. ${shorten((error as Error).message)}` }] };
    }
  };
}

type Run = (value: unknown, stopEarly: boolean) => readonly OutputUnit[];

/**
 * Every recursion of a schema passes through a reference, and the validator looks each one up here. Counting lookups
 * thus bounds the work for schemas whose alternatives multiply at each level of the value.
 */
function createRun(schema: JsonSchema): Run {
  const { root, draft, lookup } = prepareSchema(schema);
  let steps = 0;
  const counted = Object.create(null) as Record<string, Schema>;
  for (const [uri, found] of Object.entries(lookup)) {
    const get = (): Schema => {
      if (++steps > MAX_STEPS) throw new Error("It is too large for this schema.");
      return found;
    };
    Object.defineProperty(counted, uri, { get });
  }
  return (value, stopEarly) => {
    steps = 0;
    return validate(value, root, draft, counted, stopEarly).errors;
  };
}
