import { type JsonSchema, SchemaError, shorten } from "../../schema/schema.ts";
import { isObject } from "../../rpc/messages.ts";
import { type Dialect, dialectOf, subschemasOf } from "../../schema/json-schema/keywords.ts";

/** The type of a parameter that can be mirrored in a header. */
export type McpHeaderType = "string" | "integer" | "boolean";

/** A tool parameter that a client mirrors in a header of its `tools/call` request. */
export interface McpHeader {
  /** The complete header name, such as `Mcp-Param-Region`. */
  readonly header: string;
  /** The property names that lead to the parameter in the tool's arguments. */
  readonly path: readonly string[];
  /** The type of the parameter. */
  readonly type: McpHeaderType;
}

const annotation = "x-mcp-header";
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const types: readonly McpHeaderType[] = ["string", "integer", "boolean"];

interface Place {
  readonly schema: JsonSchema;
  /** The property names from the root, or undefined if the path contains another keyword than `properties`. */
  readonly path: readonly string[] | undefined;
  readonly pointer: string;
  readonly depth: number;
}

/**
 * The maximum depth of a definition's schema. Deeper annotations of a peer are ignored, because their paths grow
 * quadratically.
 */
const MAX_DEPTH = 64;

/**
 * Returns the `x-mcp-header` annotations of a tool's input schema.
 *
 * Throws a SchemaError `invalid_schema` for the first invalid one (2026-07-28, Streamable HTTP, "Schema Extension").
 */
export function mcpHeaders(json: JsonSchema): readonly McpHeader[] {
  const headers = new Map<string, McpHeader>();
  const dialect = dialectOf(json["$schema"]) ?? "2020-12";
  const places: Place[] = [{ schema: json, path: [], pointer: "", depth: 0 }];
  // Not recursive, because a peer's schema could exhaust the stack.
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    if (place.schema[annotation] !== undefined) {
      const header = readAnnotation(place);
      const key = header.header.toLowerCase();
      if (headers.has(key)) throw invalidHeader(header.path.join("."), "is used twice (case is ignored)");
      headers.set(key, header);
    }
    places.push(...placesBelow(place, dialect));
  }
  return [...headers.values()];
}

function placesBelow({ schema, path, pointer, depth }: Place, dialect: Dialect): Place[] {
  const places: Place[] = [];
  if (depth >= MAX_DEPTH) return places;
  for (const { schema: subschema, keyword, key, pointer: step } of subschemasOf(schema, dialect)) {
    if (!isObject(subschema)) continue;
    const next = path && keyword === "properties" ? [...path, key!] : undefined;
    places.push({ schema: subschema, path: next, pointer: pointer + step, depth: depth + 1 });
  }
  // Places are popped from the end, and headers must be in the order of the properties.
  return places.toReversed();
}

function readAnnotation({ schema, path, pointer }: Place): McpHeader {
  if (path === undefined || path.length === 0) {
    throw invalidHeader(pointer || "/", 'is only allowed on properties that are reached through "properties" alone');
  }
  const property = path.join(".");
  const name = schema[annotation];
  if (typeof name !== "string" || !token.test(name)) {
    const excerpt = shorten(JSON.stringify(name) ?? typeof name);
    throw invalidHeader(property, `is ${excerpt}, which is not a header name (letters, digits and !#$%&'*+-.^_\`|~)`);
  }
  const type = typeOf(schema["type"]);
  if (type === undefined) {
    throw invalidHeader(property, 'is only allowed on "type": "string", "integer" or "boolean"');
  }
  return { header: `Mcp-Param-${name}`, path, type };
}

/** Returns the type of a parameter. The schema may also allow null. A parameter that is null has no header. */
function typeOf(type: unknown): McpHeaderType | undefined {
  const names = [type].flat();
  const otherNames = names.length === 2 ? names.filter((name) => name !== "null") : names;
  return otherNames.length === 1 ? types.find((mirroredType) => mirroredType === otherNames[0]) : undefined;
}

/** Returns the error for an annotation. `property` has the names joined by dots, or is a JSON pointer if it is no property. */
function invalidHeader(property: string, reason: string): SchemaError {
  return new SchemaError("invalid_schema", `The x-mcp-header of "${shorten(property)}" ${reason}.`);
}
