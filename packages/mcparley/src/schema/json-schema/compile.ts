import type { ValidationIssue, JsonSchema, Outcome, Validator } from "../schema.ts";
import { type Node, apply } from "./apply.ts";
import { Compiler } from "./compiler.ts";
import { type DocumentOptions, type SchemaDocument, readDocument } from "./document.ts";
import { type PatternEngine, nativePatterns } from "./patterns.ts";
import { type Finding, Run, TooComplex } from "./run.ts";

/** Steps that one validation may take: some 50 ms. Arguments of 100,000 values need 200,000 to 500,000. */
export const DEFAULT_STEPS = 1_000_000;

export interface CompileOptions extends DocumentOptions {
  /** Steps that one validation may take. Default: 1,000,000. */
  steps?: number | undefined;
  /** Whether `format` is asserted or only an annotation. Default: "assert". */
  format?: "assert" | "annotate" | undefined;
  /**
   * Whether a schema takes a step for each property that it declares. A library looks at all of them, also in
   * alternatives that do not match. Default: false.
   */
  exhaustive?: boolean | undefined;
  /** Evaluates `pattern` and `patternProperties`. Default: the runtime's RegExp. */
  patterns?: PatternEngine | undefined;
}

/**
 * Prepares a JSON Schema, and returns the function that checks values with it.
 *
 * Supported are the dialects 2020-12 (the default), 2019-09, draft-07 and draft-04. No code is generated from the schema,
 * and no reference is fetched. `default` is not filled in. The schema is copied: changing it later has no effect.
 *
 * Each keyword, value and pattern takes steps from a budget. A value for which the budget does not suffice is not accepted.
 * At most 20 issues are reported.
 *
 * Throws a SchemaError if the schema itself is at fault: `unsupported_dialect`, `external_ref`, `invalid_schema` or
 * `too_complex` (over 64 levels, 5,000 subschemas or 1 MiB of JSON).
 */
export function compileJsonSchema(schema: JsonSchema | boolean, options: CompileOptions = {}): Validator {
  return compileDocument(readDocument(schema, options), options);
}

/** Prepares a schema that was read before. */
export function compileDocument(document: SchemaDocument, options: CompileOptions = {}): Validator {
  const { steps = DEFAULT_STEPS, patterns = nativePatterns } = options;
  const root = new Compiler(document, { ...options, patterns }).compile();
  return (value) => validate(root, value, steps);
}

function validate(root: Node, value: unknown, steps: number): Outcome {
  try {
    if (apply(root, value, new Run(steps), undefined)) return { value };
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
    return { issues: [{ path: "", message: "is too complex to be checked with this schema" }] };
  }
  return { issues: findIssues(root, value, steps) };
}

/** Validates a value that does not fit a second time, with a new budget, and collects its issues. */
function findIssues(root: Node, value: unknown, steps: number): readonly ValidationIssue[] {
  const run = new Run(steps);
  const findings: Finding[] = [];
  run.findings = findings;
  try {
    apply(root, value, run, undefined);
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
  }
  if (findings.length === 0) return [{ path: "", message: "does not match the schema" }];
  return findings.map(({ path, message }) => ({ path, message }));
}
