import { isObject } from "@mcparley/internal/is-object";
import { type Adaptation, type Place, boundedText, below } from "./adaptation.ts";
import type { Keywords } from "./flatten-schema.ts";
import { identifiers, keywordTests, typesOf } from "./json-schema-keywords.ts";
import { addRemark, alternatives } from "./adapt-union.ts";

/** Maximum characters of the description and of the title of a schema. */
const MAX_TEXT_CHARS: Readonly<Record<"description" | "title", number>> = { description: 1024, title: 200 };

/** Brings the keywords of a schema to JSON Schema 2020-12, and removes those with an invalid value. */
export function prepareKeywords(keywords: Keywords, place: Place, run: Adaptation): void {
  for (const keyword of keywords.keys()) {
    if (identifiers.has(keyword) || keyword.startsWith("x-")) keywords.delete(keyword);
  }
  modernize(keywords);
  removeInvalid(keywords, place, run);
  if (keywords.has("const") && !run.rules.keywords.has("const")) {
    keywords.set("enum", [keywords.get("const")]);
    keywords.delete("const");
  }
  replaceUnevaluated(keywords, place, run);
  boundTexts(keywords, place, run);
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
  const rest = keywords.get("additionalItems");
  keywords.delete("additionalItems");
  const items = keywords.get("items");
  if (Array.isArray(items)) {
    keywords.delete("items");
    if (items.length > 0) keywords.set("prefixItems", items);
    if (rest !== undefined) keywords.set("items", rest);
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

function removeInvalid(keywords: Keywords, place: Place, run: Adaptation): void {
  for (const [keyword, value] of keywords) {
    if (keywordTests.get(keyword)?.(value) !== false) continue;
    keywords.delete(keyword);
    const change = `\`${keyword}\` was removed, because its value is invalid in JSON Schema 2020-12.`;
    run.lose(place, { keyword, change, effect: "looser" });
  }
  const required = keywords.get("required");
  // A list that names a property twice is invalid.
  if (Array.isArray(required)) keywords.set("required", [...new Set<unknown>(required)]);
}

/** Keywords that evaluate properties or items in the same value. */
const applicators = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "$ref", "contains"];

/** Replaces `unevaluatedProperties` and `unevaluatedItems` by the keywords that have the same meaning beside no applicator. */
function replaceUnevaluated(keywords: Keywords, place: Place, run: Adaptation): void {
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
      const change = `\`${keyword}\` was removed, because it depends on keywords that can change.`;
      run.lose(place, { keyword, change, effect: "looser" });
    }
  }
}

/** Makes the texts of the server visible and bounded. */
function boundTexts(keywords: Keywords, place: Place, run: Adaptation): void {
  for (const keyword of ["description", "title"] as const) {
    const text = keywords.get(keyword);
    if (typeof text !== "string") continue;
    const limit = MAX_TEXT_CHARS[keyword];
    keywords.set(keyword, boundedText(text, limit));
    if (text.length <= limit) continue;
    const change = `\`${keyword}\` was cut to ${limit} characters.`;
    run.lose(place, { keyword, change, effect: "looser" });
  }
}

/** Replaces keywords that the provider does not accept by others with a similar meaning, if there are any. */
export function convertKeywords(keywords: Keywords, place: Place, run: Adaptation): void {
  if (run.rules.restrictions.has("string-enums")) convertEnum(keywords, place, run);
  convertLimits(keywords, place, run);
  convertTuple(keywords, place, run);
  removeFormat(keywords, place, run);
  removeRefusedProperties(keywords, place, run);
}

/** Removes an `enum` with other values than non-empty strings. A remark in the description names the values. */
function convertEnum(keywords: Keywords, place: Place, run: Adaptation): void {
  const values: unknown = keywords.get("enum");
  if (!Array.isArray(values)) return;
  const types = typesOf(keywords.get("type"));
  const isOfStrings = types.length === 1 && types[0] === "string";
  if (isOfStrings) {
    const strings = values.filter((value) => typeof value === "string");
    keywords.set("enum", strings);
    if (strings.length > 0 && !strings.includes("")) return;
  }
  keywords.delete("enum");
  const isWholeType =
    types[0] === "null" || (types[0] === "boolean" && values.includes(true) && values.includes(false));
  if (isWholeType) return;
  const names = values.slice(0, 30).map((value) => JSON.stringify(value));
  addRemark(keywords, `Allowed values: ${names.join(", ")}${values.length > names.length ? ", ..." : ""}.`);
  const change = "The list of values was removed. The description names them.";
  run.lose(place, { keyword: "enum", change, effect: "looser" });
}

/** Replaces exclusive limits: exactly for integers, and by an inclusive limit for other numbers. */
function convertLimits(keywords: Keywords, place: Place, run: Adaptation): void {
  const isInteger = keywords.get("type") === "integer";
  for (const [exclusive, limit, step] of [
    ["exclusiveMinimum", "minimum", 1],
    ["exclusiveMaximum", "maximum", -1],
  ] as const) {
    const value = keywords.get(exclusive);
    if (run.rules.keywords.has(exclusive) || typeof value !== "number") continue;
    keywords.delete(exclusive);
    const isExact = isInteger && Number.isSafeInteger(value) && Number.isSafeInteger(value + step);
    const inclusive = isExact ? value + step : value;
    const present = keywords.get(limit);
    const strictest = step > 0 ? Math.max : Math.min;
    keywords.set(limit, typeof present === "number" ? strictest(present, inclusive) : inclusive);
    if (isExact) continue;
    const change = `\`${exclusive}\` became \`${limit}\`, which includes the limit.`;
    run.lose(place, { keyword: exclusive, change, effect: "looser" });
  }
}

/** Replaces the schemas of a tuple by one schema for each item. */
function convertTuple(keywords: Keywords, place: Place, run: Adaptation): void {
  const tuple: unknown = keywords.get("prefixItems");
  if (run.rules.keywords.has("prefixItems") || !Array.isArray(tuple)) return;
  keywords.delete("prefixItems");
  const rest = keywords.get("items");
  // Further items can have any value, if there is no limit.
  const isOpen = rest === undefined && !(Number(keywords.get("maxItems")) <= tuple.length);
  keywords.set("items", alternatives(rest === undefined || rest === false ? tuple : [...tuple, rest]));
  if (rest === false && !keywords.has("maxItems")) keywords.set("maxItems", tuple.length);
  const change = "The schemas of the items by position became one schema for each item.";
  run.lose(place, { keyword: "prefixItems", change, effect: isOpen ? "narrower" : "looser" });
}

function removeFormat(keywords: Keywords, place: Place, run: Adaptation): void {
  const format = keywords.get("format");
  if (typeof format !== "string" || run.rules.formats === undefined || run.rules.formats.has(format)) return;
  keywords.delete("format");
  addRemark(keywords, `Format: ${format}.`);
  const change = `The format ${JSON.stringify(format.slice(0, 64))} was removed. The description names it.`;
  run.lose(place, { keyword: "format", change, effect: "looser" });
}

function removeAdditional(keywords: Keywords, place: Place, run: Adaptation): void {
  if (!keywords.delete("additionalProperties")) return;
  const change = "`additionalProperties` was removed, because it would apply to properties that were removed.";
  run.lose(place, { keyword: "additionalProperties", change, effect: "looser" });
}

/** Removes properties whose names the provider refuses. A remark in the description names them, so that the model can send them. */
function removeRefusedProperties(keywords: Keywords, place: Place, run: Adaptation): void {
  const { propertyNames } = run.rules;
  const properties = keywords.get("properties");
  if (!isObject(properties) || propertyNames.length === 0) return;
  const entries = Object.entries(properties);
  const accepted = entries.filter(([name]) => propertyNames.every((pattern) => pattern.test(name)));
  if (accepted.length === entries.length) return;
  const kept = new Set(accepted.map(([name]) => name));
  const refused = entries.map(([name]) => name).filter((name) => !kept.has(name));
  keywords.set("properties", Object.fromEntries(accepted));
  const required: unknown = keywords.get("required");
  const isRefused = new Set<unknown>(refused);
  if (Array.isArray(required))
    keywords.set(
      "required",
      required.filter((name) => !isRefused.has(name)),
    );
  removeAdditional(keywords, place, run);
  const names = refused.slice(0, 20).map((name) => JSON.stringify(name.slice(0, 64)));
  addRemark(keywords, `Further properties that can be sent: ${names.join(", ")}.`);
  for (const name of refused) {
    const change = "The property was removed, because the provider refuses its name. The description names it.";
    run.lose(below(place, "properties", name), { keyword: "properties", change, effect: "looser" });
  }
}
