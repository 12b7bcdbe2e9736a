import type { JsonObject, Tool } from "mcparley";
import type { TypedArgument } from "./arguments.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { UsageError } from "../../terminal/io.ts";
import { resolveReference, typesOf } from "./schema-types.ts";
import { isObject } from "@mcparley/internal/is-object";

/**
 * Converts typed arguments to the arguments of a tool call, by the tool's input schema.
 *
 * A text becomes a number, boolean, null, array or object if the schema does not accept a string and the text can be
 * parsed as an accepted type. For an array, a single text or a repeated key becomes its items. Any other text is
 * unchanged.
 *
 * Throws `UsageError` for an argument that the tool does not have, and for a missing required argument.
 */
export function toolArguments(tool: Tool, args: readonly TypedArgument[]): JsonObject {
  const schema = tool.inputSchema;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const groups = groupByKey(args);
  const values: [string, unknown][] = [];
  for (const [key, group] of groups) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property === undefined) requireOpen(tool, key, Object.keys(properties));
    values.push([key, valueOf(key, group, { property, root: schema })]);
  }
  requireAll(tool, properties, groups);
  return Object.fromEntries(values);
}

function groupByKey(args: readonly TypedArgument[]): Map<string, TypedArgument[]> {
  const groups = new Map<string, TypedArgument[]>();
  for (const one of args) groups.set(one.key, [...(groups.get(one.key) ?? []), one]);
  return groups;
}

interface Typed {
  readonly property: unknown;
  readonly root: JsonObject;
}

function valueOf(key: string, group: readonly TypedArgument[], { property, root }: Typed): unknown {
  const types = typesOf(property, root);
  const [first] = group;
  if (group.length > 1) {
    if (!types?.has("array")) {
      throw new UsageError(`${key} is given ${group.length} times. It accepts one value.`);
    }
    const items = itemsOf({ property, root });
    return group.map((one) => (one.form === "json" ? one.value : coerce(String(one.value), items)));
  }
  if (first === undefined || first.form === "json") return first?.value;
  return coerce(String(first.value), { property, root });
}

/**
 * Converts a text to a type that the schema accepts. Returns the text if it cannot be converted or the schema accepts
 * strings.
 */
function coerce(text: string, schemas: Typed): unknown {
  const types = typesOf(schemas.property, schemas.root);
  if (!types || types.has("string")) return text;
  const json = parse(text);
  if (json !== undefined && takes(types, json.value)) return json.value;
  // A single word becomes a list of one item. An invalid JSON array is sent as text, so that the server rejects it.
  if (types.has("array") && !/^\s*\[/.test(text)) return [coerce(text, itemsOf(schemas))];
  return text;
}

function itemsOf({ property, root }: Typed): Typed {
  const schema = resolveReference(property, root);
  return { property: isObject(schema) ? schema.items : undefined, root };
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function takes(types: ReadonlySet<string>, value: unknown): boolean {
  if (value === null) return types.has("null");
  if (Array.isArray(value)) return types.has("array");
  if (!Number.isInteger(value)) return types.has(typeof value);
  // A number that a double cannot represent exactly would differ from the typed one.
  return Number.isSafeInteger(value) && (types.has("integer") || types.has("number"));
}

/**
 * Throws `UsageError` for an unknown argument, unless the schema allows additional properties or may define more of
 * them.
 */
function requireOpen(tool: Tool, key: string, propertyNames: readonly string[]): void {
  const { additionalProperties, patternProperties, allOf, anyOf, oneOf, $ref } = tool.inputSchema;
  const open = additionalProperties === true || isObject(additionalProperties);
  const isComposed = [patternProperties, allOf, anyOf, oneOf, $ref].some((keyword) => keyword !== undefined);
  if (open || isComposed || (propertyNames.length === 0 && additionalProperties !== false)) return;
  throw new UsageError(
    `The tool "${tool.name}" has no argument ${JSON.stringify(key)}.`,
    nestedHint(key, propertyNames) ?? didYouMean(key, propertyNames),
  );
}

function nestedHint(key: string, propertyNames: readonly string[]): string | undefined {
  const outer = propertyNames.find((name) => key.startsWith(`${name}.`) || key.startsWith(`${name}[`));
  return outer === undefined ? undefined : `Give the whole value of ${outer} as JSON: ${outer}:='{...}'`;
}

function requireAll(tool: Tool, properties: JsonObject, groups: ReadonlyMap<string, unknown>): void {
  const { required } = tool.inputSchema;
  if (!Array.isArray(required)) return;
  const missing = required.filter((key): key is string => typeof key === "string" && !groups.has(key));
  if (missing.length === 0) return;
  throw new UsageError(
    `The tool "${tool.name}" needs ${missing.join(", ")}.`,
    `Add ${missing.map((key) => example(key, properties[key], tool.inputSchema)).join(" ")}`,
  );
}

/** Returns the form of an argument on the command line, such as `limit=INTEGER`. */
export function example(key: string, property: unknown, root: JsonObject): string {
  const types = typesOf(property, root);
  const propertySchema = resolveReference(property, root);
  if (isObject(propertySchema) && Array.isArray(propertySchema.enum) && propertySchema.enum.length > 0) {
    return `${key}=${propertySchema.enum.slice(0, 8).map(String).join("|")}${propertySchema.enum.length > 8 ? "|..." : ""}`;
  }
  if (!types || types.has("string")) return `${key}=TEXT`;
  if (types.has("object")) return `${key}:='{...}'`;
  return `${key}=${[...types].find((type) => type !== "null")?.toUpperCase() ?? "VALUE"}`;
}
