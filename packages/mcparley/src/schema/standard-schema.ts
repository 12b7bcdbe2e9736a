/** One problem, as a Standard Schema reports it. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

export type StandardResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** Turns a Standard Schema into JSON Schema; may throw for what JSON Schema cannot say. */
export type StandardJsonConverter = (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;

/**
 * A schema of any library that implements Standard Schema v1, such as zod, valibot or ArkType. Where a JSON Schema is
 * needed, and MCP needs one for everything it lists, the library has to implement Standard JSON Schema as well.
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

/** The type of what a schema accepts. */
export type InferInput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["input"];

/** The type of what a schema gives after validation, with defaults and transformations applied. */
export type InferOutput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

/** Tells whether a value is a Standard Schema v1. Some libraries' schemas are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard = (value as Partial<StandardSchema>)["~standard"];
  return standard?.version === 1 && typeof standard.validate === "function";
}
