import type { JsonObject } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import { resolveReference, typesOf } from "../arguments/schema-types.ts";

/** The summary of an argument of a tool or a prompt, or of a field of such an argument. */
export interface ArgumentSummary {
  readonly name: string;
  /** Such as `string, required` or `"red" | "blue", default "red"`. */
  readonly facts: string;
  readonly description: string | undefined;
  /** The fields of an object, or of the objects in an array. */
  readonly fields?: readonly ArgumentSummary[];
}

/** Maximum number of shown choices. A longer list is only counted. */
const mostChoices = 8;
/** Maximum depth of shown fields. */
const deepest = 4;
/** Maximum number of shown fields of one tool. A recursive schema would have any number of them. */
const mostFields = 200;

interface Walk {
  /** The document in which `$ref` is resolved. */
  readonly root: JsonObject;
  /** The number of fields that may still be shown. */
  remainingFields: number;
}

/** Returns the arguments of an input schema with their fields, in its order. */
export function summarizeArguments(schema: JsonObject): readonly ArgumentSummary[] {
  return summarizeFields(schema, { root: schema, remainingFields: mostFields }, 0);
}

function summarizeFields(schema: JsonObject, walk: Walk, depth: number): ArgumentSummary[] {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const requiredNames = new Set(Array.isArray(schema.required) ? schema.required : []);
  const visible = properties.slice(0, Math.max(walk.remainingFields, 0));
  walk.remainingFields -= visible.length;
  const fields = visible.map(([name, property]) => {
    const summary = summarize(name, property, { walk, depth });
    return requiredNames.has(name) ? { ...summary, facts: joinFacts([summary.facts, "required"]) } : summary;
  });
  const hiddenCount = properties.length - visible.length;
  return hiddenCount === 0 ? fields : [...fields, { name: `${hiddenCount} more`, facts: "", description: undefined }];
}

function summarize(name: string, property: unknown, { walk, depth }: { walk: Walk; depth: number }): ArgumentSummary {
  const schemaObject = resolveReference(property, walk.root);
  const propertySchema = isObject(schemaObject) ? schemaObject : {};
  const facts = [typeLabel(property, walk.root), rangeOf(propertySchema)];
  if (propertySchema.default !== undefined) facts.push(`default ${JSON.stringify(propertySchema.default)}`);
  const description = isObject(property) ? (property.description ?? propertySchema.description) : undefined;
  const fields = depth < deepest ? fieldsOf(property, walk, depth + 1) : [];
  return {
    name,
    facts: joinFacts(facts),
    description: typeof description === "string" ? description : undefined,
    ...(fields.length > 0 && { fields }),
  };
}

function joinFacts(facts: readonly string[]): string {
  return facts.filter(Boolean).join(", ");
}

/** Returns the fields of the objects that a schema accepts. If several kinds of objects are accepted, each is a field. */
function fieldsOf(schema: unknown, walk: Walk, depth: number): ArgumentSummary[] {
  const objects = objectsIn(schema, walk.root, 0);
  const [only, ...otherObjects] = objects;
  if (!only) return [];
  if (otherObjects.length === 0) return summarizeFields(only, walk, depth);
  return objects.slice(0, mostChoices).map((object, index) => ({
    name: `alternative ${index + 1}`,
    facts: "",
    description: typeof object.description === "string" ? object.description : undefined,
    fields: summarizeFields(object, walk, depth + 1),
  }));
}

/** Returns the schemas of objects with fields in a schema, its alternatives and the items of its arrays. */
function objectsIn(schema: unknown, root: JsonObject, depth: number): JsonObject[] {
  const schemaObject = resolveReference(schema, root);
  if (!isObject(schemaObject) || depth > deepest) return [];
  if (isObject(schemaObject.properties)) return Object.keys(schemaObject.properties).length > 0 ? [schemaObject] : [];
  const innerSchemas = alternativesOf(schemaObject) ?? (isObject(schemaObject.items) ? [schemaObject.items] : []);
  return innerSchemas.slice(0, mostChoices).flatMap((one) => objectsIn(one, root, depth + 1));
}

/** Returns the alternatives of a schema. An `allOf` of one schema, as Python libraries write it, is one alternative. */
function alternativesOf({ anyOf, oneOf, allOf }: JsonObject): unknown[] | undefined {
  const lists = [anyOf, oneOf, Array.isArray(allOf) && allOf.length === 1 ? allOf : undefined];
  return lists.find((list): list is unknown[] => Array.isArray(list) && list.length > 0);
}

function typeLabel(schema: unknown, root: JsonObject, depth = 0): string {
  const schemaObject = resolveReference(schema, root);
  if (!isObject(schemaObject) || depth > deepest) return "any";
  if (Array.isArray(schemaObject.enum)) return choicesLabel(schemaObject.enum.map((choice) => JSON.stringify(choice)));
  if ("const" in schemaObject) return JSON.stringify(schemaObject.const);
  const alternatives = alternativesOf(schemaObject);
  if (alternatives) return alternativesLabel(alternatives, root, depth);
  const types = typesOf(schemaObject, root);
  if (!types || types.size === 0) return "any";
  const names = [...types].map((type) => (type === "array" ? arrayLabel(schemaObject.items, root, depth) : type));
  const format = types.size === 1 && types.has("string") ? schemaObject.format : undefined;
  return typeof format === "string" ? `${names.join(" | ")} (${format})` : names.join(" | ");
}

/** Joins the labels of alternatives, such as `"red" | "blue" | null`. One that accepts any value makes the others redundant. */
function alternativesLabel(alternatives: readonly unknown[], root: JsonObject, depth: number): string {
  if (alternatives.length > mostChoices) return choicesLabel(alternatives.map(String));
  const labels = new Set(alternatives.map((one) => typeLabel(one, root, depth + 1)));
  return labels.has("any") ? "any" : [...labels].join(" | ");
}

function arrayLabel(items: unknown, root: JsonObject, depth: number): string {
  const label = typeLabel(items, root, depth + 1);
  return label.includes(" | ") ? `(${label})[]` : `${label}[]`;
}

function choicesLabel(choices: readonly string[]): string {
  return choices.length <= mostChoices ? choices.join(" | ") : `one of ${choices.length}`;
}

function rangeOf({ minimum, maximum }: JsonObject): string {
  if (typeof minimum === "number" && typeof maximum === "number") return `${minimum} to ${maximum}`;
  if (typeof minimum === "number") return `at least ${minimum}`;
  return typeof maximum === "number" ? `at most ${maximum}` : "";
}
