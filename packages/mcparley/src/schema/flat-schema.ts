import { SchemaError, isObject, shorten } from "./schema.ts";
import type { JsonSchema } from "./schema.ts";

/** One choice of a titled enumeration. */
export interface TitledOption {
  readonly const: string;
  readonly title: string;
}

interface Described {
  readonly title?: string;
  readonly description?: string;
}

export interface StringField extends Described {
  readonly type: "string";
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: "email" | "uri" | "date" | "date-time";
  readonly default?: string;
}

export interface NumberField extends Described {
  readonly type: "number" | "integer";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

export interface BooleanField extends Described {
  readonly type: "boolean";
  readonly default?: boolean;
}

export interface SelectField extends Described {
  readonly type: "string";
  readonly enum?: readonly string[];
  readonly oneOf?: readonly TitledOption[];
  /** The titles of `enum`, as revisions before 2025-11-25 write them. */
  readonly enumNames?: readonly string[];
  readonly default?: string;
}

export interface MultiSelectField extends Described {
  readonly type: "array";
  readonly items:
    | { readonly type: "string"; readonly enum: readonly string[] }
    | { readonly anyOf: readonly TitledOption[] };
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly string[];
}

export type RequestedField = StringField | NumberField | BooleanField | SelectField | MultiSelectField;

/** The form that an elicitation asks a user to fill in: one level of plain fields. */
export interface RequestedSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, RequestedField>>;
  readonly required?: readonly string[];
}

type Keep = Readonly<Record<string, (value: unknown) => boolean>>;

const isString = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";
const isStrings = (value: unknown): value is string[] => Array.isArray(value) && value.every(isString);
/** Schema libraries write the limits of a safe integer into every integer; a form is better off without them. */
const isBound = (value: unknown): value is number => isNumber(value) && Math.abs(value) < Number.MAX_SAFE_INTEGER;
const isFormat = (value: unknown): boolean => ["email", "uri", "date", "date-time"].includes(value as string);

const described: Keep = { title: isString, description: isString };
/** For each type of field the keywords a form can have, and the values they can have. */
const keywords = {
  string: { ...described, minLength: isNumber, maxLength: isNumber, format: isFormat, default: isString },
  number: { ...described, minimum: isBound, maximum: isBound, default: isNumber },
  boolean: { ...described, default: (value) => typeof value === "boolean" },
  select: { ...described, default: isString, enumNames: isStrings },
  list: { ...described, minItems: isNumber, maxItems: isNumber, default: isStrings },
} satisfies Record<string, Keep>;

/**
 * Reduces a JSON Schema to what an elicitation may ask for (client/elicitation, "Requested Schema"). Keywords that a
 * form cannot have, `pattern` for one, are left out: check the answer against the full schema as well.
 *
 * Throws a SchemaError `invalid_schema` that names the property and the rule when a property is not a string, number,
 * boolean, choice of strings, or list of such choices.
 */
export function toRequestedSchema(json: JsonSchema): RequestedSchema {
  const { type, properties, required } = dereference(json, json);
  if (type !== "object" || !isObject(properties)) {
    throw new SchemaError("invalid_schema", "An elicitation's schema must be one object with properties.");
  }
  const fields = Object.entries(properties).map(([name, schema]) => [name, toField(schema, name, json)] as const);
  const names = isStrings(required) ? required.filter((name) => Object.hasOwn(properties, name)) : [];
  // fromEntries, so that a property called "__proto__" is a property like any other.
  return { type, properties: Object.fromEntries(fields), ...(names.length > 0 && { required: names }) };
}

function toField(schema: unknown, name: string, root: JsonSchema): RequestedField {
  const field = dereference(schema, root);
  const { type } = field;
  const options = optionsOf(field);
  if (options) return { type: "string", ...toSelect(options), ...keep(field, keywords.select) };
  if (field["enum"] === undefined) {
    if (type === "string") return { type, ...keep(field, keywords.string) };
    if (type === "integer" || type === "number")
      return { type, ...inclusive(field, type), ...keep(field, keywords.number) };
    if (type === "boolean") return { type, ...keep(field, keywords.boolean) };
    const items = type === "array" ? optionsOf(dereference(field["items"], root)) : undefined;
    if (items) return { type: "array", ...keep(field, keywords.list), items: toItems(items) };
  }
  throw new SchemaError(
    "invalid_schema",
    `The property "${shorten(name)}" cannot be asked for in an elicitation: ${ruleFor(field)}.`,
  );
}

/** A form has inclusive bounds only: exact for integers, and the nearest that can be said for other numbers. */
function inclusive({ exclusiveMinimum, exclusiveMaximum }: JsonSchema, type: "integer" | "number"): object {
  const isInteger = type === "integer";
  return {
    ...(isBound(exclusiveMinimum) && { minimum: isInteger ? Math.floor(exclusiveMinimum) + 1 : exclusiveMinimum }),
    ...(isBound(exclusiveMaximum) && { maximum: isInteger ? Math.ceil(exclusiveMaximum) - 1 : exclusiveMaximum }),
  };
}

interface Option {
  readonly const: string;
  readonly title?: unknown;
}

/** The strings to choose from, when the schema is a choice of strings however it is written. */
function optionsOf(schema: JsonSchema): readonly Option[] | undefined {
  const { const: only, enum: values, oneOf, anyOf } = schema;
  if (isString(only)) return [{ const: only }];
  if (isStrings(values)) return values.map((value) => ({ const: value }));
  const options = oneOf ?? anyOf;
  const isChoice =
    Array.isArray(options) &&
    options.length > 0 &&
    options.every((entry) => isObject(entry) && isString(entry["const"]));
  return isChoice ? (options as Option[]) : undefined;
}

function toTitled(options: readonly Option[]): TitledOption[] | undefined {
  if (!options.some(({ title }) => isString(title))) return undefined;
  return options.map(({ const: value, title }) => ({ const: value, title: isString(title) ? title : value }));
}

function toSelect(options: readonly Option[]): Pick<SelectField, "enum" | "oneOf"> {
  const titled = toTitled(options);
  return titled ? { oneOf: titled } : { enum: options.map((option) => option.const) };
}

function toItems(options: readonly Option[]): MultiSelectField["items"] {
  const titled = toTitled(options);
  return titled ? { anyOf: titled } : { type: "string", enum: options.map((option) => option.const) };
}

function keep(schema: JsonSchema, allowed: Keep): object {
  return Object.fromEntries(
    Object.entries(schema).filter(([key, value]) => Object.hasOwn(allowed, key) && allowed[key]?.(value)),
  );
}

/** Libraries move named schemas to `$defs`. Only local references are followed, and no more than a few in a row. */
function dereference(schema: unknown, root: JsonSchema): JsonSchema {
  let found = isObject(schema) ? schema : {};
  for (let hops = 0; hops < 16 && isString(found["$ref"]); hops++) {
    const { $ref, ...beside } = found;
    const [, place = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec($ref) ?? [];
    const definitions = root[place];
    const target = isObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
    found = { ...(isObject(target) ? target : {}), ...beside };
  }
  return found;
}

function ruleFor({ type, anyOf, oneOf, enum: values }: JsonSchema): string {
  if ([type, anyOf, oneOf].flat().some((entry) => entry === "null" || (isObject(entry) && entry["type"] === "null"))) {
    return "a field cannot be null; make it optional instead";
  }
  if (type === "object") return "objects cannot be nested; ask for their fields one by one";
  if (type === "array") return "a list may only hold choices from a fixed set of strings (an enum)";
  if (values !== undefined) return "the values to choose from must be strings";
  return "it must be a string, a number, a boolean or a choice of strings, with one type";
}
