import type { JsonObject } from "mcparley";
import { pointerKeys } from "@mcparley/internal/json-pointer";
import { isObject } from "@mcparley/internal/is-object";

/** Maximum depth of references and alternatives. A type beyond it counts as unknown. */
const maxDepth = 8;

/**
 * Returns the JSON types that a schema accepts, or undefined if it does not specify any.
 *
 * `$ref` is resolved in the document `root` only.
 */
export function typesOf(schema: unknown, root: JsonObject, depth = 0): Set<string> | undefined {
  const schemaObject = resolveReference(schema, root);
  if (!isObject(schemaObject) || depth > maxDepth) return undefined;
  const { type, anyOf, oneOf, allOf } = schemaObject;
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return new Set(type.filter((one) => typeof one === "string"));
  if ("const" in schemaObject) return new Set([nameOf(schemaObject.const)]);
  if (Array.isArray(schemaObject.enum)) return new Set(schemaObject.enum.map(nameOf));
  const alternatives = [anyOf, oneOf].find((list) => Array.isArray(list));
  if (alternatives) return union(alternatives.map((one) => typesOf(one, root, depth + 1)));
  if (!Array.isArray(allOf)) return undefined;
  return allOf.map((one) => typesOf(one, root, depth + 1)).find((types) => types !== undefined);
}

/** Resolves `$ref` inside the document. Returns undefined for a reference to another document. */
export function resolveReference(schema: unknown, root: JsonObject): unknown {
  let current = schema;
  for (let steps = 0; isObject(current) && typeof current.$ref === "string"; steps += 1) {
    if (steps >= maxDepth || !current.$ref.startsWith("#")) return undefined;
    current = valueAtPointer(current.$ref.slice(1), root);
  }
  return current;
}

function valueAtPointer(pointer: string, root: JsonObject): unknown {
  let current: unknown = root;
  for (const key of pointerKeys(decode(pointer))) {
    const hasKey = typeof current === "object" && current !== null && Object.hasOwn(current, key);
    if (!hasKey) return undefined;
    current = (current as JsonObject)[key];
  }
  return current;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function union(sets: readonly (Set<string> | undefined)[]): Set<string> | undefined {
  const all = new Set<string>();
  for (const set of sets) {
    if (!set) return undefined;
    for (const type of set) all.add(type);
  }
  return all;
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}
