import { type Adaptation, type Place, below, boundedText } from "./adaptation.ts";
import { type Keywords, type SchemaNode, flattenSchema } from "./flatten-schema.ts";
import { typesOf } from "./json-schema-keywords.ts";
import { isObject } from "@mcparley/internal/is-object";

/** Maximum characters of a remark in a description. */
const MAX_REMARK_CHARS = 500;

/** Returns whether a schema accepts nothing: `false` or `{ "not": {} }`. */
export function isNever(schema: unknown): boolean {
  if (!isObject(schema)) return schema === false;
  const { not } = schema;
  return Object.keys(schema).length === 1 && (not === true || (isObject(not) && Object.keys(not).length === 0));
}

/** Adds a sentence to the description of a schema. */
export function addRemark(keywords: Keywords, remark: string): void {
  const before = keywords.get("description");
  const text = boundedText(remark, MAX_REMARK_CHARS);
  keywords.set("description", typeof before === "string" && before !== "" ? `${before}\n${text}` : text);
}

/**
 * Replaces a union of objects by one object that has the properties of all branches, and whose required properties are those that
 * each branch requires. A remark in the description names the branches.
 */
export function mergeUnion(node: SchemaNode, keyword: "anyOf" | "oneOf", run: Adaptation): void {
  const { keywords, place } = node;
  const union = keywords.get(keyword);
  keywords.delete(keyword);
  if (!Array.isArray(union)) return;
  const nodes = union.flatMap((branch: unknown, index) => readBranch(branch, below(place, keyword, index), run));
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
  run.lose(place, { keyword, change, effect: isNarrower ? "narrower" : "looser" });
}

/** Returns the keywords of a branch, and nothing for a branch that accepts no object. */
function readBranch(branch: unknown, place: Place, run: Adaptation): readonly SchemaNode[] {
  if (branch === true) return [{ keywords: new Map(), place }];
  if (!isObject(branch) || isNever(branch)) return [];
  const node = flattenSchema(branch, place, { run, references: true, allOf: true });
  const type = node.keywords.get("type");
  return type === undefined || typesOf(type).includes("object") ? [node] : [];
}

/** Adds the properties of the branches. Returns whether a branch accepts other values for one of them. */
function mergeBranchProperties(keywords: Keywords, branches: readonly Keywords[]): boolean {
  const properties = new Map(Object.entries(objectOf(keywords.get("properties"))));
  const found = new Map<string, unknown[]>();
  for (const branch of branches) {
    for (const [name, schema] of Object.entries(objectOf(branch.get("properties")))) {
      if (properties.has(name)) continue;
      const schemas = found.get(name);
      if (schemas) schemas.push(schema);
      else found.set(name, [schema]);
    }
  }
  const closed = branches.filter((branch) => branch.get("additionalProperties") === false).length;
  let isNarrower = false;
  for (const [name, schemas] of found) {
    properties.set(name, alternatives(schemas));
    // A branch that is not closed accepts any value for a property that it does not name.
    isNarrower ||= schemas.length < branches.length && closed < branches.length;
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
  const others = Object.keys(schema).filter(
    (keyword) => !["type", "const", "enum", "title", "description"].includes(keyword),
  );
  if (others.length > 0) return undefined;
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
  const required = new Set(namesIn(keywords.get("required")));
  const [first, ...others] = branches.map((branch) => new Set(namesIn(branch.get("required"))));
  for (const name of first ?? []) {
    if (others.every((names) => names.has(name))) required.add(name);
  }
  if (required.size > 0) keywords.set("required", [...required]);
}

function namesIn(required: unknown): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
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
