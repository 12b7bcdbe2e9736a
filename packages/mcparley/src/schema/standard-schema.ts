import { draftOf } from "./dialects.ts";
import { type Report, compileCheck } from "./json-schema-check.ts";
import { MAX_ISSUES, SchemaError, pointerStep, shorten } from "./schema.ts";
import type { Issue, JsonSchema, Outcome } from "./schema.ts";

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

/** "input": the value comes from the peer and goes to our code; "output": it comes from our code and goes to the peer. */
export type Direction = "input" | "output";

/** A schema made ready: what the peer is shown, and the check of its values. */
export interface CompiledSchema {
  /** For the wire: a JSON Schema as it was written; of a schema library's, `$schema` only where it is not 2020-12. */
  readonly json: JsonSchema;
  /** Gives the value to go on with. Asynchronous for values that do not fit, and where the schema library's check is. */
  readonly validate: (value: unknown) => Outcome | Promise<Outcome>;
}

const compiled: Record<Direction, WeakMap<object, CompiledSchema>> = { input: new WeakMap(), output: new WeakMap() };

/** Tells whether a value is a Standard Schema v1. Some libraries' schemas are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  const standard = (value as Partial<StandardSchema> | null | undefined)?.["~standard"];
  return standard?.version === 1 && typeof standard.validate === "function";
}

/**
 * Prepares a Standard Schema or a JSON Schema for one direction. The result is cached for as long as the schema object
 * lives, so a schema must not be changed after its first use.
 *
 * For "output", `validate` takes what a handler returned, and its value is what to send. With a JSON Schema that is
 * the value as JSON would carry it: without undefined properties, and with dates as strings.
 *
 * Throws a SchemaError: `no_json_schema` when the library cannot give a JSON Schema, otherwise as compileJsonSchema.
 */
export function compileSchema(schema: StandardSchema | JsonSchema, direction: Direction): CompiledSchema {
  const cache = compiled[direction];
  const known = cache.get(schema);
  if (known) return known;
  const fresh = isStandardSchema(schema) ? compileStandard(schema, direction) : compilePlain(schema, direction);
  cache.set(schema, fresh);
  return fresh;
}

function compilePlain(schema: JsonSchema, direction: Direction): CompiledSchema {
  const check = compileCheck(schema);
  return {
    json: schema,
    validate: direction === "input" ? (value) => judge(value, check) : (value) => judgeAsJson(value, check),
  };
}

/** What words a report is loaded when there is something to report. */
function judge(value: unknown, check: (value: unknown) => Report): Outcome | Promise<Outcome> {
  const report = check(value);
  return report ? import("./schema-issues.ts").then(({ toOutcome }) => toOutcome(report)) : { value };
}

function judgeAsJson(value: unknown, check: (value: unknown) => Report): Outcome | Promise<Outcome> {
  try {
    // For what has no JSON text at all, parsing it fails.
    return judge(JSON.parse(JSON.stringify(value)), check);
  } catch (error) {
    return { issues: [{ path: "", message: `cannot be written as JSON: ${shorten(String(error))}` }] };
  }
}

function compileStandard(schema: StandardSchema, direction: Direction): CompiledSchema {
  const { validate } = schema["~standard"];
  return {
    json: withoutDefaultDialect(toJsonSchema(schema, direction)),
    validate: (value) => {
      const result = validate(value);
      return result instanceof Promise ? result.then(outcomeOf) : outcomeOf(result);
    },
  };
}

function toJsonSchema(schema: StandardSchema, direction: Direction): JsonSchema {
  const { vendor, jsonSchema } = schema["~standard"];
  let cause: unknown =
    "use zod 4.2, ArkType 2.1.28, toStandardJsonSchema of @valibot/to-json-schema, or a JSON Schema object";
  try {
    if (jsonSchema) return jsonSchema[direction]({ target: "draft-2020-12" });
  } catch (error) {
    cause = error;
  }
  throw new SchemaError("no_json_schema", `This ${vendor} schema cannot tell its JSON Schema: ${String(cause)}`, {
    cause,
  });
}

function withoutDefaultDialect(schema: JsonSchema): JsonSchema {
  const { $schema, ...rest } = schema;
  return draftOf($schema) === "2020-12" ? rest : schema;
}

function outcomeOf(result: StandardResult<unknown>): Outcome {
  return result.issues === undefined
    ? { value: result.value }
    : { issues: result.issues.slice(0, MAX_ISSUES).map(toIssue) };
}

function toIssue({ path = [], message }: StandardIssue): Issue {
  const keys = path.map((step) => pointerStep(String(typeof step === "object" ? step.key : step)));
  return { path: keys.join(""), message: shorten(message, 300) };
}
