import { type JsonSchema, SchemaError, shorten } from "../schema/schema.ts";
import { type JsonObject, isObject, isStrings } from "../rpc/messages.ts";
import type { RequestedSchema } from "./elicitation.ts";

/** The keywords that each kind of field can have, with an example value of their type. */
const texts = { title: "", description: "" };
const number = { ...texts, minimum: 0, maximum: 0, default: 0 };
const kinds: Readonly<Record<string, JsonSchema>> = {
  string: { ...texts, minLength: 0, maxLength: 0, format: "", default: "" },
  number,
  integer: number,
  boolean: { ...texts, default: true },
  choice: { ...texts, enumNames: [], default: "" },
  array: { ...texts, minItems: 0, maxItems: 0, default: [] },
};

const forms = new WeakMap<JsonSchema, RequestedSchema>();

/**
 * Reduces a JSON Schema to the schema of a form (client/elicitation, "Requested Schema"). Keywords that a form cannot have,
 * such as `pattern`, are omitted, so validate the answer against the full schema as well. The result is cached for as long as
 * the schema object lives, and frozen, because a client in the same process receives the same object.
 *
 * Throws a SchemaError `invalid_schema` with the property and the rule if a property is not a string, number, boolean,
 * choice of strings, or list of such choices.
 */
export function toRequestedSchema(json: JsonSchema): RequestedSchema {
  const form = forms.get(json) ?? reduce(json);
  forms.set(json, form);
  // The form of a form is the same.
  forms.set(form as unknown as JsonSchema, form);
  return form;
}

function reduce(json: JsonSchema): RequestedSchema {
  const { type, properties, required } = dereference(json, json);
  if (type !== "object" || !isObject(properties)) {
    throw new SchemaError("invalid_schema", "The schema of an elicitation must be an object with properties.");
  }
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, Object.freeze(toField(schema, name, json))] as const,
  );
  const names = isStrings(required) ? required.filter((name) => Object.hasOwn(properties, name)) : [];
  // fromEntries, so that a property named "__proto__" is an ordinary property.
  const form = { type, properties: Object.freeze(Object.fromEntries(fields)) };
  return Object.freeze(names.length > 0 ? { ...form, required: names } : form) as RequestedSchema;
}

function toField(schema: unknown, name: string, root: JsonSchema): JsonObject {
  const field = dereference(schema, root);
  const type = String(field["type"]);
  const choice = toChoice(field, "oneOf");
  if (choice) return { ...choice, type: "string", ...keep(field, "choice") };
  const items = type === "array" && toChoice(dereference(field["items"], root), "anyOf");
  if (items) return { type, items, ...keep(field, type) };
  if (/^(string|number|integer|boolean)$/.test(type) && field["enum"] === undefined) {
    return { type, ...keep(inclusive(field), type) };
  }
  throw new SchemaError(
    "invalid_schema",
    `The property "${shorten(name)}" cannot be a field of a form. It must be a string, number, boolean, choice of strings or list of such choices. It cannot be null (make it optional) or nested.`,
  );
}

/** Replaces exclusive bounds, which a form cannot have. Exact for integers, approximate for other numbers. */
function inclusive(field: JsonSchema): JsonSchema {
  const { exclusiveMinimum: lowerBound, exclusiveMaximum: upperBound } = field as {
    readonly [keyword: string]: number;
  };
  return field["type"] === "integer"
    ? { minimum: Math.floor(lowerBound!) + 1, maximum: Math.ceil(upperBound!) - 1, ...field }
    : { minimum: lowerBound, maximum: upperBound, ...field };
}

/** Returns the choices if the schema is a choice of strings in any form. */
function toChoice(schema: JsonSchema, keyword: "oneOf" | "anyOf"): object | undefined {
  const { const: only, enum: values = [only], oneOf, anyOf: options = oneOf } = schema;
  if (isStrings(values)) return { type: "string", enum: values };
  if (!Array.isArray(options) || options.length === 0) return undefined;
  const choices = options.map((option: Option | null) => option?.const);
  if (!isStrings(choices)) return undefined;
  if (!options.some((option: Option) => option.title)) return { type: "string", enum: choices };
  return {
    [keyword]: options.map(({ const: value, title }: Option) => ({ const: value, title: String(title ?? value) })),
  };
}

interface Option {
  readonly const?: unknown;
  readonly title?: unknown;
}

/** Returns the members of a field that its kind can have, if their values have the right type. */
function keep(field: JsonSchema, kind: string): object {
  const members = Object.entries(field).filter(([keyword, value]) => {
    const example = kinds[kind]?.[keyword];
    if (Array.isArray(example)) return isStrings(value);
    if (example === undefined || typeof value !== typeof example) return false;
    if (keyword === "format") return /^(email|uri|date|date-time)$/.test(String(value));
    // Schema libraries add the limits of a safe integer to every integer. A form does not need them.
    return typeof value !== "number" || Math.abs(value) < Number.MAX_SAFE_INTEGER;
  });
  return Object.fromEntries(members);
}

/** Resolves local references, at most 16 in a row, because libraries move named schemas to `$defs`. */
function dereference(schema: unknown, root: JsonSchema): JsonSchema {
  let resolvedSchema = isObject(schema) ? schema : {};
  for (let hops = 0; hops < 16; hops++) {
    const { $ref, ...siblings } = resolvedSchema;
    if (typeof $ref !== "string") break;
    const [document, ...steps] = $ref.split("/");
    const target = steps.reduce<unknown>((parent, step) => (isObject(parent) ? parent[step] : undefined), root);
    resolvedSchema = { ...(document === "#" && isObject(target) ? target : {}), ...siblings };
  }
  return resolvedSchema;
}
