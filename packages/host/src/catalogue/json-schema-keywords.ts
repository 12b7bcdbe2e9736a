import { isObject } from "@mcparley/internal/is-object";

/** Returns whether a value can be a schema. */
function isSchema(value: unknown): boolean {
  return typeof value === "boolean" || isObject(value);
}

/** The types of JSON Schema. */
const typeNames = ["string", "number", "integer", "boolean", "object", "array", "null"] as const;
export type TypeName = (typeof typeNames)[number];

/** Returns whether a value is the name of a type. */
function isTypeName(value: unknown): value is TypeName {
  return typeNames.some((name) => name === value);
}

const isNumber = (value: unknown): boolean => typeof value === "number";
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown): boolean => typeof value === "string";
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every((entry) => isText(entry));

/** Maximum characters of a `pattern`. */
const MAX_PATTERN_CHARS = 2000;

function isPattern(value: unknown): boolean {
  if (typeof value !== "string" || value.length > MAX_PATTERN_CHARS) return false;
  try {
    return new RegExp(value, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function isTypes(value: unknown): boolean {
  if (!Array.isArray(value)) return isTypeName(value);
  return value.length > 0 && value.every((entry) => isTypeName(entry));
}

/** Keywords with one schema as their value. */
export const schemaKeywords: ReadonlySet<string> = new Set(
  "items additionalProperties propertyNames contains not if then else".split(" "),
);
/** Keywords with a list of schemas as their value. */
export const schemaListKeywords: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
/** Keywords with schemas by names as their value. */
export const schemaMapKeywords: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas"]);

type ValueTest = (value: unknown) => boolean;

const valueTests: readonly (readonly [ValueTest, Iterable<string>])[] = [
  [isTypes, ["type"]],
  [isText, ["title", "description", "format", "$ref", "contentEncoding", "contentMediaType"]],
  [isList, ["enum", "examples", ...schemaListKeywords]],
  [isTextList, ["required"]],
  [isPattern, ["pattern"]],
  [isCount, ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]],
  [isCount, ["minContains", "maxContains"]],
  [isNumber, ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]],
  [(value) => typeof value === "number" && value > 0, ["multipleOf"]],
  [isFlag, ["uniqueItems", "deprecated", "readOnly", "writeOnly"]],
  [isObject, schemaMapKeywords],
  [(value) => isObject(value) && Object.values(value).every((entry) => isTextList(entry)), ["dependentRequired"]],
  [isSchema, schemaKeywords],
];

/** Tests of the values of keywords. A keyword with another value is removed, because providers refuse invalid schemas. */
export const keywordTests: ReadonlyMap<string, ValueTest> = new Map(
  valueTests.flatMap(([test, names]) => Array.from(names, (name) => [name, test])),
);

/** Keywords that describe a value and restrict nothing. */
export const annotations: ReadonlySet<string> = new Set(
  "title description default examples deprecated readOnly writeOnly".split(" "),
);

/** Keywords that identify a schema, or that no model reads. They are removed without a report. */
export const identifiers: ReadonlySet<string> = new Set(
  "$schema $id $anchor $dynamicAnchor $recursiveAnchor $vocabulary $comment $defs definitions discriminator".split(" "),
);

const objectKeywords = [...schemaMapKeywords].concat(
  "required additionalProperties propertyNames minProperties maxProperties dependentRequired".split(" "),
);
/** The keywords that restrict values of one type only. */
export const keywordsOfTypes: readonly (readonly [TypeName, readonly string[]])[] = [
  ["object", objectKeywords],
  ["array", ["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"]],
  ["string", ["minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

/** Returns the type of a JSON value. */
export function typeOfValue(value: unknown): TypeName {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return "object";
}

/** Returns the names of a `type`, without `integer` if `number` is among them. */
export function typesOf(type: unknown): readonly TypeName[] {
  const names = [...new Set((Array.isArray(type) ? type : [type]).filter((name) => isTypeName(name)))];
  return names.includes("number") ? names.filter((name) => name !== "integer") : names;
}

/** Returns the types that two values of `type` have in common, or undefined if there is none. */
export function mergeTypes(first: unknown, second: unknown): TypeName | readonly TypeName[] | undefined {
  const [firstTypes, right] = [typesOf(first), typesOf(second)];
  const commonTypes = firstTypes.flatMap((type) => {
    if (right.includes(type)) return [type];
    if (type === "integer" && right.includes("number")) return [type];
    return type === "number" && right.includes("integer") ? (["integer"] as const) : [];
  });
  return commonTypes.length > 1 ? commonTypes : commonTypes[0];
}

/** Returns the values of an `enum` that have one of the types. */
export function valuesOfTypes(values: readonly unknown[], types: readonly string[]): unknown[] {
  return values.filter((value) => {
    const typeName = typeOfValue(value);
    return types.includes(typeName) || (typeName === "integer" && types.includes("number"));
  });
}
