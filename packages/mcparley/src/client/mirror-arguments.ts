import { isObject } from "../jsonrpc/messages.ts";
import { encodeHeaderValue } from "../schema/mcp-header-values.ts";
import type { McpHeader } from "../schema/mcp-headers.ts";

/** The headers for a call's arguments; an argument that is missing or null has none. */
export function mirrorArguments(headers: readonly McpHeader[], args: unknown): Record<string, string> {
  const mirrored: Record<string, string> = {};
  for (const { header, path } of headers) {
    const value = valueAt(args, path);
    if (value !== undefined) mirrored[header] = encodeHeaderValue(value);
  }
  return mirrored;
}

function valueAt(args: unknown, path: readonly string[]): string | number | boolean | undefined {
  let value: unknown = args;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return undefined;
}
