import type { JsonObject } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import { Adaptation, type Place, type SchemaOrigin, MAX_DEPTH, placeBelow } from "./adaptation.ts";
import {
  type SchemaNode,
  flattenSchema,
  type Keywords,
  conjoin,
  dropKeyword,
  describeUnresolved,
} from "./flatten-schema.ts";
import { isNever } from "./contradictions.ts";
import { mergeUnion, adaptUnion, splitTypes } from "./adapt-union.ts";
import { prepareKeywords, convertKeywords } from "./adapt-keywords.ts";
import { type ProviderName, type ProviderRules, rulesOf } from "./providers.ts";
import type { SchemaLoss } from "./catalogue.ts";
import { isWithinDepth } from "../values/map-texts.ts";
import { annotations, schemaKeywords, schemaListKeywords, schemaMapKeywords } from "./json-schema-keywords.ts";

/** A schema that a provider accepts, and the changes that were made for it. */
export interface AdaptedSchema {
  readonly schema: JsonObject;
  readonly losses: readonly SchemaLoss[];
}

/**
 * Adapts the input schema of a tool to a model provider.
 *
 * All keywords that the provider accepts are kept. Other keywords are replaced or removed, and each change of the meaning is
 * reported. The schema is bounded in depth and size, references to other documents are not followed, and
 * any JSON is adapted without an error.
 */
export function adaptSchema(schema: unknown, provider: ProviderName, origin: SchemaOrigin): AdaptedSchema {
  const rules = rulesOf(provider);
  if (isSimpleObject(schema, rules)) {
    const { type, properties, ...keywords } = schema;
    return { schema: { type, properties, ...keywords }, losses: [] };
  }
  const run = new Adaptation(schema, rules, origin);
  const root: Place = { pointer: "", depth: 0, open: [schema] };
  const rootSchema = adaptRoot(schema, root, run);
  const definitions = new Map<string, JsonObject>();
  // A definition can be used below a negation anywhere in the document.
  const isNegated = run.definitions.size > 0 && hasNegation(schema);
  // A definition can add further ones, which the loop reaches.
  for (const [name, target] of run.definitions) {
    definitions.set(name, adaptNode(target.schema, { ...root, pointer: target.pointer, isNegated }, run));
  }
  const schemas = definitions.size > 0 && { $defs: Object.fromEntries(definitions) };
  return { schema: { ...rootSchema, ...schemas }, losses: run.losses };
}

function hasNegation(schema: unknown): boolean {
  const json = JSON.stringify(schema);
  return negations.some((keyword) => json.includes(`"${keyword}":`));
}

/** Adapts the outermost schema. All providers require an object there. */
function adaptRoot(schema: unknown, place: Place, run: Adaptation): JsonObject {
  const isRefused = (keyword: string) => run.rules.refusedAtRoot.has(keyword) || !run.rules.keywords.has(keyword);
  const options = { run, references: true, allOf: isRefused("allOf") };
  const node = flattenSchema(isObject(schema) ? schema : {}, place, options);
  prepareKeywords(node);
  for (const keyword of ["anyOf", "oneOf"] as const) {
    if (node.keywords.has(keyword) && isRefused(keyword)) mergeUnion(node, keyword);
  }
  setObject(node);
  const { type, properties, ...keywords } = adaptKeywords(node);
  return { type, properties: properties ?? {}, ...keywords };
}

/** Sets the type to `object`, and removes the keywords that are refused in the outermost schema. */
function setObject(node: SchemaNode): void {
  const { keywords, place, run } = node;
  const type = keywords.get("type");
  keywords.set("type", "object");
  if (type !== undefined && type !== "object") {
    run.reportLooser(place, "type", "The type became `object`, because arguments are always an object.");
  }
  for (const keyword of run.rules.refusedAtRoot) {
    if (!keywords.has(keyword)) continue;
    dropKeyword(node, keyword, `\`${keyword}\` was removed. The provider refuses it in the outermost schema.`);
  }
}

/** Adapts a schema at a place below the outermost one. */
function adaptNode(schema: unknown, place: Place, run: Adaptation): JsonObject {
  return adaptWith(schema, place, { run, also: new Map() });
}

/** Adapts a schema to which further keywords apply. */
function adaptWith(schema: unknown, place: Place, { run, also }: { run: Adaptation; also: Keywords }): JsonObject {
  if (place.depth > MAX_DEPTH || !run.spend(1)) {
    run.reportLooser(place, "type", "The schema is too deep or too large. Any value is shown to the model.");
    return anyValue(run);
  }
  const body = schema === true && also.size > 0 ? {} : schema;
  if (!isObject(body)) return adaptBoolean(body, place, run);
  const { keywords } = run.rules;
  const node = flattenSchema(body, place, { run, references: !keywords.has("$ref"), allOf: !keywords.has("allOf") });
  conjoin(node.keywords, { keywords: new Map(also), place, run });
  prepareKeywords(node);
  splitTypes(node);
  const union = adaptUnion(node, (branch, branchPlace, siblings) =>
    adaptWith(branch, branchPlace, { run, also: siblings }),
  );
  return union ?? adaptKeywords(node);
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
function isSimpleObject(schema: unknown, { propertyNames }: ProviderRules): schema is JsonObject {
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
    run.reportLooser(place, "type", "The value is no schema that a value can match. Any value is shown to the model.");
  }
  return anyOf(place, run);
}

/** Adapts the keywords of a schema that needs no union. */
function adaptKeywords(node: SchemaNode): JsonObject {
  const { keywords, place, run } = node;
  convertKeywords(node);
  removeUnknown(node);
  removeDeep(node);
  keepReference(node);
  if (run.rules.restrictions.has("type-required") && !keywords.has("type")) {
    const description = keywords.get("description");
    return anyOf(place, run, typeof description === "string" ? description : undefined);
  }
  if (run.rules.restrictions.has("items-required")) addItems(keywords);
  for (const [keyword, value] of keywords) keywords.set(keyword, adaptValue(keyword, value, node));
  if (run.rules.restrictions.has("required-defined")) removeUndefinedRequired(node);
  const requiredNames = keywords.get("required");
  if (Array.isArray(requiredNames) && requiredNames.length === 0) keywords.delete("required");
  return Object.fromEntries(keywords);
}

/** Keywords below which a looser schema can make the whole schema narrower. */
const negations: readonly string[] = ["not", "if", "oneOf", "contains"];

function adaptValue(keyword: string, value: unknown, node: SchemaNode): unknown {
  const { run } = node;
  const place = negations.includes(keyword) ? { ...node.place, isNegated: true } : node.place;
  if (schemaListKeywords.has(keyword) && Array.isArray(value)) {
    const isUnion = keyword === "anyOf" || keyword === "oneOf";
    return value.flatMap((schema: unknown, index) =>
      isUnion && isNever(schema, node.keywords) ? [] : [adaptNode(schema, placeBelow(place, keyword, index), run)],
    );
  }
  if (schemaMapKeywords.has(keyword) && isObject(value)) {
    const entries = Object.entries(value).map(([name, schema]) => {
      const isUnchanged = place.depth < MAX_DEPTH && isSimple(schema) && run.spend(1 + Object.keys(schema).length);
      return [name, isUnchanged ? schema : adaptNode(schema, placeBelow(place, keyword, name), run)] as const;
    });
    return Object.fromEntries(entries);
  }
  // A boolean is accepted here by all providers that accept the keyword.
  if (keyword === "additionalProperties" && typeof value === "boolean") return value;
  return schemaKeywords.has(keyword) ? adaptNode(value, placeBelow(place, keyword), run) : value;
}

function removeUnknown(node: SchemaNode): void {
  for (const keyword of node.keywords.keys()) {
    if (node.run.rules.keywords.has(keyword)) continue;
    const kind = annotations.has(keyword) ? "annotation" : "restriction";
    dropKeyword(node, keyword, `\`${keyword}\` was removed. The provider does not accept this ${kind}.`);
  }
}

/** Removes values such as `default` that are nested too deep. Copies of them could exhaust the stack. */
function removeDeep(node: SchemaNode): void {
  for (const [keyword, value] of node.keywords) {
    const isOfSchemas =
      schemaKeywords.has(keyword) || schemaListKeywords.has(keyword) || schemaMapKeywords.has(keyword);
    if (isOfSchemas || isWithinDepth(value, MAX_DEPTH)) continue;
    const change = `\`${keyword}\` was removed, because its value is nested deeper than ${MAX_DEPTH} levels.`;
    dropKeyword(node, keyword, change);
  }
}

/** Makes a reference lead to a definition of the adapted schema. */
function keepReference(node: SchemaNode): void {
  const { keywords, run } = node;
  if (!keywords.has("$ref")) return;
  const reference = keywords.get("$ref");
  const target = run.resolve(reference);
  if (target) keywords.set("$ref", run.define(target));
  else dropKeyword(node, "$ref", describeUnresolved(reference));
}

/** OpenAI and Google refuse an array without a schema of its items. */
function addItems(keywords: Keywords): void {
  const type = keywords.get("type");
  const isArray = type === "array" || (Array.isArray(type) && type.includes("array"));
  if (isArray && !keywords.has("items")) keywords.set("items", true);
}

function removeUndefinedRequired({ keywords, place, run }: SchemaNode): void {
  const requiredNames: unknown = keywords.get("required");
  if (!Array.isArray(requiredNames)) return;
  const properties = keywords.get("properties");
  const propertyNames = new Set<unknown>(isObject(properties) ? Object.keys(properties) : []);
  const definedNames = requiredNames.filter((name) => propertyNames.has(name));
  if (definedNames.length === requiredNames.length) return;
  keywords.set("required", definedNames);
  run.reportLooser(place, "required", "Names that are not in `properties` were removed.");
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
  run.reportNarrower(place, "type", "A type was added: a union of all types, with no arrays or nulls in arrays.");
  if (description === undefined) return schema;
  const [first, ...branches] = Array.isArray(schema["anyOf"]) ? schema["anyOf"] : [];
  return { anyOf: [{ ...first, description }, ...branches] };
}
