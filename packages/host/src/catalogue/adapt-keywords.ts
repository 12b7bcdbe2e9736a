import { isObject } from "@mcparley/internal/is-object";
import { boundedText, placeBelow } from "./adaptation.ts";
import { describeValues, removeContradictions } from "./contradictions.ts";
import { type Keywords, type SchemaNode, addRemark, dropKeyword } from "./flatten-schema.ts";
import { identifiers, keywordTests, typesOf } from "./json-schema-keywords.ts";
import { alternatives } from "./adapt-union.ts";

/** Maximum characters of the description and of the title of a schema. */
const MAX_TEXT_CHARS: Readonly<Record<"description" | "title", number>> = { description: 1024, title: 200 };

/** Brings the keywords of a schema to JSON Schema 2020-12, and removes those with an invalid value. */
export function prepareKeywords(node: SchemaNode): void {
  const { keywords, run } = node;
  for (const keyword of keywords.keys()) {
    if (identifiers.has(keyword) || keyword.startsWith("x-")) keywords.delete(keyword);
  }
  modernize(keywords);
  removeInvalid(node);
  if (keywords.has("const") && !run.rules.keywords.has("const")) {
    keywords.set("enum", [keywords.get("const")]);
    keywords.delete("const");
  }
  replaceUnevaluated(node);
  boundTexts(node);
  removeContradictions(node);
}

/** Replaces keywords of older drafts by those of 2020-12 with the same meaning. */
function modernize(keywords: Keywords): void {
  for (const [exclusive, limit] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    const isExclusive = keywords.get(exclusive);
    if (typeof isExclusive !== "boolean") continue;
    keywords.delete(exclusive);
    if (!isExclusive || !keywords.has(limit)) continue;
    keywords.set(exclusive, keywords.get(limit));
    keywords.delete(limit);
  }
  const additionalItems = keywords.get("additionalItems");
  keywords.delete("additionalItems");
  const items = keywords.get("items");
  if (Array.isArray(items)) {
    keywords.delete("items");
    if (items.length > 0) keywords.set("prefixItems", items);
    if (additionalItems !== undefined) keywords.set("items", additionalItems);
  }
  splitDependencies(keywords);
}

function splitDependencies(keywords: Keywords): void {
  const dependencies = keywords.get("dependencies");
  if (!isObject(dependencies)) return;
  keywords.delete("dependencies");
  const entries = Object.entries(dependencies);
  const lists = entries.filter(([, value]) => Array.isArray(value));
  const schemas = entries.filter(([, value]) => !Array.isArray(value));
  if (lists.length > 0 && !keywords.has("dependentRequired"))
    keywords.set("dependentRequired", Object.fromEntries(lists));
  if (schemas.length > 0 && !keywords.has("dependentSchemas"))
    keywords.set("dependentSchemas", Object.fromEntries(schemas));
}

function removeInvalid(node: SchemaNode): void {
  const { keywords } = node;
  for (const [keyword, value] of keywords) {
    if (keywordTests.get(keyword)?.(value) !== false) continue;
    dropKeyword(node, keyword, `\`${keyword}\` was removed, because its value is invalid in JSON Schema 2020-12.`);
  }
  const requiredNames = keywords.get("required");
  // A list that names a property twice is invalid.
  if (Array.isArray(requiredNames)) keywords.set("required", [...new Set<unknown>(requiredNames)]);
}

/** Keywords that evaluate properties or items in the same value. */
const applicators = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "$ref", "contains"];

/** Replaces `unevaluatedProperties` and `unevaluatedItems` by the keywords that have the same meaning beside no applicator. */
function replaceUnevaluated({ keywords, place, run }: SchemaNode): void {
  for (const [keyword, replacement] of [
    ["unevaluatedProperties", "additionalProperties"],
    ["unevaluatedItems", "items"],
  ] as const) {
    const value = keywords.get(keyword);
    if (!keywords.delete(keyword) || keywords.has(replacement)) continue;
    const isSchema = typeof value === "boolean" || isObject(value);
    if (isSchema && !applicators.some((name) => keywords.has(name))) {
      keywords.set(replacement, value);
    } else {
      run.reportLooser(place, keyword, `\`${keyword}\` was removed, because it depends on keywords that can change.`);
    }
  }
}

/** Makes the texts of the server visible and bounded. */
function boundTexts({ keywords, place, run }: SchemaNode): void {
  for (const keyword of ["description", "title"] as const) {
    const text = keywords.get(keyword);
    if (typeof text !== "string") continue;
    const limit = MAX_TEXT_CHARS[keyword];
    keywords.set(keyword, boundedText(text, limit));
    if (text.length <= limit) continue;
    run.reportLooser(place, keyword, `\`${keyword}\` was cut to ${limit} characters.`);
  }
}

/** Replaces keywords that the provider does not accept by others with a similar meaning, if there are any. */
export function convertKeywords(node: SchemaNode): void {
  if (node.run.rules.restrictions.has("string-enums")) convertEnum(node);
  convertLimits(node);
  convertTuple(node);
  removeFormat(node);
  removeRefusedProperties(node);
}

/** Removes an `enum` with other values than non-empty strings. A remark in the description names the values. */
function convertEnum(node: SchemaNode): void {
  const { keywords } = node;
  const values: unknown = keywords.get("enum");
  if (!Array.isArray(values)) return;
  const types = typesOf(keywords.get("type"));
  if (types.length === 1 && types[0] === "string" && !values.includes("")) return;
  const isWholeType =
    types[0] === "null" || (types[0] === "boolean" && values.includes(true) && values.includes(false));
  if (isWholeType) return void keywords.delete("enum");
  describeValues(keywords, values);
  dropKeyword(node, "enum", "The list of values was removed. The description names them.");
}

/** Replaces exclusive limits: exactly for integers, and by an inclusive limit for other numbers. */
function convertLimits(node: SchemaNode): void {
  const { keywords, run } = node;
  const isInteger = keywords.get("type") === "integer";
  for (const [exclusive, limit, step] of [
    ["exclusiveMinimum", "minimum", 1],
    ["exclusiveMaximum", "maximum", -1],
  ] as const) {
    const value = keywords.get(exclusive);
    if (run.rules.keywords.has(exclusive) || typeof value !== "number") continue;
    const isExact = isInteger && Number.isSafeInteger(value) && Number.isSafeInteger(value + step);
    const inclusive = isExact ? value + step : value;
    const present = keywords.get(limit);
    const strictest = step > 0 ? Math.max : Math.min;
    keywords.set(limit, typeof present === "number" ? strictest(present, inclusive) : inclusive);
    if (isExact) keywords.delete(exclusive);
    else dropKeyword(node, exclusive, `\`${exclusive}\` became \`${limit}\`, which includes the limit.`);
  }
}

/** Replaces the schemas of a tuple by one schema for each item. */
function convertTuple({ keywords, place, run }: SchemaNode): void {
  const tuple: unknown = keywords.get("prefixItems");
  if (run.rules.keywords.has("prefixItems") || !Array.isArray(tuple)) return;
  keywords.delete("prefixItems");
  const furtherItems = keywords.get("items");
  // Further items can have any value, if there is no limit.
  const isOpen = furtherItems === undefined && !(Number(keywords.get("maxItems")) <= tuple.length);
  keywords.set(
    "items",
    alternatives(furtherItems === undefined || furtherItems === false ? tuple : [...tuple, furtherItems]),
  );
  if (furtherItems === false && !keywords.has("maxItems")) keywords.set("maxItems", tuple.length);
  const change = "The schemas of the items by position became one schema for each item.";
  if (isOpen) run.reportNarrower(place, "prefixItems", change);
  else run.reportLooser(place, "prefixItems", change);
}

function removeFormat(node: SchemaNode): void {
  const { keywords } = node;
  const { formats } = node.run.rules;
  const format = keywords.get("format");
  if (typeof format !== "string" || formats === undefined || formats.has(format)) return;
  addRemark(keywords, `Format: ${format}.`);
  const change = `The format ${JSON.stringify(format.slice(0, 64))} was removed. The description names it.`;
  dropKeyword(node, "format", change);
}

/** Removes properties whose names the provider refuses. A remark in the description names them, so that the model can send them. */
function removeRefusedProperties(node: SchemaNode): void {
  const { keywords, place, run } = node;
  const { propertyNames } = run.rules;
  const properties = keywords.get("properties");
  if (!isObject(properties) || propertyNames.length === 0) return;
  const refusedNames = new Set(
    Object.keys(properties).filter((name) => !propertyNames.every((rule) => rule.test(name))),
  );
  if (refusedNames.size === 0) return;
  keywords.set(
    "properties",
    Object.fromEntries(Object.entries(properties).filter(([name]) => !refusedNames.has(name))),
  );
  const requiredNames: unknown = keywords.get("required");
  if (Array.isArray(requiredNames))
    keywords.set(
      "required",
      requiredNames.filter((name) => !refusedNames.has(name)),
    );
  if (keywords.has("additionalProperties")) {
    const change = "`additionalProperties` was removed, because it would apply to properties that were removed.";
    dropKeyword(node, "additionalProperties", change);
  }
  const names = [...refusedNames].slice(0, 20).map((name) => JSON.stringify(name.slice(0, 64)));
  addRemark(keywords, `Further properties that can be sent: ${names.join(", ")}.`);
  const change = "The property was removed, because the provider refuses its name. The description names it.";
  for (const name of refusedNames) run.reportLooser(placeBelow(place, "properties", name), "properties", change);
}
