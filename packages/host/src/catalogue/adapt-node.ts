import type { JsonObject } from "mcparley";
import { isWithinDepth } from "../values/json-depth.ts";
import { type Adaptation, type Place, MAX_DEPTH, below } from "./adaptation.ts";
import { adaptUnion, splitTypes } from "./adapt-union.ts";
import { convertKeywords } from "./convert-keywords.ts";
import { type Keywords, type SchemaNode, conjoin, flattenSchema, unresolved } from "./flatten-schema.ts";
import { annotations, schemaKeywords, schemaListKeywords, schemaMapKeywords } from "./json-schema-keywords.ts";
import { isObject } from "@mcparley/internal/is-object";
import { prepareKeywords } from "./prepare-keywords.ts";
import type { ProviderRules } from "./providers.ts";

/** Adapts a schema at a place below the outermost one. */
export function adaptNode(schema: unknown, place: Place, run: Adaptation): JsonObject {
  return adaptWith(schema, place, { run, also: new Map() });
}

/** Adapts a schema to which further keywords apply. */
function adaptWith(schema: unknown, place: Place, { run, also }: { run: Adaptation; also: Keywords }): JsonObject {
  if (place.depth > MAX_DEPTH || !run.spend(1)) {
    const change = "The schema is too deep or too large. Any value is shown to the model.";
    run.lose(place, { keyword: "type", change, effect: "looser" });
    return anyValue(run);
  }
  const body = schema === true && also.size > 0 ? {} : schema;
  if (!isObject(body)) return adaptBoolean(body, place, run);
  const isFlattened = { references: !run.keepsReferences, allOf: !run.rules.keywords.has("allOf") };
  const node = flattenSchema(body, place, { run, ...isFlattened });
  conjoin(node.keywords, new Map(also), { place, run });
  prepareKeywords(node.keywords, node.place, run);
  splitTypes(node, run);
  const union = adaptUnion(node, run, (branch, at, siblings) => adaptWith(branch, at, { run, also: siblings }));
  return union ?? adaptKeywords(node, run);
}

/** Whether a schema is a type with visible texts, as most properties are. All providers accept it as it is. */
function isSimple(schema: unknown): schema is JsonObject {
  if (!isObject(schema) || !simpleTypes.has(schema.type)) return false;
  for (const keyword in schema) if (keyword !== "type" && !isSimpleText(keyword, schema[keyword])) return false;
  return true;
}

function isSimpleText(keyword: string, value: unknown): boolean {
  if ((keyword !== "description" && keyword !== "title") || typeof value !== "string") return false;
  return value.length <= 200 && /^[ -~]*$/.test(value);
}

/** Maximum properties of a schema that is not divided, so that its members are within the budget of an adaptation. */
const MAX_SIMPLE_PROPERTIES = 1_000;

/** Whether an outermost schema has only simple properties, as those of most tools. The provider accepts it as it is. */
export function isSimpleObject(schema: unknown, { propertyNames }: ProviderRules): schema is JsonObject {
  if (!isObject(schema) || schema.type !== "object" || !isObject(schema.properties)) return false;
  const { properties, required } = schema;
  for (const keyword in schema) {
    if (keyword === "type" || keyword === "properties" || keyword === "required") continue;
    if (!isSimpleText(keyword, schema[keyword])) return false;
  }
  const names = Object.keys(properties);
  if (names.length > MAX_SIMPLE_PROPERTIES) return false;
  for (const name of names) {
    if (!isSimple(properties[name]) || !propertyNames.every((pattern) => pattern.test(name))) return false;
  }
  if (!Object.hasOwn(schema, "required")) return true;
  if (!Array.isArray(required) || required.length === 0 || new Set(required).size < required.length) return false;
  return required.every((name) => typeof name === "string" && Object.hasOwn(properties, name));
}

const simpleTypes: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean"]);

function adaptBoolean(schema: unknown, place: Place, run: Adaptation): JsonObject {
  if (schema === false && run.rules.keywords.has("not")) return { not: {} };
  if (schema !== true) {
    const change = "The value is no schema that a value can match. Any value is shown to the model.";
    run.lose(place, { keyword: "type", change, effect: "looser" });
  }
  return anyOf(place, run);
}

/** Adapts the keywords of a schema that needs no union. */
export function adaptKeywords({ keywords, place }: SchemaNode, run: Adaptation): JsonObject {
  convertKeywords(keywords, place, run);
  removeUnknown(keywords, place, run);
  removeDeep(keywords, place, run);
  keepReference(keywords, place, run);
  if (run.rules.restrictions.has("type-required") && !keywords.has("type")) {
    const description = keywords.get("description");
    return anyOf(place, run, typeof description === "string" ? description : undefined);
  }
  if (run.rules.restrictions.has("items-required")) addItems(keywords);
  for (const [keyword, value] of keywords) keywords.set(keyword, adaptValue(keyword, value, { place, run }));
  if (run.rules.restrictions.has("required-defined")) removeUndefinedRequired(keywords, place, run);
  const required = keywords.get("required");
  if (Array.isArray(required) && required.length === 0) keywords.delete("required");
  return Object.fromEntries(keywords);
}

/** Keywords below which a looser schema can make the whole schema narrower. */
export const negations: readonly string[] = ["not", "if", "oneOf", "contains"];

function adaptValue(keyword: string, value: unknown, at: { place: Place; run: Adaptation }): unknown {
  const { run } = at;
  const place = negations.includes(keyword) ? { ...at.place, isNegated: true } : at.place;
  if (schemaListKeywords.has(keyword) && Array.isArray(value)) {
    return value.map((schema, index) => adaptNode(schema, below(place, keyword, index), run));
  }
  if (schemaMapKeywords.has(keyword) && isObject(value)) {
    const adapted = Object.entries(value).map(([name, schema]) => {
      const isUnchanged = place.depth < MAX_DEPTH && isSimple(schema) && run.spend(1 + Object.keys(schema).length);
      return [name, isUnchanged ? schema : adaptNode(schema, below(place, keyword, name), run)] as const;
    });
    return Object.fromEntries(adapted);
  }
  // A boolean is accepted here by all providers that accept the keyword.
  if (keyword === "additionalProperties" && typeof value === "boolean") return value;
  return schemaKeywords.has(keyword) ? adaptNode(value, below(place, keyword), run) : value;
}

function removeUnknown(keywords: Keywords, place: Place, run: Adaptation): void {
  for (const keyword of keywords.keys()) {
    if (run.rules.keywords.has(keyword)) continue;
    keywords.delete(keyword);
    const kind = annotations.has(keyword) ? "annotation" : "restriction";
    const change = `\`${keyword}\` was removed. The provider does not accept this ${kind}.`;
    run.lose(place, { keyword, change, effect: "looser" });
  }
}

/** Removes values such as `default` that are nested too deep. Copies of them could exhaust the stack. */
function removeDeep(keywords: Keywords, place: Place, run: Adaptation): void {
  for (const [keyword, value] of keywords) {
    const isOfSchemas =
      schemaKeywords.has(keyword) || schemaListKeywords.has(keyword) || schemaMapKeywords.has(keyword);
    if (isOfSchemas || isWithinDepth(value, MAX_DEPTH)) continue;
    keywords.delete(keyword);
    const change = `\`${keyword}\` was removed, because its value is nested deeper than ${MAX_DEPTH} levels.`;
    run.lose(place, { keyword, change, effect: "looser" });
  }
}

/** Makes a reference lead to a definition of the adapted schema. */
function keepReference(keywords: Keywords, place: Place, run: Adaptation): void {
  if (!keywords.has("$ref")) return;
  const reference = keywords.get("$ref");
  const target = run.resolve(reference);
  if (target) {
    keywords.set("$ref", run.define(target));
    return;
  }
  keywords.delete("$ref");
  run.lose(place, { keyword: "$ref", change: unresolved(reference), effect: "looser" });
}

/** OpenAI and Google refuse an array without a schema of its items. */
function addItems(keywords: Keywords): void {
  const type = keywords.get("type");
  const isArray = type === "array" || (Array.isArray(type) && type.includes("array"));
  if (isArray && !keywords.has("items")) keywords.set("items", true);
}

function removeUndefinedRequired(keywords: Keywords, place: Place, run: Adaptation): void {
  const required: unknown = keywords.get("required");
  if (!Array.isArray(required)) return;
  const properties = keywords.get("properties");
  const known = new Set<unknown>(isObject(properties) ? Object.keys(properties) : []);
  const defined = required.filter((name) => known.has(name));
  if (defined.length === required.length) return;
  keywords.set("required", defined);
  const change = "Names that are not in `properties` were removed.";
  run.lose(place, { keyword: "required", change, effect: "looser" });
}

const scalar: readonly JsonObject[] = [{ type: "string" }, { type: "number" }, { type: "boolean" }, { type: "object" }];

/** Returns a schema of any value. */
function anyValue(run: Adaptation): JsonObject {
  if (!run.rules.restrictions.has("type-required")) return {};
  return { anyOf: [...scalar, { type: "array", items: { anyOf: [...scalar] } }, { type: "null" }] };
}

/** Returns a schema of any value, and reports if it hides some from the model. */
function anyOf(place: Place, run: Adaptation, description?: string): JsonObject {
  const schema = anyValue(run);
  if (!run.rules.restrictions.has("type-required")) return schema;
  const change = "A type was added: a union of all types, with no arrays or nulls in arrays.";
  run.lose(place, { keyword: "type", change, effect: "narrower" });
  if (description === undefined) return schema;
  const [first, ...others] = Array.isArray(schema["anyOf"]) ? schema["anyOf"] : [];
  return { anyOf: [{ ...first, description }, ...others] };
}
