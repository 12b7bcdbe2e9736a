import { type Adaptation, type Place, boundedText } from "./adaptation.ts";
import type { Keywords } from "./flatten-schema.ts";
import { identifiers, keywordTests } from "./json-schema-keywords.ts";
import { isObject } from "@mcparley/internal/is-object";

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
