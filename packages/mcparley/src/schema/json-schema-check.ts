import { validate } from "@cfworker/json-schema";
import type { OutputUnit, Schema } from "@cfworker/json-schema";
import { prepareSchema } from "./prepare-schema.ts";
import type { JsonSchema } from "./schema.ts";

/** How many references are followed for one value. Large documents need one or two an item; a trap needs billions. */
const MAX_STEPS = 300_000;

/** What the validator has against a value: nothing, what it reported, or why it could not check it. */
export type Report = readonly OutputUnit[] | Error | undefined;

/** Prepares a schema, and returns what checks values with it. Throws as `compileJsonSchema` does. */
export function compileCheck(schema: JsonSchema | boolean): (value: unknown) => Report {
  const run = createRun(typeof schema === "boolean" ? { allOf: [schema] } : schema);
  return (value) => {
    try {
      // Stopping at the first failure makes the common case cheap and bounds the uncommon one.
      const report = run(value, true);
      return report.length === 0 ? undefined : (inFull(run, value) ?? report);
    } catch (error) {
      return error as Error;
    }
  };
}

/** All of a model's mistakes are named at once, unless they are too many for the validator. */
function inFull(run: Run, value: unknown): readonly OutputUnit[] | undefined {
  try {
    return run(value, false);
  } catch {
    return undefined;
  }
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
