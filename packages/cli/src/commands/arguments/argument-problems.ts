import type { JsonObject, Tool } from "mcparley";
import { type ValidationIssue, validateJson } from "mcparley/client";
import { isObject } from "@mcparley/internal/is-object";
import { pointerKeys } from "@mcparley/internal/json-pointer";
import { nearest } from "../../terminal/did-you-mean.ts";
import { UsageError } from "../../terminal/io.ts";
import { quotedWord } from "../../terminal/quoted-word.ts";
import { resolveReference } from "./schema-types.ts";
import { example } from "./tool-arguments.ts";

/** Maximum number of problems in a message. */
const maxProblems = 5;

/**
 * Throws `UsageError` for arguments that do not match the input schema of a tool, with the members and a cure. The arguments of a schema that
 * cannot be checked are accepted, because the server checks them.
 */
export async function requireValidArguments({ name, inputSchema }: Tool, args: JsonObject): Promise<void> {
  const issues = await issuesOf(inputSchema, args);
  if (issues.length === 0) return;
  const cures = issues.map((issue) => cureFor(issue, args, inputSchema));
  // A question names a similar member or value, which is the most specific cure.
  throw new UsageError(
    `The arguments do not match the schema of the tool ${JSON.stringify(name)}: ${describeIssues(issues, args).join("; ")}.`,
    cures.find((cure) => cure?.endsWith("?")) ?? cures[0],
  );
}

/** Returns a sentence for each member that does not match a schema. `member` limits them to one member. */
export async function argumentProblems(schema: JsonObject, args: JsonObject, member?: string): Promise<string[]> {
  const issues = await issuesOf(schema, args);
  const isConcerned = ({ path }: ValidationIssue): boolean => member === undefined || pointerKeys(path)[0] === member;
  return describeIssues(issues.filter(isConcerned), args).map((problem) => `${problem}.`);
}

/** Returns the first problem of each member. The problems of the alternatives of `anyOf` follow that of the whole value. */
async function issuesOf(schema: JsonObject, args: JsonObject): Promise<ValidationIssue[]> {
  const issues = await validateJson(schema, args).catch(() => []);
  return issues.filter(({ path }, index) => issues.findIndex((one) => one.path === path) === index);
}

function describeIssues(issues: readonly ValidationIssue[], args: JsonObject): string[] {
  const problems = issues.slice(0, maxProblems).map((issue) => describeIssue(issue, args));
  return issues.length > maxProblems ? [...problems, `and ${issues.length - maxProblems} more`] : problems;
}

/** Returns the member, its value and the problem, such as `limit is "x", and must be integer, not string`. */
function describeIssue({ path, message }: ValidationIssue, args: JsonObject): string {
  const keys = pointerKeys(path);
  if (keys.length === 0) return `The object ${message}`;
  const value = JSON.stringify(valueAt(args, keys)) ?? "undefined";
  const shownValue = value.length > 40 || message.startsWith("is ") ? " " : ` is ${value}, and `;
  return `${memberName(keys)}${shownValue}${message}`;
}

/** Returns the path of a member as JavaScript writes it: `filter.tags[0]`. */
function memberName([first = "", ...keys]: readonly string[]): string {
  return keys.reduce((name, key) => (/^\d+$/.test(key) ? `${name}[${key}]` : `${name}.${key}`), first);
}

function valueAt(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) => (isObject(inner) || Array.isArray(inner) ? (inner as JsonObject)[key] : undefined),
    value,
  );
}

/** Returns the most similar value or name, or else the form of the argument. */
function cureFor({ path }: ValidationIssue, args: JsonObject, root: JsonObject): string | undefined {
  const keys = pointerKeys(path);
  const [key] = keys;
  if (key === undefined) return undefined;
  const value = valueAt(args, keys);
  const schema = schemaAt(root, keys);
  const enumValues: unknown[] = isObject(schema) && Array.isArray(schema.enum) ? schema.enum : [];
  const choices = enumValues.filter((one): one is string => typeof one === "string");
  const choice = typeof value === "string" ? nearest(value, choices) : undefined;
  if (choice !== undefined) return `Did you mean ${quotedWord(`${memberName(keys)}=${choice}`)}?`;
  const parent = schemaAt(root, keys.slice(0, -1));
  if (schema === undefined && isObject(parent) && isObject(parent.properties)) {
    const names = Object.keys(parent.properties);
    const name = nearest(keys.at(-1) ?? "", names);
    return name === undefined
      ? `Known are: ${names.join(", ")}.`
      : `Did you mean ${memberName([...keys.slice(0, -1), name])}?`;
  }
  if (keys.length > 1) return `Give the whole value of ${key} as JSON: ${key}:='...'`;
  return `Such as ${example(key, schema, root)}`;
}

/** Returns the schema of a member. Undefined if no `properties` or `items` describe it. */
function schemaAt(root: JsonObject, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((schema, key) => {
    const resolved = resolveReference(schema, root);
    if (!isObject(resolved)) return undefined;
    const { properties, items } = resolved;
    if (isObject(properties) && Object.hasOwn(properties, key)) return resolveReference(properties[key], root);
    return /^\d+$/.test(key) ? resolveReference(items, root) : undefined;
  }, root);
}
