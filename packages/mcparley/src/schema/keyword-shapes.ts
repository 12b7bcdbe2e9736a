import { SchemaError, isObject, pointerStep, shorten } from "./schema.ts";
import { isSchema, placeOf } from "./subschemas.ts";

type Shape = readonly [description: string, fits: (value: unknown) => boolean, keywords: string];

const typeNames = ["array", "boolean", "integer", "null", "number", "object", "string"];
const isStrings = (value: unknown): boolean =>
  Array.isArray(value) && value.every((entry) => typeof entry === "string");
const isMap = (value: unknown, fits: (entry: unknown) => boolean): boolean =>
  isObject(value) && Object.values(value).every(fits);

const shapes: readonly Shape[] = [
  [
    "a number",
    Number.isFinite,
    "maxContains maxItems maxLength maxProperties maximum minContains minItems minLength minProperties minimum multipleOf",
  ],
  // Draft-04 has flags beside `minimum` and `maximum`, later dialects the bounds themselves.
  [
    "a number (in draft-04 a boolean)",
    (value) => Number.isFinite(value) || typeof value === "boolean",
    "exclusiveMaximum exclusiveMinimum",
  ],
  [
    "a string",
    (value) => typeof value === "string",
    "$anchor $dynamicAnchor $dynamicRef $id $recursiveRef $ref format",
  ],
  ["a regular expression (ECMA-262, u flag)", isPattern, "pattern"],
  ["a list", Array.isArray, "enum allOf anyOf oneOf prefixItems"],
  ["a list of property names", isStrings, "required"],
  ["an object of lists of property names", (value) => isMap(value, isStrings), "dependentRequired"],
  ["an object", isObject, "$defs definitions dependencies dependentSchemas properties"],
  [
    "an object whose keys are regular expressions (ECMA-262, u flag)",
    (value) => isObject(value) && Object.keys(value).every(isPattern),
    "patternProperties",
  ],
  [
    `one of ${typeNames.join(", ")}, or a list of them`,
    (value) => [value].flat().every((name) => typeNames.includes(name as string)),
    "type",
  ],
];

const shapeByKeyword: ReadonlyMap<string, Shape> = new Map(
  shapes.flatMap((shape) => shape[2].split(" ").map((keyword) => [keyword, shape])),
);

const subschema: Shape = ["a schema (an object or a boolean)", isSchema, ""];

function isPattern(value: unknown): boolean {
  try {
    return typeof value === "string" && new RegExp(value, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/**
 * Throws a SchemaError `invalid_schema` when a keyword has a value of the wrong form. Without this a misspelt type
 * would reject every value, and `required: "name"` would ask for the properties n, a, m and e.
 */
export function checkKeywordShapes(schema: object, at: string): void {
  for (const [keyword, value] of Object.entries(schema)) {
    const shape = placeOf(keyword, value) === "one" ? subschema : shapeByKeyword.get(keyword);
    if (shape) checkShape(shape, value, at + pointerStep(keyword));
  }
}

/** Throws a SchemaError unless the value is an object or a boolean. */
export function checkIsSchema(value: unknown, at: string): void {
  checkShape(subschema, value, at);
}

function checkShape([description, fits]: Shape, value: unknown, at: string): void {
  if (fits(value)) return;
  throw new SchemaError(
    "invalid_schema",
    `The schema is invalid: ${at} must be ${description}, not ${shorten(JSON.stringify(value))}.`,
  );
}
