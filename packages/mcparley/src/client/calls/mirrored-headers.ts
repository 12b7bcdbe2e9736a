import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { Envelope } from "../../rpc/transport.ts";
import { encodeHeaderValue, mirroredValue } from "../../mcp/headers/header-values.ts";
import type { McpHeader } from "../../mcp/headers/mirrored-headers.ts";
import { Method } from "../../mcp/methods.ts";
import { isExtensionList } from "../client-capabilities.ts";
import type { ClientExtension } from "../extension.ts";
import type { Call } from "../core.ts";
import { findTool } from "./find-tool.ts";
import { headersOf } from "./known-tools.ts";

/**
 * Returns the headers that mirror the params of a call. The tool of a call is looked up first if it is unknown: the server
 * refuses the call without its headers.
 */
export async function mirroredHeaders(call: Call): Promise<Envelope | undefined> {
  const { core, method, params } = call;
  const { extensions } = core.options;
  if (method !== Method.callTool) {
    return isExtensionList(extensions) ? extensionHeaders(extensions, method, params) : undefined;
  }
  // Most clients list the tools before they call one.
  const knownTool = await findTool(call);
  const headers = knownTool && (knownTool.headers ??= await headersOf(knownTool.tool));
  return headers?.length ? { headers: mirrorArguments(headers, params.arguments) } : undefined;
}

/**
 * Returns the headers that mirror a call's arguments. An argument that is missing or null has none.
 *
 * Throws `LocalError` `invalid_message` for an integer that JavaScript cannot represent exactly, since the server would
 * compare the header with another value (2026-07-28, Streamable HTTP, "Schema Extension").
 */
export function mirrorArguments(headers: readonly McpHeader[], args: unknown): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { header, path } of headers) {
    const value = mirroredValue(args, path);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      const what = `The argument "${path.join(".")}" is ${String(value)}`;
      throw new LocalError("invalid_message", `${what}, which cannot be sent exactly; use at most 2^53 - 1.`);
    }
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      values[header] = encodeHeaderValue(value);
    }
  }
  return values;
}

/** Returns the `Mcp-Name` header of a request that an extension defines. Undefined if no extension asks for it. */
function extensionHeaders(
  extensions: readonly ClientExtension[],
  method: string,
  params: JsonObject,
): Envelope | undefined {
  const param = extensions.map(({ mirroredNames }) => mirroredNames?.[method]).find((name) => name !== undefined);
  const value = param === undefined ? undefined : params[param];
  return typeof value === "string" ? { headers: { "mcp-name": encodeHeaderValue(value) } } : undefined;
}
