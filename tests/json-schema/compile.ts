import { compileJsonSchema as compile } from "../../packages/mcparley/src/schema/json-schema.ts";
import type { JsonSchema, Validator } from "../../packages/mcparley/src/schema/schema.ts";

/** Whether the evaluator counts steps. The current one does not, and some hostile cases would exhaust the memory. */
export const hasStepBudget: boolean = false;

/** Options of the evaluator that the tests in this folder use. */
export interface CompileOptions {
  /** Maximum number of steps of one validation. */
  steps?: number;
  /** Whether `format` is asserted (default) or only an annotation. */
  format?: "assert" | "annotate";
  /** Other documents that references may lead to, by absolute URI without a fragment. */
  documents?: ReadonlyMap<string, JsonSchema | boolean>;
}

/**
 * Compiles a schema with the library's evaluator.
 *
 * Every test in this folder imports the evaluator from here. The current evaluator ignores the options.
 */
export function compileJsonSchema(schema: JsonSchema | boolean, _options?: CompileOptions): Validator {
  return compile(schema);
}
