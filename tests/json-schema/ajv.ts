import { createRequire } from "node:module";
import type { Ajv as AjvClass, Options } from "ajv";
import type { JsonSchema } from "../../packages/mcparley/src/schema/schema.ts";
import { type Dialect, dialectUri } from "./dialects.ts";
import { readMetaSchemas } from "./meta-schemas.ts";

const require = createRequire(import.meta.url);

const modules: Readonly<Record<Dialect, string>> = {
  draft4: "ajv-draft-04",
  draft7: "ajv",
  "draft2019-09": "ajv/dist/2019",
  "draft2020-12": "ajv/dist/2020",
};

/**
 * Compiles a schema with ajv, configured like our evaluator: no strict mode, no formats, inherited properties ignored.
 *
 * The returned function returns undefined if ajv fails. The code that ajv generates for 2019-09 and 2020-12 sometimes throws a TypeError
 * ("Cannot set properties of undefined") or a ReferenceError ("props0 is not defined") when it collects evaluated properties and items.
 */
export function compileWithAjv(schema: JsonSchema, dialect: Dialect): (value: unknown) => boolean | undefined {
  const { default: Ajv } = require(modules[dialect]) as { default: new (options: Options) => AjvClass };
  const ajv = new Ajv({
    strict: false,
    allowUnionTypes: true,
    validateFormats: false,
    validateSchema: false,
    ownProperties: true,
    logger: false,
  });
  // Up to draft-07 the keywords beside `$ref` are ignored. ajv's option for this ignores all of them except `type`.
  const ignoresSiblings = dialect === "draft4" || dialect === "draft7";
  const validate = ajv.compile(ignoresSiblings ? (withoutSiblings(schema) as JsonSchema) : schema);
  return (value) => {
    try {
      return validate(value);
    } catch (error) {
      if (error instanceof TypeError || error instanceof ReferenceError) return undefined;
      throw error;
    }
  };
}

/** Returns a copy in which an object with `$ref` has only the definitions beside it. */
function withoutSiblings(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutSiblings);
  const kept = Object.entries(value).filter(([key]) => !("$ref" in value) || keptBesideRef.has(key));
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutSiblings(one)]));
}

const keptBesideRef = new Set(["$ref", "$schema", "definitions"]);

/** Returns a function that checks a schema against the published meta-schema of a dialect. */
export function compileMetaSchema(dialect: Dialect): (schema: unknown) => boolean {
  const { default: Ajv } = require(modules[dialect]) as { default: new (options: Options) => AjvClass };
  const ajv = new Ajv({ strict: false, validateFormats: false, validateSchema: false, meta: false, logger: false });
  const metaSchemas = [...readMetaSchemas().values()];
  for (const schema of metaSchemas) if (schema.$schema === dialectUri[dialect]) ajv.addSchema(schema);
  const validate = ajv.getSchema(dialectUri[dialect]);
  if (!validate) throw new Error(`ajv has no meta-schema for ${dialect}`);
  return (schema) => validate(schema) === true;
}

/** A case in which ajv's verdict differs from the specification. */
export interface Deviation {
  reason: string;
  dialects: readonly Dialect[];
  /** Returns whether a random schema and value may show the deviation, so that the verdicts are not compared. */
  affects(this: void, schema: JsonSchema, value: unknown): boolean;
  /** A schema and a value that show the deviation, and the verdict of the specification. */
  example: { schema: JsonSchema; value: unknown; valid: boolean };
}

/** Each reason names the case of the official test suite, or the section of the specification, that confirms it. */
export const deviations: readonly Deviation[] = [
  {
    reason:
      "ajv ignores `if` without `then` and `else`, and so the properties and items that `if` evaluates (unevaluatedProperties.json: unevaluatedProperties can see annotations from if without then and else).",
    dialects: ["draft2019-09", "draft2020-12"],
    affects: (schema) =>
      usesUnevaluated(schema) && uses(schema, (one) => "if" in one && !("then" in one && "else" in one)),
    example: {
      schema: { if: { properties: { a: true } }, unevaluatedProperties: false },
      value: { a: 1 },
      valid: true,
    },
  },
  {
    reason:
      "ajv counts the properties and items that a failed `if` evaluates (Core 2020-12, section 7.7.1.2: a failed schema has no annotations).",
    dialects: ["draft2019-09", "draft2020-12"],
    affects: (schema) => usesUnevaluated(schema) && uses(schema, (one) => "if" in one),
    example: {
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      schema: { if: { additionalProperties: false }, then: { minimum: 1 }, else: {}, unevaluatedProperties: false },
      value: { a: 1 },
      valid: false,
    },
  },
  {
    reason:
      "ajv treats all items beside `contains` as evaluated, instead of those that match (unevaluatedItems.json: unevaluatedItems depends on adjacent contains).",
    dialects: ["draft2020-12"],
    affects: (schema) => usesUnevaluatedItems(schema) && uses(schema, (one) => "contains" in one),
    example: {
      schema: { prefixItems: [true], contains: { type: "string" }, unevaluatedItems: false },
      value: [1, 2, "a"],
      valid: false,
    },
  },
  {
    reason:
      "ajv treats all items beside `contains` as evaluated, although `contains` evaluates none in this dialect (Core 2019-09, section 9.3.1.3).",
    dialects: ["draft2019-09"],
    affects: (schema) => usesUnevaluatedItems(schema) && uses(schema, (one) => "contains" in one),
    example: { schema: { contains: { type: "string" }, unevaluatedItems: false }, value: ["a"], valid: false },
  },
  {
    reason:
      "ajv counts the items that a failed alternative evaluates (unevaluatedItems.json: unevaluatedItems with nested items).",
    dialects: ["draft2019-09", "draft2020-12"],
    affects: (schema) =>
      usesUnevaluatedItems(schema) &&
      appliesInPlace(schema, ["items", "prefixItems", "additionalItems", "unevaluatedItems"]),
    example: {
      schema: { anyOf: [{ items: { type: "number" }, minItems: 2 }, {}], unevaluatedItems: false },
      value: [1],
      valid: false,
    },
  },
  {
    reason:
      "ajv counts the properties that `patternProperties` of a failed alternative evaluates (Core 2020-12, section 7.7.1.2: a failed schema has no annotations).",
    dialects: ["draft2019-09", "draft2020-12"],
    affects: (schema) =>
      uses(schema, (one) => "unevaluatedProperties" in one) && appliesInPlace(schema, ["patternProperties"]),
    example: {
      schema: { anyOf: [true, { patternProperties: { "^a": { type: "null" } } }], unevaluatedProperties: false },
      value: { a: 1 },
      valid: false,
    },
  },
  {
    reason:
      "ajv skips `contains` and `uniqueItems` if the array is shorter than the array of schemas in `items` (Validation draft-07, sections 6.4.5 and 6.4.6).",
    dialects: ["draft4", "draft7", "draft2019-09"],
    affects: (schema) => uses(schema, (one) => Array.isArray(one.items) && ("contains" in one || "uniqueItems" in one)),
    example: {
      schema: { items: [{}, {}, { maxLength: 1 }], uniqueItems: true },
      value: [[true], [true]],
      valid: false,
    },
  },
  {
    reason:
      "ajv skips `contains` and `uniqueItems` if the array is shorter than `prefixItems` (Core 2020-12, section 10.3.1.3; Validation 2020-12, section 6.4.3).",
    dialects: ["draft2020-12"],
    affects: (schema) => uses(schema, (one) => "prefixItems" in one && ("contains" in one || "uniqueItems" in one)),
    example: { schema: { prefixItems: [{ type: "string" }], contains: true }, value: [], valid: false },
  },
  {
    reason:
      "ajv accepts an empty array for `contains` if it has just found a match in another array (Validation draft-07, section 6.4.6; Core 2020-12, section 10.3.1.3: at least one item must match).",
    dialects: ["draft7", "draft2019-09", "draft2020-12"],
    affects: (schema, value) => uses(schema, (one) => "contains" in one) && containsEmptyArray(value),
    example: {
      schema: { additionalProperties: { contains: { type: "null" } } },
      value: { a: [null], b: [] },
      valid: false,
    },
  },
  {
    reason:
      "ajv treats the property `constructor` as evaluated (Core 2020-12, section 11.3: only the annotations of other keywords count).",
    dialects: ["draft2019-09", "draft2020-12"],
    affects: (schema, value) =>
      uses(schema, (one) => "unevaluatedProperties" in one) && uses(value, (one) => Object.hasOwn(one, "constructor")),
    example: {
      schema: { patternProperties: { "^a": {} }, unevaluatedProperties: false },
      value: { constructor: 1 },
      valid: false,
    },
  },
  {
    reason:
      "ajv compares the property `constructor` of two objects by identity (Core, section 4.2.2: objects are equal if their properties have equal values).",
    dialects: ["draft4", "draft7", "draft2019-09", "draft2020-12"],
    affects: (schema, value) =>
      uses(schema, (one) => "uniqueItems" in one) && uses(value, (one) => Object.hasOwn(one, "constructor")),
    example: { schema: { uniqueItems: true }, value: [{ constructor: {} }, { constructor: {} }], valid: false },
  },
];

function containsEmptyArray(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value) && value.length === 0) return true;
  return Object.values(value).some(containsEmptyArray);
}

/** Returns whether one of the keywords occurs in a subschema that applies to the same value as the schema around it. */
function appliesInPlace(schema: JsonSchema, keywords: readonly string[]): boolean {
  const contains = (value: unknown): boolean => uses(value, (one) => keywords.some((keyword) => keyword in one));
  return uses(schema, (one) =>
    Object.entries(one).some(([keyword, value]) => {
      if (keyword === "$ref") return contains(value === "#" ? schema : schema.$defs);
      return inPlaceKeywords.has(keyword) && contains(value);
    }),
  );
}

const inPlaceKeywords = new Set(["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"]);

/** Returns whether a schema object anywhere in the value meets the condition. Values of `enum` and `const` count as well. */
function uses(value: unknown, condition: (schema: JsonSchema) => boolean): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (!Array.isArray(value) && condition(value as JsonSchema)) return true;
  return Object.values(value).some((one) => uses(one, condition));
}

function usesUnevaluatedItems(schema: JsonSchema): boolean {
  return uses(schema, (one) => "unevaluatedItems" in one);
}

function usesUnevaluated(schema: JsonSchema): boolean {
  return uses(schema, (one) => "unevaluatedItems" in one || "unevaluatedProperties" in one);
}

/** Valid according to the meta-schema, which does not assert formats, but unusable. Our evaluator must refuse these schemas. */
export const refusedBeyondMetaSchema: readonly { reason: string; schema: JsonSchema }[] = [
  { reason: "`pattern` is not a regular expression", schema: { pattern: "(" } },
  { reason: "a name in `patternProperties` is not a regular expression", schema: { patternProperties: { "[": {} } } },
  { reason: "`$ref` leads to no subschema", schema: { properties: { a: { $ref: "#/properties/none" } } } },
  { reason: "`$ref` leads to another document", schema: { $ref: "http://example.com/other" } },
];
