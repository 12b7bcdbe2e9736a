import type { JsonSchema } from "./schema.ts";

/** One problem that a Standard Schema reports. */
interface StandardIssue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

export type StandardResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** Converts a Standard Schema to JSON Schema. May throw if JSON Schema cannot express it. */
type StandardJsonConverter = (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;

/**
 * Any value. Unlike `unknown` it does not absorb the other members of a union, which are then the context from which the
 * literals in a handler's result take their types.
 */
export type Anything = {} | null | undefined;

/**
 * A schema of any library that implements Standard Schema v1, such as zod, valibot or ArkType. The library must also
 * implement Standard JSON Schema, because every schema is also published as a JSON Schema.
 */
export interface StandardSchema<In = Anything, Out = In> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>;
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
    readonly jsonSchema?: { readonly input: StandardJsonConverter; readonly output: StandardJsonConverter } | undefined;
  };
}

/**
 * A schema of a library, known by the members that types are inferred from. `tool` and the other functions with type
 * parameters accept this type: the compiler compares it with a schema in two thirds of the steps of `StandardSchema`.
 */
export interface TypedSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly types?: { readonly input: Anything; readonly output: Anything } | undefined;
  };
}

/** The types of a schema. `input` is the type of the values that it accepts, and `output` of those that it returns. */
export type SchemaTypes<S extends TypedSchema> = NonNullable<S["~standard"]["types"]>;

/** A Standard Schema or a JSON Schema. */
export type Schema = TypedSchema | JsonSchema;

declare const none: unique symbol;
/** The type of an omitted schema. */
export interface NoSchema {
  readonly [none]: never;
}

/** Keywords of which a JSON Schema that is written in the code has at least one. */
type Keyword =
  | "type"
  | "properties"
  | "required"
  | "additionalProperties"
  | "patternProperties"
  | "items"
  | "enum"
  | "const"
  | "anyOf"
  | "oneOf"
  | "allOf"
  | "not"
  | "if"
  | "$ref"
  | "$dynamicRef"
  | "$schema"
  | "title"
  | "description";

/**
 * Refuses an object that is no schema: one whose properties are schemas of a library, and one without a keyword of JSON
 * Schema. For a schema it is `unknown`, so that `S & SchemaCheck<S>` is `S`.
 */
export type SchemaCheck<S> = S extends TypedSchema
  ? unknown
  : string extends keyof S
    ? unknown
    : {
        [K in keyof S]: S[K] extends TypedSchema
          ? "Make this object one schema, as z.object({ ... }) does."
          : keyof S & Keyword extends never
            ? 'Write { type: "object", properties: { ... } }, or make this object one schema of a library.'
            : unknown;
      };

/** The types of values that a form has a field for. */
type FieldValue = string | number | boolean | readonly string[] | undefined;

/** The names of the properties that cannot be fields of a form. A value of unknown type can. */
type NestedField<S> = S extends TypedSchema
  ? SchemaTypes<S>["input"] extends infer V
    ? { [K in keyof V]-?: unknown extends V[K] ? never : V[K] extends FieldValue ? never : K }[keyof V]
    : never
  : S extends { readonly properties: infer P }
    ? { [K in keyof P]: P[K] extends { readonly type: "object" } ? K : never }[keyof P]
    : never;

/** Refuses the schema of a form with a nested or nullable property. For another schema it is `unknown`. */
export type FormCheck<S> = [NestedField<S>] extends [never]
  ? unknown
  : `A form has no nested or nullable field. Make "${NestedField<S> & string}" a string, number, boolean or choice.`;

/** Returns whether a value is a Standard Schema v1. The schemas of some libraries are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard = (value as Partial<StandardSchema>)["~standard"];
  return standard?.version === 1 && typeof standard.validate === "function";
}
