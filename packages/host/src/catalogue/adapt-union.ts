import type { JsonObject } from "mcparley";
import { type Adaptation, type Place, below } from "./adaptation.ts";
import { valuesOfType } from "./convert-keywords.ts";
import type { Keywords, SchemaNode } from "./flatten-schema.ts";
import { annotations, keywordsOfTypes, typeOfValue, typesOf } from "./json-schema-keywords.ts";
import { addRemark, isNever, mergeUnion } from "./merge-union.ts";

/** Adapts a schema to which the given keywords also apply. */
type AdaptBranch = (schema: unknown, place: Place, also: Keywords) => JsonObject;

/** Replaces a list of types by a union of schemas with one type each, if the provider accepts no list. */
export function splitTypes(node: SchemaNode, run: Adaptation): void {
  const { keywords } = node;
  const { restrictions } = run.rules;
  if (!restrictions.has("single-type")) return;
  const [single, ...others] = typesOf(keywords.get("type"));
  if (single !== undefined && others.length === 0) keywords.set("type", single);
  if (keywords.has("anyOf") || keywords.has("oneOf")) return;
  const types = typesOf(keywords.get("type") ?? typesOfEnum(keywords) ?? addTypes(node, run));
  if (types.length < 2) {
    if (types[0] !== undefined) keywords.set("type", types[0]);
    return;
  }
  const values: unknown = keywords.get("enum");
  const branches = types.flatMap((type) => {
    const kept = [...keywords].filter(([keyword]) => isFor(keyword, type) && !annotations.has(keyword));
    const branch = new Map(kept).set("type", type);
    if (Array.isArray(values)) branch.set("enum", valuesOfType(values, type));
    const isEmpty = Array.isArray(values) && valuesOfType(values, type).length === 0;
    return isEmpty ? [] : [Object.fromEntries(branch)];
  });
  for (const keyword of keywords.keys()) if (!annotations.has(keyword)) keywords.delete(keyword);
  keywords.set("anyOf", branches);
  node.isSplit = true;
}

function typesOfEnum(keywords: Keywords): readonly string[] | undefined {
  const values: unknown = keywords.get("enum");
  return Array.isArray(values) ? values.map((value) => typeOfValue(value)) : undefined;
}

/** Returns the types that the keywords of a schema without `type` are for. */
function addTypes({ keywords, place }: SchemaNode, run: Adaptation): readonly string[] {
  if (!run.rules.restrictions.has("type-required")) return [];
  const found = keywordsOfTypes.filter(([, names]) => names.some((name) => keywords.has(name)));
  const types = found.map(([type]) => type);
  if (types.length > 0) {
    const change = `The type was added: ${types.join(" or ")}. The other keywords restrict values of this type only.`;
    run.lose(place, { keyword: "type", change, effect: "narrower" });
  }
  return types;
}

/** Returns whether a keyword restricts values of a type. */
function isFor(keyword: string, type: string): boolean {
  const family = type === "integer" ? "number" : type;
  return keywordsOfTypes.every(([other, names]) => other === family || !names.includes(keyword));
}

/** Adapts a schema with a union, if the provider accepts no other keyword beside `anyOf`. Returns undefined if there is none. */
export function adaptUnion(node: SchemaNode, run: Adaptation, adapt: AdaptBranch): JsonObject | undefined {
  const { keywords } = node;
  replaceOneOf(node, run);
  const isAlone = run.rules.restrictions.has("union-alone");
  if (isAlone && keywords.has("anyOf") && isObject(keywords)) mergeUnion(node, "anyOf", run);
  const union: unknown = keywords.get("anyOf");
  if (!isAlone || !Array.isArray(union)) return undefined;
  keywords.delete("anyOf");
  const siblings = new Map([...keywords].filter(([keyword]) => !annotations.has(keyword)));
  const branches = union.flatMap((branch: unknown, index) => {
    if (isNever(branch)) return [];
    const place =
      node.isSplit === true ? { ...node.place, depth: node.place.depth + 1 } : below(node.place, "anyOf", index);
    const adapted = adapt(branch, place, siblings);
    return isUnion(adapted) ? adapted.anyOf : [adapted];
  });
  const distinct = [...new Map(branches.map((branch) => [JSON.stringify(branch), branch])).values()];
  return annotate(distinct, node, run);
}

function isUnion(schema: JsonObject): schema is JsonObject & { anyOf: JsonObject[] } {
  return Array.isArray(schema["anyOf"]);
}

function replaceOneOf({ keywords, place }: SchemaNode, run: Adaptation): void {
  const union = keywords.get("oneOf");
  if (union === undefined || run.rules.keywords.has("oneOf")) return;
  keywords.delete("oneOf");
  const isReplaced = !keywords.has("anyOf");
  if (isReplaced) keywords.set("anyOf", union);
  const change = isReplaced ? "`oneOf` became `anyOf`." : "`oneOf` was removed, because `anyOf` is beside it.";
  run.lose(place, { keyword: "oneOf", change, effect: "looser" });
}

/** Returns whether other keywords than the union restrict an object. */
function isObject(keywords: Keywords): boolean {
  const types = typesOf(keywords.get("type"));
  return types.length === 1 ? types[0] === "object" : types.length === 0 && keywords.has("properties");
}

/** Moves the annotations of a union to its first branch, and returns the union. */
function annotate(branches: readonly JsonObject[], { keywords, place }: SchemaNode, run: Adaptation): JsonObject {
  const kept = new Map([...keywords].filter(([keyword]) => annotations.has(keyword)));
  const initial = kept.get("default");
  if (branches.length !== 1 && kept.delete("default") && initial !== null) {
    addRemark(kept, `Default: ${JSON.stringify(initial)}.`);
  }
  for (const keyword of kept.keys()) {
    if (run.rules.keywords.has(keyword)) continue;
    kept.delete(keyword);
    const change = `\`${keyword}\` was removed. The provider does not accept this annotation.`;
    run.lose(place, { keyword, change, effect: "looser" });
  }
  const index = branches.findIndex((branch) => branch["type"] !== "null");
  const [first] = branches.slice(Math.max(index, 0));
  const described = new Map([...Object.entries(first ?? { type: "null" }), ...kept]);
  const texts = [kept.get("description"), first?.["description"]].filter((text) => typeof text === "string");
  if (texts.length > 0) described.set("description", [...new Set(texts)].join("\n"));
  const annotated: JsonObject = Object.fromEntries(described);
  if (branches.length < 2) return annotated;
  return { anyOf: branches.map((branch) => (branch === first ? annotated : branch)) };
}
