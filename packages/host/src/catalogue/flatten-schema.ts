import { type Adaptation, type Place, MAX_DEPTH, boundedText, placeBelow } from "./adaptation.ts";
import { annotations, mergeTypes, typeOfValue } from "./json-schema-keywords.ts";
import { isObject } from "@mcparley/internal/is-object";

/** The keywords of one schema, which are changed while it is adapted. */
export type Keywords = Map<string, unknown>;

/** A schema while it is adapted. */
export interface SchemaNode {
  readonly run: Adaptation;
  readonly keywords: Keywords;
  /** The place of the target, if the schema was only a reference. */
  place: Place;
  /** Whether a list of types became a union, whose branches are at no place of their own. */
  isSplit?: boolean;
}

/** The keywords to flatten. */
export interface Flattening {
  readonly references: boolean;
  readonly allOf: boolean;
}

/**
 * Replaces `$ref` by the keywords of its target, and `allOf` by those of its schemas. Keywords of two schemas that cannot be
 * expressed by one are removed from the second, and reported.
 */
export function flattenSchema(schema: object, place: Place, options: Flattening & { run: Adaptation }): SchemaNode {
  const { run } = options;
  const empty = { run, keywords: new Map(), place };
  if (!run.spend(1)) return empty;
  const keywords: Keywords = new Map(Object.entries(schema));
  if (!run.spend(sizeOf(keywords))) return empty;
  const node: SchemaNode = { run, keywords, place };
  if (options.references && keywords.has("$ref")) inline(node, options);
  if (options.allOf && Array.isArray(keywords.get("allOf"))) mergeAllOf(node, options);
  return node;
}

/** Removes a keyword, and reports the change. */
export function dropKeyword({ run, keywords, place }: SchemaNode, keyword: string, change: string): void {
  keywords.delete(keyword);
  run.reportLooser(place, keyword, change);
}

/** Maximum characters of a remark in a description. */
const MAX_REMARK_CHARS = 500;

/** Adds a sentence to the description of a schema. */
export function addRemark(keywords: Keywords, remark: string): void {
  const description = keywords.get("description");
  const text = boundedText(remark, MAX_REMARK_CHARS);
  keywords.set("description", typeof description === "string" && description !== "" ? `${description}\n${text}` : text);
}

/** Returns the number of members that a schema has without those of the schemas below it. */
function sizeOf(keywords: Keywords): number {
  const lists = [keywords.get("enum"), keywords.get("required")];
  const lengths = lists.map((list) => (Array.isArray(list) ? list.length : 0));
  const properties = keywords.get("properties");
  const propertyCount = isObject(properties) ? Object.keys(properties).length : 0;
  return lengths.reduce((sum, length) => sum + length, keywords.size + propertyCount);
}

/** Adds the keywords of the target of `$ref`. */
function inline(node: SchemaNode, options: Flattening & { run: Adaptation }): void {
  const { run, keywords, place } = node;
  const reference = keywords.get("$ref");
  const target = run.resolve(reference);
  if (!target || !isObject(target.schema)) return dropKeyword(node, "$ref", describeUnresolved(reference));
  if (place.open.includes(target.schema) || place.open.length >= MAX_DEPTH) {
    const change = "The reference is recursive. Below this place, any value of the type is shown to the model.";
    dropKeyword(node, "$ref", change);
    const { type } = target.schema;
    if (!keywords.has("type") && type !== undefined) keywords.set("type", type);
    return;
  }
  keywords.delete("$ref");
  const isOnlyReference = [...keywords.keys()].every((keyword) => annotations.has(keyword));
  const pointer = isOnlyReference ? target.pointer : place.pointer;
  const open = [...place.open, target.schema];
  const flat = flattenSchema(target.schema, { ...place, pointer, open }, options);
  conjoin(keywords, { ...flat, place });
  node.place = isOnlyReference ? flat.place : { ...place, open: flat.place.open };
}

/** Returns the sentence for a reference that is not replaced by a schema. */
export function describeUnresolved(reference: unknown): string {
  const label = typeof reference === "string" ? JSON.stringify(reference.slice(0, 200)) : "no text";
  return `The reference ${label} leads to no schema of this document. It was removed.`;
}

function mergeAllOf(node: SchemaNode, options: Flattening & { run: Adaptation }): void {
  const { keywords, place } = node;
  const branches: unknown = keywords.get("allOf");
  keywords.delete("allOf");
  if (!Array.isArray(branches)) return;
  for (const [index, branch] of branches.entries()) {
    const branchPlace = placeBelow(place, "allOf", index);
    if (!isObject(branch) || branchPlace.depth > MAX_DEPTH) {
      if (branch !== true) reportConflict(options.run, branchPlace, "allOf");
      continue;
    }
    const flat = flattenSchema(branch, branchPlace, options);
    conjoin(keywords, { ...flat, place: branchPlace });
    node.place = { ...node.place, open: [...new Set([...node.place.open, ...flat.place.open])] };
  }
}

function reportConflict(run: Adaptation, place: Place, keyword: string): void {
  const change = `\`${keyword}\` was removed, because it cannot be combined with the other keywords of its schema.`;
  run.reportLooser(place, keyword, change);
}

/** Keywords of which each is read together with the others. */
const groups: readonly (readonly string[])[] = [
  ["if", "then", "else"],
  ["contains", "minContains", "maxContains"],
];

/** Adds the keywords of a second schema to a first. Both apply. A keyword whose two values cannot be combined is removed from the second, and reported. */
export function conjoin(first: Keywords, { keywords: second, place, run }: SchemaNode): void {
  // These depend on all other keywords, some of which may be removed.
  for (const keyword of ["unevaluatedProperties", "unevaluatedItems"]) {
    const isLost = first.delete(keyword);
    if (second.delete(keyword) || isLost) reportConflict(run, place, keyword);
  }
  const groupKeywords = new Set(groups.flatMap((group) => (group.some((name) => first.has(name)) ? group : [])));
  for (const [keyword, value] of second) {
    if (!first.has(keyword) && !groupKeywords.has(keyword)) first.set(keyword, value);
    else if (!annotations.has(keyword) && !sameJson(first.get(keyword), value)) {
      const combination = groupKeywords.has(keyword) ? undefined : both(keyword, first.get(keyword), value);
      if (combination === undefined) reportConflict(run, place, keyword);
      else first.set(keyword, combination);
    }
  }
  const properties = first.get("properties");
  run.spend(isObject(properties) ? Object.keys(properties).length : 0);
}

/** Returns the value of a keyword that applies two values, or undefined if there is none. */
function both(keyword: string, first: unknown, second: unknown): unknown {
  switch (keyword) {
    case "properties":
    case "patternProperties":
      return isObject(first) && isObject(second) ? mergeProperties(first, second) : undefined;
    case "required":
      return Array.isArray(first) && Array.isArray(second) ? [...new Set<unknown>([...first, ...second])] : undefined;
    case "allOf":
      return Array.isArray(first) && Array.isArray(second) ? [...first, ...second] : undefined;
    case "type":
      return mergeTypes(first, second);
    case "enum":
      return mergeValues(first, second);
    case "items":
      return isObject(first) && isObject(second) ? { allOf: [first, second] } : undefined;
    case "additionalProperties":
      if (first === false || second === false) return false;
      return first === true ? second : second === true ? first : undefined;
    case "uniqueItems":
      return typeof first === "boolean" && typeof second === "boolean" ? true : undefined;
    default:
      return mergeMinimum(keyword, first, second);
  }
}

function mergeProperties(first: object, second: object): object {
  const properties = new Map<string, unknown>(Object.entries(first));
  for (const [name, schema] of Object.entries(second)) {
    properties.set(name, properties.has(name) ? { allOf: [properties.get(name), schema] } : schema);
  }
  return Object.fromEntries(properties);
}

function mergeValues(first: unknown, second: unknown): unknown {
  if (!Array.isArray(first) || !Array.isArray(second)) return undefined;
  const secondValues = new Set(second.map((value) => typeOfValue(value) + JSON.stringify(value)));
  const commonValues: unknown[] = first.filter((value) => secondValues.has(typeOfValue(value) + JSON.stringify(value)));
  return commonValues.length > 0 ? commonValues : undefined;
}

/** Returns whether two values have the same JSON text. */
function sameJson(first: unknown, second: unknown): boolean {
  return first === second || JSON.stringify(first) === JSON.stringify(second);
}

/** Returns the stricter of two limits, or undefined if the keyword is no limit. */
function mergeMinimum(keyword: string, first: unknown, second: unknown): number | undefined {
  if (typeof first !== "number" || typeof second !== "number") return undefined;
  if (/^(?:min|exclusiveMin)/.test(keyword)) return Math.max(first, second);
  if (/^(?:max|exclusiveMax)/.test(keyword)) return Math.min(first, second);
  return undefined;
}
