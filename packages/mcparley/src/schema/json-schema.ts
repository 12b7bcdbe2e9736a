import { validate } from "@cfworker/json-schema";
import type { OutputUnit, Schema } from "@cfworker/json-schema";
import { prepareSchema } from "./prepare-schema.ts";
import type { PreparedSchema } from "./prepare-schema.ts";
import { toIssues } from "./schema-issues.ts";
import type { JsonSchema, Outcome, Validator } from "./schema.ts";

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
 * fetched), `too_complex` (nested over 64 levels, over 10,000 subschemas) or `invalid_schema`.
 */
export function compileJsonSchema(schema: JsonSchema | boolean): Validator {
  const prepared = prepareSchema(typeof schema === "boolean" ? { allOf: [schema] } : schema);
  const run = createRun(prepared);
  return (value) => check(value, run, prepared);
}

function check(value: unknown, run: Run, prepared: PreparedSchema): Outcome {
  try {
    // Stopping at the first failure makes the common case cheap and bounds the uncommon one.
    const first = run(value, true);
    return first.length === 0 ? { value } : { issues: toIssues(fullReport(value, run) ?? first, prepared) };
  } catch (error) {
    return { issues: [{ path: "", message: reasonFor(error) }] };
  }
}

/** Goes on after the first failure, so that all of a model's mistakes are named at once. */
function fullReport(value: unknown, run: Run): readonly OutputUnit[] | undefined {
  try {
    return run(value, false);
  } catch {
    return undefined;
  }
}

type Run = (value: unknown, stopEarly: boolean) => readonly OutputUnit[];

class TooManySteps extends Error {}

/**
 * Every recursion of a schema passes through a reference, and the validator looks each one up here. Counting lookups
 * thus bounds the work for schemas whose alternatives multiply at each level of the value.
 */
function createRun({ root, draft, lookup }: PreparedSchema): Run {
  let steps = 0;
  const counted = Object.create(null) as Record<string, Schema>;
  for (const [uri, schema] of Object.entries(lookup)) {
    Object.defineProperty(counted, uri, {
      get: () => {
        if (++steps > MAX_STEPS) throw new TooManySteps();
        return schema;
      },
    });
  }
  return (value, stopEarly) => {
    steps = 0;
    return validate(value, root, draft, counted, stopEarly).errors;
  };
}

function reasonFor(error: unknown): string {
  if (error instanceof TooManySteps) return "is too large to be checked against this schema";
  if (error instanceof RangeError) return "cannot be checked: it, or the schema, is nested too deeply";
  return "holds something that JSON cannot express";
}
