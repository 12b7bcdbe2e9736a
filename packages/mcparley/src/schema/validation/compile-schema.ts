import { checkBudget } from "../budget.ts";
import type { CompileOptions } from "../json-schema/compile.ts";
import { type SchemaDocument, readDocument } from "../json-schema/document.ts";
import { dialectOf, keywordsOf } from "../json-schema/keywords.ts";
import {
  type JsonSchema,
  MAX_ISSUES,
  type Outcome,
  SchemaError,
  type Validator,
  pointerStep,
  shorten,
} from "../schema.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { type Schema, type StandardResult, type StandardSchema, isStandardSchema } from "../standard-schema.ts";

/** `input`: a value of the peer for a handler. `output`: a value of a handler for the peer. */
type Direction = "input" | "output";

/** A compiled schema. */
export interface CompiledSchema {
  /** The published JSON Schema. One that a schema library has converted has no `$schema` if the dialect is 2020-12. */
  readonly json: JsonSchema;
  /** Validates a value. Returns a promise if the schema library does, and while the evaluator is loaded. */
  readonly validate: (value: unknown) => Outcome | Promise<Outcome>;
}

/**
 * Number of values in arguments from which on the published JSON Schema is checked before the schema of a library. A library
 * has no budget: with a union of 30 objects, zod needs seconds and 500 MB for 768 kB of arguments.
 */
const LARGE = 1_000;

/**
 * Product of values and subschemas from which on the JSON Schema is also checked first. A library can report an issue for
 * each pair: with a union of 30 objects of 50 properties, zod needs 1 s and 300 MB for 3 kB of arguments.
 */
const LARGE_PRODUCT = 50_000;

/** Steps for results of the server's own handlers. They are trusted, but can be large. */
const OUTPUT_STEPS = 20_000_000;

const caches: Record<Direction, WeakMap<object, CompiledSchema>> = { input: new WeakMap(), output: new WeakMap() };

/**
 * Compiles a Standard Schema or a JSON Schema for one direction. The result is cached for as long as the schema object
 * lives, so a schema must not be changed after its first use.
 *
 * For `output`, `validate` receives the value of a handler and returns the value to send. With a JSON Schema, it returns the
 * value as JSON represents it: without undefined properties, and with dates as strings.
 *
 * Throws a SchemaError: `no_json_schema` if the library cannot convert the schema, otherwise as `readDocument` does.
 */
export function compileSchema(schema: Schema, direction: Direction): CompiledSchema {
  const cache = caches[direction];
  const cachedSchema = cache.get(schema);
  if (cachedSchema) return cachedSchema;
  const fresh = isStandardSchema(schema)
    ? compileStandard(schema, direction)
    : compilePlain(schema as JsonSchema, direction);
  cache.set(schema, fresh);
  return fresh;
}

function compilePlain(schema: JsonSchema, direction: Direction): CompiledSchema {
  requireJsonSchema(schema);
  const document = readDocument(schema);
  if (direction === "input") return { json: schema, validate: evaluatorOf(document) };
  const evaluate = evaluatorOf(document, { steps: OUTPUT_STEPS });
  return {
    json: schema,
    validate(value) {
      let json: unknown;
      try {
        // Parsing fails for a value that has no JSON text at all.
        json = JSON.parse(JSON.stringify(value));
      } catch (error) {
        return { issues: [{ path: "", message: `cannot be written as JSON: ${shorten(String(error))}` }] };
      }
      return evaluate(json);
    },
  };
}

/** Throws for a value that is not a schema, and for an object that would be a JSON Schema without any effect. */
function requireJsonSchema(schema: unknown): void {
  if (!isObject(schema) || Symbol.iterator in schema) {
    throw new SchemaError("invalid_schema", `The schema is ${JSON.stringify(schema)}, not an object.`);
  }
  const names = Object.keys(schema).filter((name) => name !== "$schema");
  for (const name of names) {
    const member = schema[name];
    if (isOldZod(member)) refuseOldZod();
    if (!isStandardSchema(member)) continue;
    const { vendor } = member["~standard"];
    const fact = `The schema is a plain object with a schema of ${vendor} at "${shorten(name)}".`;
    const form = vendor === "zod" ? `, as z.object({ ${shorten(name)}: ... }) is` : "";
    throw new SchemaError("invalid_schema", `${fact} Write the whole object as one schema of ${vendor}${form}.`);
  }
  if ("_def" in schema) refuseOldZod();
  const keywords = keywordsOf(dialectOf(schema["$schema"]) ?? "2020-12");
  if (names.length === 0 || names.some((name) => Object.hasOwn(keywords, name))) return;
  const list = shorten(names.map((name) => `"${name}"`).join(", "));
  const cure = 'Write { type: "object", properties: { ... } }.';
  throw new SchemaError("invalid_schema", `The schema has no JSON Schema keyword, only ${list}. ${cure}`);
}

/** Returns whether a value is a schema of zod before 3.24, which does not implement Standard Schema. */
function isOldZod(value: unknown): boolean {
  return isObject(value) && typeof value["safeParse"] === "function" && !isStandardSchema(value);
}

function refuseOldZod(): never {
  throw new SchemaError("no_json_schema", `The schema is one of an old zod: ${convertible}.`);
}

/** Returns a function that validates with the evaluator. Its 10 KB are loaded with the first value, to start faster. */
function evaluatorOf(
  document: SchemaDocument,
  options: CompileOptions = {},
): (value: unknown) => Outcome | Promise<Outcome> {
  let validator: Validator | undefined;
  return (value) => {
    if (validator) return validator(value);
    return import("../json-schema/compile.ts").then(({ compileDocument }) => {
      validator ??= compileDocument(document, options);
      return validator(value);
    });
  };
}

function compileStandard(schema: StandardSchema, direction: Direction): CompiledSchema {
  const { vendor, validate } = schema["~standard"];
  const jsonSchema = toJsonSchema(schema, direction);
  const { $schema, ...withoutDialect } = jsonSchema;
  const json = dialectOf($schema) === "2020-12" ? withoutDialect : jsonSchema;
  const runLibrary = (value: unknown): Outcome | Promise<Outcome> => {
    const result = validate(value);
    return result instanceof Promise ? result.then(outcomeOf) : outcomeOf(result);
  };
  let document: SchemaDocument;
  try {
    document = readDocument(json);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const message = `The JSON Schema of this ${vendor} schema cannot be used. ${error.message}`;
    throw new SchemaError(error.code, message, { cause: error });
  }
  if (direction === "output") return { json, validate: runLibrary };
  const evaluate = evaluatorOf(document, { exhaustive: true });
  const elements = Math.min(LARGE, Math.floor(LARGE_PRODUCT / document.places.size));
  const evaluateFirst = async (value: unknown): Promise<Outcome> => {
    const outcome = await evaluate(value);
    return outcome.issues ? outcome : runLibrary(value);
  };
  return {
    json,
    validate(value) {
      const isLarge = checkBudget(value, { depth: Infinity, elements }) !== undefined;
      return isLarge ? evaluateFirst(value) : runLibrary(value);
    },
  };
}

/** The schemas that can be converted. Those of `zod/v3` and `zod/mini` have no JSON Schema in any version. */
const convertible =
  "use zod 4.2 (not zod/v3 or zod/mini), ArkType 2.1.28, toStandardJsonSchema of @valibot/to-json-schema, or a JSON Schema object";

function toJsonSchema(schema: StandardSchema, direction: Direction): JsonSchema {
  const { vendor, jsonSchema } = schema["~standard"];
  let cause: unknown;
  let reason = convertible;
  try {
    if (jsonSchema) return jsonSchema[direction]({ target: "draft-2020-12" });
  } catch (error) {
    cause = error;
    const { message = error } = error as Partial<Error>;
    reason = `${String(message).replace(/\.$/, "")}. Use a schema of a JSON value there, such as a string.`;
  }
  const path = pathOfFailure(schema, direction);
  const place = path === "" ? "" : ` at "${shorten(path)}"`;
  const message = `Cannot convert this ${vendor} schema to JSON Schema${place}: ${reason}`;
  throw new SchemaError("no_json_schema", message, { cause });
}

/** Maximum number of schemas in each other that are searched for the one that cannot be converted. */
const MAX_SEARCHED = 32;

/**
 * Returns the path of the innermost schema that cannot be converted, such as `user.dates[]`, because the errors of zod do not name it.
 * Empty if it is the schema itself, or if the library does not show the parts of its schemas.
 */
function pathOfFailure(schema: StandardSchema, direction: Direction, depth = 0): string {
  const { def } = schema as { def?: unknown };
  if (!isObject(def) || depth === MAX_SEARCHED) return "";
  for (const [step, part] of partsOf(def)) {
    if (!part["~standard"].jsonSchema || isConvertible(part, direction)) continue;
    const rest = pathOfFailure(part, direction, depth + 1);
    return step === "" ? rest : `${step}${rest.startsWith("[") || rest === "" ? "" : "."}${rest}`;
  }
  return "";
}

function isConvertible(schema: StandardSchema, direction: Direction): boolean {
  try {
    schema["~standard"].jsonSchema?.[direction]({ target: "draft-2020-12" });
    return true;
  } catch {
    return false;
  }
}

/** Returns the schemas in the definition of a schema of zod, each with its step of the path. A wrapped schema has none. */
function partsOf(def: JsonObject): [step: string, part: StandardSchema][] {
  return Object.keys(def).flatMap((name): [string, StandardSchema][] => {
    const value = name === "getter" && typeof def[name] === "function" ? (def[name] as () => unknown)() : def[name];
    if (isStandardSchema(value)) return [[name === "element" ? "[]" : name === "valueType" ? "[key]" : "", value]];
    if (typeof value !== "object" || value === null) return [];
    const isTuple = name === "items";
    return Object.entries(value).flatMap(([key, part]): [string, StandardSchema][] =>
      isStandardSchema(part) ? [[Array.isArray(value) ? (isTuple ? `[${key}]` : "") : key, part]] : [],
    );
  });
}

function outcomeOf(result: StandardResult<unknown>): Outcome {
  if (result.issues === undefined) return { value: result.value };
  const issues = result.issues.slice(0, MAX_ISSUES).map(({ path = [], message }) => {
    const keys = path.map((step) => pointerStep(String(typeof step === "object" ? step.key : step)));
    return { path: keys.join(""), message: shorten(message, 300) };
  });
  return { issues };
}
