import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { encodeHeaderValue, mirroredValue } from "../../mcp/headers/header-values.ts";
import type { McpHeader } from "../../mcp/headers/mirrored-headers.ts";
import type { ClientExtension } from "../extension.ts";

/**
 * Returns the headers that mirror a call's arguments. An argument that is missing or null has none.
 *
 * Throws `LocalError` `invalid_message` for an integer that JavaScript cannot represent exactly, since the server would
 * compare the header with another value (2026-07-28, Streamable HTTP, "Schema Extension").
 */
export function mirrorArguments(headers: readonly McpHeader[], args: unknown): Record<string, string> {
  const mirrored: Record<string, string> = {};
  for (const { header, path } of headers) {
    const value = mirroredValue(args, path);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      const what = `The argument "${path.join(".")}" is ${String(value)}`;
      throw new LocalError("invalid_message", `${what}, which cannot be sent exactly; use at most 2^53 - 1.`);
    }
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      mirrored[header] = encodeHeaderValue(value);
    }
  }
  return mirrored;
}

/** Returns the `Mcp-Name` header of a request that an extension defines. Undefined if no extension asks for it. */
export function extensionHeaders(
  extensions: readonly ClientExtension[],
  method: string,
  params: JsonObject,
): { headers: Record<string, string> } | undefined {
  const named = extensions.map(({ mirroredNames }) => mirroredNames?.[method]).find((name) => name !== undefined);
  const value = named === undefined ? undefined : params[named];
  return typeof value === "string" ? { headers: { "mcp-name": encodeHeaderValue(value) } } : undefined;
}
