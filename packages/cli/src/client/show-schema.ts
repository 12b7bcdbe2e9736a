import type { JsonObject } from "mcparley";
import { isObject } from "./is-object.ts";
import { resolveReference, typesOf } from "./schema-types.ts";

/** One argument of a tool, summed up from its schema. */
export interface ArgumentSummary {
  readonly name: string;
  /** Such as `string, required` or `"red" | "blue", default "red"`. */
  readonly facts: string;
  readonly description: string | undefined;
}

/** More choices than these are counted instead of shown. */
const mostChoices = 8;

/** The arguments that an input schema describes, in its order. */
export function summarizeArguments(schema: JsonObject): ArgumentSummary[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(properties).map(([name, property]) => {
    const resolved = resolveReference(property, schema);
    const known = isObject(resolved) ? resolved : {};
    const facts = [typeLabel(property, schema), rangeOf(known)];
    if (required.has(name)) facts.push("required");
    if (known.default !== undefined) facts.push(`default ${JSON.stringify(known.default)}`);
    const description = isObject(property) ? (property.description ?? known.description) : undefined;
    return {
      name,
      facts: facts.filter(Boolean).join(", "),
      description: typeof description === "string" ? description : undefined,
    };
  });
}

function typeLabel(schema: unknown, root: JsonObject, depth = 0): string {
  const resolved = resolveReference(schema, root);
  if (!isObject(resolved) || depth > 3) return "any";
  if (Array.isArray(resolved.enum)) return choicesLabel(resolved.enum);
  if ("const" in resolved) return JSON.stringify(resolved.const);
  const types = typesOf(resolved, root);
  if (!types || types.size === 0) return "any";
  if (types.has("array") && types.size === 1) return `${typeLabel(resolved.items, root, depth + 1)}[]`;
  const format = types.size === 1 && types.has("string") ? resolved.format : undefined;
  const names = [...types].join(" | ");
  return typeof format === "string" ? `${names} (${format})` : names;
}

function choicesLabel(choices: readonly unknown[]): string {
  if (choices.length <= mostChoices) return choices.map((choice) => JSON.stringify(choice)).join(" | ");
  return `one of ${choices.length}`;
}

function rangeOf({ minimum, maximum }: JsonObject): string {
  if (typeof minimum === "number" && typeof maximum === "number") return `${minimum} to ${maximum}`;
  if (typeof minimum === "number") return `at least ${minimum}`;
  return typeof maximum === "number" ? `at most ${maximum}` : "";
}
