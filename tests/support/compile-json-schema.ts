import { type CompileOptions, compileDocument } from "../../packages/mcparley/src/schema/json-schema/compile.ts";
import { readDocument } from "../../packages/mcparley/src/schema/json-schema/document.ts";
import type { JsonSchema, Validator } from "../../packages/mcparley/src/schema/schema.ts";

/** Reads and compiles a JSON Schema, and returns the function that checks values with it. */
export function compileJsonSchema(
  schema: JsonSchema | boolean,
  options: CompileOptions & Parameters<typeof readDocument>[1] = {},
): Validator {
  return compileDocument(readDocument(schema, options), options);
}
