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
  left: number;
}

/** Returns the arguments of an input schema with their fields, in its order. */
export function summarizeArguments(schema: JsonObject): readonly ArgumentSummary[] {
  return summarizeFields(schema, { root: schema, left: mostFields }, 0);
}

function summarizeFields(schema: JsonObject, walk: Walk, depth: number): ArgumentSummary[] {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const visible = properties.slice(0, Math.max(walk.left, 0));
  walk.left -= visible.length;
  const fields = visible.map(([name, property]) => {
    const summary = summarize(name, property, { walk, depth });
    return required.has(name) ? { ...summary, facts: joined([summary.facts, "required"]) } : summary;
  });
  const rest = properties.length - visible.length;
  return rest === 0 ? fields : [...fields, { name: `${rest} more`, facts: "", description: undefined }];
}

function summarize(name: string, property: unknown, { walk, depth }: { walk: Walk; depth: number }): ArgumentSummary {
  const resolved = resolveReference(property, walk.root);
  const known = isObject(resolved) ? resolved : {};
  const facts = [typeLabel(property, walk.root), rangeOf(known)];
  if (known.default !== undefined) facts.push(`default ${JSON.stringify(known.default)}`);
  const description = isObject(property) ? (property.description ?? known.description) : undefined;
  const fields = depth < deepest ? fieldsOf(property, walk, depth + 1) : [];
  return {
    name,
    facts: joined(facts),
    description: typeof description === "string" ? description : undefined,
    ...(fields.length > 0 && { fields }),
  };
}

function joined(facts: readonly string[]): string {
  return facts.filter(Boolean).join(", ");
}

/** Returns the fields of the objects that a schema accepts. If several kinds of objects are accepted, each is a field. */
function fieldsOf(schema: unknown, walk: Walk, depth: number): ArgumentSummary[] {
  const objects = objectsIn(schema, walk.root, 0);
  const [only, ...others] = objects;
  if (!only) return [];
  if (others.length === 0) return summarizeFields(only, walk, depth);
  return objects.slice(0, mostChoices).map((object, index) => ({
    name: `alternative ${index + 1}`,
    facts: "",
    description: typeof object.description === "string" ? object.description : undefined,
    fields: summarizeFields(object, walk, depth + 1),
  }));
}

/** Returns the schemas of objects with fields in a schema, its alternatives and the items of its arrays. */
function objectsIn(schema: unknown, root: JsonObject, depth: number): JsonObject[] {
  const resolved = resolveReference(schema, root);
  if (!isObject(resolved) || depth > deepest) return [];
  if (isObject(resolved.properties)) return Object.keys(resolved.properties).length > 0 ? [resolved] : [];
  const within = alternativesOf(resolved) ?? (isObject(resolved.items) ? [resolved.items] : []);
  return within.slice(0, mostChoices).flatMap((one) => objectsIn(one, root, depth + 1));
}

/** Returns the alternatives of a schema. An `allOf` of one schema, as Python libraries write it, is one alternative. */
function alternativesOf({ anyOf, oneOf, allOf }: JsonObject): unknown[] | undefined {
  const lists = [anyOf, oneOf, Array.isArray(allOf) && allOf.length === 1 ? allOf : undefined];
  return lists.find((list): list is unknown[] => Array.isArray(list) && list.length > 0);
}

function typeLabel(schema: unknown, root: JsonObject, depth = 0): string {
  const resolved = resolveReference(schema, root);
  if (!isObject(resolved) || depth > deepest) return "any";
  if (Array.isArray(resolved.enum)) return choicesLabel(resolved.enum.map((choice) => JSON.stringify(choice)));
  if ("const" in resolved) return JSON.stringify(resolved.const);
  const alternatives = alternativesOf(resolved);
  if (alternatives) return alternativesLabel(alternatives, root, depth);
  const types = typesOf(resolved, root);
  if (!types || types.size === 0) return "any";
  const names = [...types].map((type) => (type === "array" ? arrayLabel(resolved.items, root, depth) : type));
  const format = types.size === 1 && types.has("string") ? resolved.format : undefined;
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
