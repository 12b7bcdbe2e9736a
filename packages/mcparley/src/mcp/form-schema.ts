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
 * the schema object lives, and frozen, because all calls share it.
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
  if (type !== "object" || !isObject(properties)) throw noProperties();
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, Object.freeze(toField(schema, name, json))] as const,
  );
  const names = requiredNames(required, properties);
  // fromEntries, so that a property named "__proto__" is an ordinary property.
  const form = { type, properties: Object.freeze(Object.fromEntries(fields)) };
  return Object.freeze(names.length > 0 ? { ...form, required: names } : form) as RequestedSchema;
}

/**
 * Returns the form that a server requests, with fields that a user can fill in: references and `allOf` are resolved, a constant is a
 * choice, and of alternatives the choices remain, or the first one that can be a field. Other fields are not changed. Validate the
 * answer against the original schema.
 *
 * Throws a SchemaError `invalid_schema` that names the first member for which no answer is valid.
 */
export function resolveForm(schema: JsonObject): RequestedSchema {
  const { properties, required, ...otherMembers } = flatten(schema, schema);
  if (!isObject(properties)) throw noProperties();
  const fields = Object.entries(properties).map(([name, field]) => [name, resolveField(field, name, schema)] as const);
  const names = requiredNames(required, properties);
  return {
    ...otherMembers,
    type: "object",
    properties: Object.fromEntries(fields),
    ...(names.length > 0 && { required: names }),
  };
}

function noProperties(): SchemaError {
  return new SchemaError("invalid_schema", "The schema of an elicitation must be an object with properties.");
}

/** Returns the required names. Throws for one without a property, because no answer can have it. */
function requiredNames(required: unknown, properties: JsonObject): string[] {
  const names = isStrings(required) ? required : [];
  const missing = names.find((name) => !Object.hasOwn(properties, name));
  if (missing === undefined) return names;
  const fact = `The property "${shorten(missing)}" is required, and the schema does not define it.`;
  throw new SchemaError("invalid_schema", `${fact} Define it in "properties", or remove it from "required".`);
}

function toField(schema: unknown, name: string, root: JsonSchema): JsonObject {
  const field = flatten(schema, root);
  const type = String(field["type"]);
  const choice = toChoice(field, "oneOf");
  if (choice) return answerable({ ...choice, type: "string", ...keep(field, "choice") }, name);
  const items = type === "array" && toChoice(flatten(field["items"], root), "anyOf");
  if (items) return answerable({ type, items, ...keep(field, type) }, name);
  if (isPrimitive(type) && field["enum"] === undefined) {
    const only = typeof field["const"] === "number" ? { minimum: field["const"], maximum: field["const"] } : {};
    return answerable({ type, ...keep(inclusive({ ...field, ...only }), type) }, name);
  }
  throw noField(name);
}

function noField(name: string): SchemaError {
  return new SchemaError(
    "invalid_schema",
    `The property "${shorten(name)}" cannot be a field of a form. It must be a string, number, boolean, choice of strings or list of such choices. It cannot be null (make it optional) or nested.`,
  );
}

function isPrimitive(type: unknown): type is string {
  return type === "string" || type === "number" || type === "integer" || type === "boolean";
}

/** The keywords that a text does not have. A schema with one of them and without a type is no text. */
const structural = ["properties", "items", "prefixItems", "additionalProperties", "not", "allOf", "$ref"];

/** Returns a field that a server requests, without references and alternatives. */
function resolveField(schema: unknown, name: string, root: JsonSchema): JsonObject {
  const field = flatten(schema, root);
  const { type: types, const: only, anyOf, oneOf = anyOf, ...otherMembers } = field;
  const ownType = types ?? (only === undefined ? undefined : typeof only);
  const type: unknown = Array.isArray(ownType) ? ownType.find((one) => one !== "null") : ownType;
  if (type === "array") {
    const items = toChoice(flatten(field.items, root), "anyOf");
    if (items) return answerable({ ...otherMembers, type, items }, name);
  }
  const alternatives = Array.isArray(oneOf) ? alternativesIn(oneOf, root) : [];
  const choice = toChoice({ ...otherMembers, const: only, oneOf: alternatives }, "oneOf");
  if (choice) return answerable({ ...otherMembers, ...choice, type: "string" }, name);
  const first = alternatives.find((one) => isPrimitive(one.type) || toChoice(one, "oneOf"));
  // Alternatives in alternatives are not resolved: that could take exponential time.
  if (first && !first.anyOf && !first.oneOf) return resolveField({ ...otherMembers, ...first }, name, root);
  const isText = type === undefined && !oneOf && !structural.some((keyword) => keyword in field);
  if (schema === false || !(isText || isPrimitive(type))) throw noField(name);
  if (typeof only === "number") return answerable({ ...otherMembers, type, minimum: only, maximum: only }, name);
  return answerable(
    field === schema && types && type === types ? field : { ...otherMembers, type: type ?? "string" },
    name,
  );
}

/** Returns alternatives without references, and without null, which makes a field optional. */
function alternativesIn(schemas: readonly unknown[], root: JsonSchema): JsonObject[] {
  const alternatives = schemas.slice(0, MAX_ALTERNATIVES).map((schema) => flatten(schema, root));
  return alternatives.filter(({ type, const: only }) => type !== "null" && only !== null);
}

/** Maximum number of alternatives that are read, such as the titled choices of a field. */
const MAX_ALTERNATIVES = 10_000;

/** Returns a field unchanged. Throws if no value is valid for it. */
function answerable(field: JsonObject, name: string): JsonObject {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, items, enum: values } = field;
  const choices = isObject(items) ? (items.enum ?? items.anyOf) : values;
  const count = Array.isArray(choices) ? choices.length : Infinity;
  const pairs = [
    ["minimum", minimum, "maximum", maximum],
    ["minLength", minLength, "maxLength", maxLength],
    ["minItems", minItems, "maxItems", maxItems],
    ["minItems", minItems, "choices", count],
  ] as const;
  const wrong = pairs.find(
    ([, least, , most]) => typeof least === "number" && typeof most === "number" && least > most,
  );
  const why = count === 0 ? "it has no choices" : wrong && `its ${wrong[0]} is larger than its ${wrong[2]}`;
  if (why === undefined) return field;
  throw new SchemaError("invalid_schema", `No answer is valid for the property "${shorten(name)}": ${why}.`);
}

/**
 * Returns an answer with the members that a form asks for, and the names of the others, which the schemas of all revisions forbid.
 */
export function withoutUnrequested<T>(
  content: Readonly<Record<string, T>>,
  { properties }: RequestedSchema,
): { content: Record<string, T>; unrequested: string[] } {
  const members = Object.entries(content);
  const requested = members.filter(([name]) => Object.hasOwn(properties, name));
  const unrequested = members.filter(([name]) => !Object.hasOwn(properties, name)).map(([name]) => name);
  return { content: Object.fromEntries(requested), unrequested };
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

/** Maximum number of `allOf` in each other, and of schemas in one. */
const MAX_NESTED = 4;

/** Resolves local references and `allOf`. The keywords of a later schema replace those of an earlier one. */
function flatten(schema: unknown, root: JsonSchema, depth = 0): JsonObject {
  const field: JsonObject = dereference(schema, root);
  const { allOf, ...siblings } = field;
  if (!Array.isArray(allOf) || allOf.length > MAX_NESTED || depth === MAX_NESTED) return field;
  const parts = [...allOf.map((part) => flatten(part, root, depth + 1)), siblings];
  const properties = parts.flatMap((part) => (isObject(part.properties) ? [part.properties] : []));
  const required = parts.flatMap((part) => (isStrings(part.required) ? part.required : []));
  return {
    ...Object.assign({}, ...parts),
    ...(properties.length > 0 && { properties: Object.assign({}, ...properties) as unknown }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

/**
 * Resolves local references, at most 16 in a row, because libraries move named schemas to `$defs`. A reference that cannot be resolved
 * remains.
 */
function dereference(schema: unknown, root: JsonSchema): JsonSchema {
  let resolvedSchema = isObject(schema) ? schema : {};
  for (let hops = 0; hops < 16; hops++) {
    const { $ref, ...siblings } = resolvedSchema;
    if (typeof $ref !== "string") break;
    const [document, ...steps] = $ref.split("/");
    const target = steps.reduce<unknown>((parent, step) => memberAt(parent, step), root);
    if (document !== "#" || !isObject(target)) break;
    resolvedSchema = { ...target, ...siblings };
  }
  return resolvedSchema;
}

/** Returns a member by a step of a JSON pointer in a URI fragment (RFC 6901, 6). */
function memberAt(parent: unknown, step: string): unknown {
  if (typeof parent !== "object" || parent === null) return undefined;
  const name = decodeOrKeep(step).replaceAll("~1", "/").replaceAll("~0", "~");
  return Object.hasOwn(parent, name) ? (parent as JsonObject)[name] : undefined;
}

function decodeOrKeep(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
