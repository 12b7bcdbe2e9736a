import { type Awaitable, after, all, isPromise } from "../../rpc/awaitable.ts";
import { invalidParams } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import type { PromptArgument } from "../../mcp/prompts.ts";
import { type Budget, checkBudget } from "../../schema/budget.ts";
import { type CompiledSchema, compileSchema } from "../../schema/validation/compile-schema.ts";
import { type Outcome, type ValidationIssue, pointerStep } from "../../schema/schema.ts";
import { type TypedSchema, isStandardSchema } from "../../schema/standard-schema.ts";
import type { CompletionHandler, PromptArgumentDefinition } from "../core/definition-types.ts";
import type { PreparedArguments } from "../core/server-core.ts";
import { checkComplete, explainErrors, withoutUndefined } from "../checks/check-definition.ts";
import { checkMembers, isRecord } from "../checks/known-members.ts";

/** A part of a JSON Schema, and the schema that its references point into. */
interface JsonPart {
  readonly schema: unknown;
  readonly root: JsonObject;
}

/** One argument: how it is listed, and how its text becomes a value. */
interface Argument {
  readonly listEntry: PromptArgument;
  readonly suggestions: CompletionHandler | readonly string[] | undefined;
  /** The JSON Schema of the value. Undefined for plain text. */
  readonly json: JsonPart | undefined;
  readonly validate: CompiledSchema["validate"] | undefined;
}

const form = "{ name: { required: true } }, { name: z.string() } or z.object({ name: z.string() })";

/** Prepares the `arguments` of a prompt: a record of arguments by name, or one schema of an object. */
export function prepareArguments(definition: unknown): PreparedArguments {
  if (definition === undefined) return makeArguments([], undefined);
  if (Array.isArray(definition)) throw new TypeError(`write "arguments" as ${form}`);
  if (isSchema(definition) || (isObject(definition) && definition.type === "object")) {
    const { json, validate } = compileSchema(definition, "input");
    return makeArguments(propertiesOf(json), validate);
  }
  if (!isRecord(definition)) throw new TypeError(`write "arguments" as ${form}`);
  const args = Object.entries(definition).map(([name, argument]) =>
    explainErrors(`argument "${name}"`, () => prepareArgument(name, argument)),
  );
  return makeArguments(args, undefined);
}

/** Whether a value is a schema of a library. The first schemas of zod 3 are no Standard Schema, and are refused later. */
function isSchema(value: unknown): value is TypedSchema {
  return isStandardSchema(value) || (isObject(value) && "_def" in value);
}

/** Reads the properties of an object schema as arguments. */
function propertiesOf(root: JsonObject): Argument[] {
  const { type, properties, required } = resolve(root, root) as JsonObject;
  if (type !== "object" || !isObject(properties))
    throw new TypeError('the schema of "arguments" must be of an object with properties');
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, schema]) => {
    return argumentOf({ name, ...(names.includes(name) && { required: true }) }, { schema, root });
  });
}

function prepareArgument(name: string, argument: unknown): Argument {
  if (isSchema(argument)) return withSchema(name, argument, {});
  checkMembers("argument", argument, `arguments.${name}`);
  const { title, description, required, complete, schema } = argument as PromptArgumentDefinition;
  checkComplete(complete, `arguments.${name}.complete`);
  if (schema === undefined) {
    const listEntry = withoutUndefined<PromptArgument>({ name, title, description, required: required || undefined });
    return { listEntry, suggestions: complete, json: undefined, validate: undefined };
  }
  if (!isSchema(schema))
    throw new TypeError(`the schema of the argument "${name}" must be one of a library, such as z.number()`);
  if (required !== undefined) throw new TypeError(`leave "required" of the argument "${name}" out: its schema tells`);
  return withSchema(name, schema, { title, description, complete });
}

function withSchema(
  name: string,
  schema: TypedSchema,
  { title, description, complete }: Partial<PromptArgumentDefinition>,
): Argument {
  if (isCompletable(schema))
    throw new TypeError(`write "${name}" as { schema, complete } in place of completable(schema, complete)`);
  const { json, validate } = compileSchema(schema, "input");
  const argument = argumentOf(
    { name, ...(!acceptsNothing(validate) && { required: true }) },
    { schema: json, root: json },
  );
  const listEntry = { ...argument.listEntry, ...withoutUndefined<Partial<PromptArgument>>({ title, description }) };
  return { ...argument, listEntry, validate, suggestions: complete ?? argument.suggestions };
}

/** Whether a schema has the suggestions of the official SDK, which would be ignored. */
function isCompletable(schema: TypedSchema): boolean {
  return Symbol.for("mcp.completable") in schema;
}

/** Returns whether an argument may be missing. One whose validation is asynchronous or fails is required. */
function acceptsNothing(validate: CompiledSchema["validate"]): boolean {
  try {
    const outcome = validate(undefined);
    if (!isPromise(outcome)) return !outcome.issues;
    outcome.catch(() => {});
  } catch {
    // The function of a schema may not expect a missing value.
  }
  return false;
}

function argumentOf(listEntry: PromptArgument, json: JsonPart): Argument {
  const schema = resolve(json.schema, json.root);
  const { title, description, enum: values } = isObject(schema) ? schema : {};
  if (typeof title === "string") listEntry.title = title;
  if (typeof description === "string") listEntry.description = description;
  const suggestions = Array.isArray(values) ? values.map(textOf) : undefined;
  return { listEntry, suggestions, json, validate: undefined };
}

/** Makes the arguments of a prompt. `validateAll` validates the values of all arguments as one object. */
function makeArguments(
  args: readonly Argument[],
  validateAll: CompiledSchema["validate"] | undefined,
): PreparedArguments {
  const suggestions = args.flatMap(({ listEntry, suggestions }) =>
    suggestions ? [[listEntry.name, suggestions] as const] : [],
  );
  const isPlain = !validateAll && args.every(({ validate }) => !validate);
  return {
    listed: args.map(({ listEntry }) => listEntry),
    suggestions: new Map(suggestions),
    read(prompt, texts, limits) {
      const values = isPlain ? texts : valuesOf(args, texts, limits);
      const missing = args.filter(({ listEntry }) => listEntry.required && !Object.hasOwn(values, listEntry.name));
      if (missing.length > 0) {
        const names = missing.map(({ listEntry }) => listEntry.name);
        throw invalidParams(`The prompt ${prompt} needs the argument ${names.join(", ")}.`, { missing: names });
      }
      if (isPlain) return texts;
      const outcome = validateAll ? validateAll(values) : validateEach(args, values);
      return after(outcome, (ready) => valueOf(prompt, ready));
    },
  };
}

/** Converts the texts of the arguments. An empty text is a missing value, unless the schema accepts text. */
function valuesOf(args: readonly Argument[], texts: Readonly<Record<string, string>>, limits: Budget): JsonObject {
  const byName = new Map(args.map((argument) => [argument.listEntry.name, argument]));
  const entries = Object.entries(texts).flatMap(([name, text]): [string, unknown][] => {
    const json = byName.get(name)?.json;
    const value = json ? convert(text, json) : text;
    if (value === undefined && text === "") return [];
    const excess = checkBudget(value, limits);
    if (excess) throw invalidParams(`params.arguments.${name.slice(0, 80)}: ${excess}`);
    // A text that is no value of the type is refused by the schema, whose message names the type.
    return [[name, value === undefined ? text : value]];
  });
  return Object.fromEntries(entries);
}

/** Validates the value of each argument by its own schema. Other values are left out. */
function validateEach(args: readonly Argument[], values: JsonObject): Awaitable<Outcome> {
  const outcomes = args.map(({ listEntry: { name }, validate }) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return after<Outcome, NamedOutcome>(validate ? validate(value) : { value }, (outcome) => ({ name, outcome }));
  });
  return after(all(outcomes), join);
}

interface NamedOutcome {
  name: string;
  outcome: Outcome;
}

function join(outcomes: readonly NamedOutcome[]): Outcome {
  const issues: ValidationIssue[] = [];
  const values: [name: string, value: unknown][] = [];
  for (const { name, outcome } of outcomes) {
    for (const { path, message } of outcome.issues ?? []) issues.push({ path: pointerStep(name) + path, message });
    if (!outcome.issues && outcome.value !== undefined) values.push([name, outcome.value]);
  }
  return issues.length > 0 ? { issues } : { value: Object.fromEntries(values) };
}

function valueOf(prompt: string, outcome: Outcome): Record<string, unknown> {
  const { issues } = outcome;
  if (!issues) return outcome.value as Record<string, unknown>;
  const lines = issues.map(({ path, message }) => `- ${path || "/"}: ${message}`);
  throw invalidParams(`The arguments of the prompt ${prompt} are not valid:\n${lines.join("\n")}`, {
    invalid: namesIn(issues),
  });
}

function namesIn(issues: readonly ValidationIssue[]): string[] {
  return [...new Set(issues.flatMap(({ path }) => pathOf(path).slice(0, 1)))];
}

/** Returns the steps of a JSON pointer, such as that of a local reference. */
function pathOf(pointer: string): string[] {
  const steps = pointer.split("/").slice(1);
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Maximum number of schemas that are followed from one to the next. A schema can refer to itself. */
const maxSteps = 32;

/** Returns the schema that a chain of local references leads to. */
function resolve(schema: unknown, root: JsonObject): unknown {
  let target = schema;
  for (let steps = 0; steps < maxSteps && isObject(target) && typeof target.$ref === "string"; steps++) {
    target = pathOf(target.$ref).reduce<unknown>((value, key) => (value as JsonObject | undefined)?.[key], root);
  }
  return target;
}

/**
 * Returns the value of a text for a JSON Schema: the text itself if the schema accepts any text, otherwise the value that
 * the text is as JSON. Returns undefined if that has another type.
 */
function convert(text: string, { schema: unresolvedSchema, root }: JsonPart, steps = 0): unknown {
  const schema = resolve(unresolvedSchema, root);
  if (!isObject(schema) || steps > maxSteps) return text;
  const { type, anyOf, oneOf, allOf, enum: values = "const" in schema ? [schema.const] : undefined } = schema;
  if (Array.isArray(values)) return values.find((value) => textOf(value) === text);
  if (type !== undefined) return readJson(text, [type].flat());
  const alternatives = anyOf ?? oneOf ?? allOf;
  if (!Array.isArray(alternatives)) return text;
  const candidates = alternatives.map((alternative) => convert(text, { schema: alternative, root }, steps + 1));
  // A schema that matches all of `allOf` accepts text only if each of them does.
  const acceptsText = alternatives === allOf ? candidates.every((value) => value === text) : candidates.includes(text);
  return acceptsText ? text : candidates.find((value) => value !== undefined && value !== text);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function readJson(text: string, types: readonly unknown[]): unknown {
  if (types.includes("string")) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return types.includes(type) || (types.includes("integer") && Number.isInteger(value)) ? value : undefined;
}
