/** One problem that a Standard Schema reports. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

export type StandardResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** Converts a Standard Schema to JSON Schema. May throw if JSON Schema cannot express it. */
type StandardJsonConverter = (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;

/**
 * A schema of any library that implements Standard Schema v1, such as zod, valibot or ArkType. The library must also
 * implement Standard JSON Schema, because every schema is also published as a JSON Schema.
 */
export interface StandardSchema<In = unknown, Out = In> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>;
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
    readonly jsonSchema?: { readonly input: StandardJsonConverter; readonly output: StandardJsonConverter } | undefined;
  };
}

/** The type of the values that a schema accepts. */
export type InferInput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["input"];

/** The type of the values that a schema returns after validation, with defaults and transformations applied. */
export type InferOutput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

/**
 * Refuses an object whose properties are schemas of a library, which is no schema itself. For any other type it is
 * `unknown`, so that `S & NotAShape<S>` is `S`.
 */
export type NotAShape<S> = S extends StandardSchema
  ? unknown
  : {
      [K in keyof S]: S[K] extends StandardSchema ? "Make this object one schema, as z.object({ ... }) does." : unknown;
    };

/** Returns whether a value is a Standard Schema v1. The schemas of some libraries are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard = (value as Partial<StandardSchema>)["~standard"];
  return standard?.version === 1 && typeof standard.validate === "function";
}
