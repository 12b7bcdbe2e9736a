import { SchemaError, shorten } from "../schema/schema.ts";
import { isObject } from "../rpc/messages.ts";
import type { JsonSchema } from "../schema/schema.ts";
import { type Dialect, dialectOf } from "../schema/json-schema/keywords.ts";
import { subschemasOf } from "../schema/json-schema/subschemas.ts";

/** The type of a parameter that may be mirrored in a header. */
export type McpHeaderType = "string" | "integer" | "boolean";

/** A tool parameter that a client mirrors in a header of its `tools/call` request. */
export interface McpHeader {
  /** The whole header name, `Mcp-Param-Region`. */
  readonly header: string;
  /** The property names that lead to the parameter in the tool's arguments. */
  readonly path: readonly string[];
  readonly type: McpHeaderType;
}

/** Thrown when an `x-mcp-header` annotation breaks the rules, which makes the whole tool definition invalid. */
export class InvalidMcpHeader extends SchemaError {
  override readonly name: string = "InvalidMcpHeader";
  /** The annotated place, as property names joined by dots, or a JSON pointer where it is not a property. */
  readonly property: string;

  constructor(property: string, reason: string) {
    super("invalid_schema", `The x-mcp-header of "${shorten(property)}" ${reason}.`);
    this.property = property;
  }
}

const annotation = "x-mcp-header";
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const types: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

interface Place {
  readonly schema: JsonSchema;
  /** The property names from the root, or undefined once the way went through anything but `properties`. */
  readonly path: readonly string[] | undefined;
  readonly pointer: string;
  readonly depth: number;
}

/** The depth of a definition's schema. Annotations of a peer below it are ignored; their paths would grow quadratically. */
const MAX_DEPTH = 64;

/**
 * Collects the `x-mcp-header` annotations of a tool's input schema.
 * Throws InvalidMcpHeader for the first one that breaks a rule (2026-07-28, Streamable HTTP, "Schema Extension").
 */
export function mcpHeaders(json: JsonSchema): readonly McpHeader[] {
  const found = new Map<string, McpHeader>();
  const dialect = dialectOf(json["$schema"]) ?? "2020-12";
  const places: Place[] = [{ schema: json, path: [], pointer: "", depth: 0 }];
  // A schema may come from a peer: no recursion, so that no nesting can exhaust the stack.
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    if (place.schema[annotation] !== undefined) {
      const header = readAnnotation(place);
      const key = header.header.toLowerCase();
      if (found.has(key)) throw new InvalidMcpHeader(header.path.join("."), "is used twice (case does not count)");
      found.set(key, header);
    }
    places.push(...placesBelow(place, dialect));
  }
  return [...found.values()];
}

function placesBelow({ schema, path, pointer, depth }: Place, dialect: Dialect): Place[] {
  const below: Place[] = [];
  if (depth >= MAX_DEPTH) return below;
  for (const { schema: found, keyword, key, pointer: step } of subschemasOf(schema, dialect)) {
    if (!isObject(found)) continue;
    const next = path && keyword === "properties" ? [...path, key!] : undefined;
    below.push({ schema: found, path: next, pointer: pointer + step, depth: depth + 1 });
  }
  // The places are taken from the end, and the headers are to come in the order of the properties.
  return below.toReversed();
}

function readAnnotation({ schema, path, pointer }: Place): McpHeader {
  if (path === undefined || path.length === 0) {
    throw new InvalidMcpHeader(
      pointer || "/",
      "is not on a property that is reached from the root through properties alone",
    );
  }
  const property = path.join(".");
  const name = schema[annotation];
  if (typeof name !== "string" || !token.test(name)) {
    const shown = shorten(JSON.stringify(name) ?? typeof name);
    throw new InvalidMcpHeader(
      property,
      `is ${shown}, which is not a header name (letters, digits and !#$%&'*+-.^_\`|~)`,
    );
  }
  const type = typeOf(schema["type"]);
  if (type === undefined) {
    throw new InvalidMcpHeader(property, 'is only allowed on "type": "string", "integer" or "boolean"');
  }
  return { header: `Mcp-Param-${name}`, path, type };
}

/** A parameter that may also be null keeps its header: for null, the header is left out. */
function typeOf(type: unknown): McpHeaderType | undefined {
  const names = [type].flat();
  const others = names.length === 2 ? names.filter((name) => name !== "null") : names;
  return others.length === 1 && types.has(others[0]) ? (others[0] as McpHeaderType) : undefined;
}
