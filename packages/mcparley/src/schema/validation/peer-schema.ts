import { compileDocument } from "../json-schema/compile.ts";
import { readDocument } from "../json-schema/document.ts";
import { type PatternEngine, nativePatterns } from "../json-schema/patterns.ts";
import { type JsonSchema, MAX_ISSUES, SchemaError, type Validator, shorten } from "../schema.ts";

/** A compiled schema of a peer. */
export interface PeerSchema {
  readonly validate: Validator;
  /** Sentences that name the parts of the schema which are not checked. At most 20. */
  readonly unchecked: readonly string[];
  /** Whether the schema is invalid, so that nothing is checked. */
  readonly isInvalid: boolean;
}

/**
 * Compiles a JSON Schema that a peer sent.
 *
 * An engine with linear time evaluates its patterns. The engine is loaded only if the schema has a pattern. A pattern that
 * it cannot evaluate is not checked. If the schema is invalid, nothing is checked. `unchecked` names the reasons.
 *
 * Throws a SchemaError `unsupported_dialect`, `external_ref` or `too_complex` (2026-07-28, basic, "Implementation
 * Requirements" and "`$ref` Resolution").
 */
export async function preparePeerSchema(schema: JsonSchema): Promise<PeerSchema> {
  try {
    const document = readDocument(schema, { isOfPeer: true });
    const schemas = [...document.places.keys()];
    const hasPatterns = schemas.some((subschema) => "pattern" in subschema || "patternProperties" in subschema);
    const engine = hasPatterns ? (await import("../json-schema/linear-patterns.ts")).linearPatterns() : nativePatterns;
    const unchecked: string[] = [];
    const patterns: PatternEngine = (source) => {
      const pattern = engine(source);
      if (!pattern && unchecked.length < MAX_ISSUES)
        unchecked.push(`The pattern ${shorten(source)} cannot be evaluated in linear time.`);
      return pattern;
    };
    return { validate: compileDocument(document, { patterns }), unchecked, isInvalid: false };
  } catch (error) {
    if (!(error instanceof SchemaError) || error.code !== "invalid_schema") throw error;
    return { validate: (value) => ({ value }), unchecked: [error.message], isInvalid: true };
  }
}
