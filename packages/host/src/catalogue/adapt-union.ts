import type { JsonObject } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import { type Adaptation, type Place, placeBelow } from "./adaptation.ts";
import { isNever } from "./contradictions.ts";
import { type Keywords, type SchemaNode, addRemark, dropKeyword, flattenSchema } from "./flatten-schema.ts";
import { annotations, keywordsOfTypes, typeOfValue, typesOf, valuesOfTypes } from "./json-schema-keywords.ts";

/** Adapts a schema to which the given keywords also apply. */
type AdaptBranch = (schema: unknown, place: Place, also: Keywords) => JsonObject;

/** Replaces a list of types by a union of schemas with one type each, if the provider accepts no list. */
export function splitTypes(node: SchemaNode): void {
  const { keywords } = node;
  const { restrictions } = node.run.rules;
  if (!restrictions.has("single-type")) return;
  const [single, ...furtherTypes] = typesOf(keywords.get("type"));
  if (single !== undefined && furtherTypes.length === 0) keywords.set("type", single);
  if (keywords.has("anyOf") || keywords.has("oneOf")) return;
  const types = typesOf(keywords.get("type") ?? typesOfEnum(keywords) ?? addTypes(node));
  if (types.length < 2) {
    if (types[0] !== undefined) keywords.set("type", types[0]);
    return;
  }
  const values: unknown = keywords.get("enum");
  const branches = types.flatMap((type) => {
    const typeKeywords = [...keywords].filter(([keyword]) => isFor(keyword, type) && !annotations.has(keyword));
    const branch = new Map(typeKeywords).set("type", type);
    if (!Array.isArray(values)) return [Object.fromEntries(branch)];
    const branchValues = valuesOfTypes(values, [type]);
    return branchValues.length === 0 ? [] : [Object.fromEntries(branch.set("enum", branchValues))];
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
function addTypes({ keywords, place, run }: SchemaNode): readonly string[] {
  if (!run.rules.restrictions.has("type-required")) return [];
  const families = keywordsOfTypes.filter(([, names]) => names.some((name) => keywords.has(name)));
  const types = families.map(([type]) => type);
  if (types.length > 0) {
    const change = `The type was added: ${types.join(" or ")}. The other keywords restrict values of this type only.`;
    run.reportNarrower(place, "type", change);
  }
  return types;
}

/** Returns whether a keyword restricts values of a type. */
function isFor(keyword: string, type: string): boolean {
  const family = type === "integer" ? "number" : type;
  return keywordsOfTypes.every(([owner, names]) => owner === family || !names.includes(keyword));
}

/** Adapts a schema with a union, if the provider accepts no other keyword beside `anyOf`. Returns undefined if there is none. */
export function adaptUnion(node: SchemaNode, adapt: AdaptBranch): JsonObject | undefined {
  const { keywords, run } = node;
  replaceOneOf(node);
  const isAlone = run.rules.restrictions.has("union-alone");
  if (isAlone && keywords.has("anyOf") && restrictObject(keywords)) mergeUnion(node, "anyOf");
  const union: unknown = keywords.get("anyOf");
  if (!isAlone || !Array.isArray(union)) return undefined;
  keywords.delete("anyOf");
  const siblings = new Map([...keywords].filter(([keyword]) => !annotations.has(keyword)));
  const branches = union.flatMap((branch: unknown, index) => {
    if (isNever(branch, siblings)) return [];
    const place =
      node.isSplit === true ? { ...node.place, depth: node.place.depth + 1 } : placeBelow(node.place, "anyOf", index);
    const branchSchema = adapt(branch, place, siblings);
    return isUnion(branchSchema) ? branchSchema.anyOf : [branchSchema];
  });
  const distinct = [...new Map(branches.map((branch) => [JSON.stringify(branch), branch])).values()];
  return annotate(distinct, node);
}

function isUnion(schema: JsonObject): schema is JsonObject & { anyOf: JsonObject[] } {
  return Array.isArray(schema["anyOf"]);
}

function replaceOneOf(node: SchemaNode): void {
  const { keywords, run } = node;
  const union = keywords.get("oneOf");
  if (union === undefined || run.rules.keywords.has("oneOf")) return;
  const isReplaced = !keywords.has("anyOf");
  if (isReplaced) keywords.set("anyOf", union);
  const change = isReplaced ? "`oneOf` became `anyOf`." : "`oneOf` was removed, because `anyOf` is beside it.";
  dropKeyword(node, "oneOf", change);
}

/** Returns whether other keywords than the union restrict an object. */
function restrictObject(keywords: Keywords): boolean {
  const types = typesOf(keywords.get("type"));
  return types.length === 1 ? types[0] === "object" : types.length === 0 && keywords.has("properties");
}

/** Moves the annotations of a union to its first branch, and returns the union. */
function annotate(branches: readonly JsonObject[], { keywords, place, run }: SchemaNode): JsonObject {
  const ownAnnotations = new Map([...keywords].filter(([keyword]) => annotations.has(keyword)));
  const initial = ownAnnotations.get("default");
  if (branches.length !== 1 && ownAnnotations.delete("default") && initial !== null) {
    addRemark(ownAnnotations, `Default: ${JSON.stringify(initial)}.`);
  }
  for (const keyword of ownAnnotations.keys()) {
    if (run.rules.keywords.has(keyword)) continue;
    ownAnnotations.delete(keyword);
    run.reportLooser(place, keyword, `\`${keyword}\` was removed. The provider does not accept this annotation.`);
  }
  const index = branches.findIndex((branch) => branch["type"] !== "null");
  const [first] = branches.slice(Math.max(index, 0));
  const firstKeywords = new Map([...Object.entries(first ?? { type: "null" }), ...ownAnnotations]);
  const texts = [ownAnnotations.get("description"), first?.["description"]].filter((text) => typeof text === "string");
  if (texts.length > 0) firstKeywords.set("description", [...new Set(texts)].join("\n"));
  const firstBranch: JsonObject = Object.fromEntries(firstKeywords);
  if (branches.length < 2) return firstBranch;
  return { anyOf: branches.map((branch) => (branch === first ? firstBranch : branch)) };
}

/**
 * Replaces a union of objects by one object that has the properties of all branches, and whose required properties are those that
 * each branch requires. A remark in the description names the branches.
 */
export function mergeUnion(node: SchemaNode, keyword: "anyOf" | "oneOf"): void {
  const { keywords, place, run } = node;
  const union = keywords.get(keyword);
  keywords.delete(keyword);
  if (!Array.isArray(union)) return;
  const nodes = union.flatMap((branch: unknown, index) =>
    isNever(branch, keywords) ? [] : readBranch(branch, placeBelow(place, keyword, index), run),
  );
  const branches = nodes.map((branch) => branch.keywords);
  // References of the branches are open below the merged properties as well.
  node.place = {
    ...place,
    open: [...new Set([place, ...nodes.map((branch) => branch.place)].flatMap(({ open }) => open))],
  };
  // A union with a branch that accepts each object restricts nothing.
  if (branches.length === 0 || branches.some((branch) => branch.size === 0)) return;

  const isNarrower = mergeBranchProperties(keywords, branches);
  const remark = describeBranches(keywords, branches);
  mergeRequired(keywords, branches);
  mergeAdditional(keywords, branches);
  if (remark !== undefined) addRemark(keywords, remark);
  const change = `The branches of \`${keyword}\` became one object with the properties of all branches.`;
  if (isNarrower) run.reportNarrower(place, keyword, change);
  else run.reportLooser(place, keyword, change);
}

/** Returns the keywords of a branch, and nothing for a branch that accepts no object. */
function readBranch(branch: unknown, place: Place, run: Adaptation): readonly SchemaNode[] {
  if (branch === true) return [{ run, keywords: new Map(), place }];
  if (!isObject(branch)) return [];
  const node = flattenSchema(branch, place, { run, references: true, allOf: true });
  const type = node.keywords.get("type");
  return type === undefined || typesOf(type).includes("object") ? [node] : [];
}

/** Adds the properties of the branches. Returns whether a branch accepts other values for one of them. */
function mergeBranchProperties(keywords: Keywords, branches: readonly Keywords[]): boolean {
  const properties = new Map(Object.entries(objectOf(keywords.get("properties"))));
  const schemasByName = new Map<string, unknown[]>();
  for (const branch of branches) {
    for (const [name, schema] of Object.entries(objectOf(branch.get("properties")))) {
      if (properties.has(name)) continue;
      const schemas = schemasByName.get(name);
      if (schemas) schemas.push(schema);
      else schemasByName.set(name, [schema]);
    }
  }
  const closedCount = branches.filter((branch) => branch.get("additionalProperties") === false).length;
  let isNarrower = false;
  for (const [name, schemas] of schemasByName) {
    properties.set(name, alternatives(schemas));
    // A branch that is not closed accepts any value for a property that it does not name.
    isNarrower ||= schemas.length < branches.length && closedCount < branches.length;
  }
  if (properties.size > 0) keywords.set("properties", Object.fromEntries(properties));
  return isNarrower;
}

function objectOf(value: unknown): object {
  return isObject(value) ? value : {};
}

/** Returns a schema that accepts the values of each of the schemas. */
export function alternatives(schemas: readonly unknown[]): unknown {
  const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  if (distinct.length === 1) return distinct[0];
  const values = distinct.map((schema) => valuesOf(schema));
  const isChoice = values.every((list) => list !== undefined);
  return isChoice ? { ...annotationsOf(distinct[0]), enum: distinctValues(values.flat()) } : { anyOf: distinct };
}

/** Returns the values of a schema that is no more than a list of values. */
function valuesOf(schema: unknown): readonly unknown[] | undefined {
  if (!isObject(schema)) return undefined;
  const otherKeywords = Object.keys(schema).filter(
    (keyword) => !["type", "const", "enum", "title", "description"].includes(keyword),
  );
  if (otherKeywords.length > 0) return undefined;
  if (Object.hasOwn(schema, "const")) return [schema["const"]];
  return Array.isArray(schema["enum"]) ? schema["enum"] : undefined;
}

function annotationsOf(schema: unknown): object {
  const { description } = isObject(schema) ? schema : {};
  return description === undefined ? {} : { description };
}

function distinctValues(values: readonly unknown[]): unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function mergeRequired(keywords: Keywords, branches: readonly Keywords[]): void {
  const requiredNames = new Set(namesIn(keywords.get("required")));
  const [first, ...furtherSets] = branches.map((branch) => new Set(namesIn(branch.get("required"))));
  for (const name of first ?? []) {
    if (furtherSets.every((names) => names.has(name))) requiredNames.add(name);
  }
  if (requiredNames.size > 0) keywords.set("required", [...requiredNames]);
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

function mergeAdditional(keywords: Keywords, branches: readonly Keywords[]): void {
  const isClosed = branches.every(
    (branch) => branch.get("additionalProperties") === false && !branch.has("patternProperties"),
  );
  if (isClosed && !keywords.has("additionalProperties")) keywords.set("additionalProperties", false);
}

/** Returns a sentence with the properties that each branch requires beyond the others, or undefined if none does. */
function describeBranches(keywords: Keywords, branches: readonly Keywords[]): string | undefined {
  const always = new Set(namesIn(keywords.get("required")));
  const sets = branches.map((branch) =>
    namesIn(branch.get("required"))
      .filter((name) => !always.has(name))
      .map((name) => JSON.stringify(name.slice(0, 64)) + constantOf(branch, name)),
  );
  const distinct = [...new Set(sets.map((set) => set.join(", ")))];
  if (distinct.length < 2) return undefined;
  return `Send one of these sets of properties: ${distinct.map((set) => (set === "" ? "none" : `(${set})`)).join(" or ")}.`;
}

/** Returns the constant that a branch requires for a property, such as the `kind` of a tagged union. */
function constantOf(branch: Keywords, name: string): string {
  const schema: unknown = Object.entries(objectOf(branch.get("properties"))).find(([key]) => key === name)?.[1];
  const value = isObject(schema) ? schema["const"] : undefined;
  return value === undefined ? "" : ` = ${JSON.stringify(value).slice(0, 64)}`;
}
