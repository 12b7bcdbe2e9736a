import { type JsonRpcRequest, isObject } from "../../rpc/messages.ts";
import { MetaKey, Method } from "../../mcp/methods.ts";
import { findRevision } from "../../mcp/revisions/index.ts";
import { decodeHeaderValue, headerValueMatches, mirroredValue } from "../../mcp/headers/header-values.ts";
import { type McpHeader, mcpHeaders } from "../../mcp/headers/mirrored-headers.ts";
import type { ServerCore, ToolEntry } from "../../server/core/server-core.ts";
import { explainErrors } from "../../server/checks/check-definition.ts";
import type { HttpRequestHead } from "../exchange.ts";
import { METHOD_HEADER, NAME_HEADER, PROTOCOL_VERSION_HEADER } from "../header-names.ts";

/** The param that `Mcp-Name` mirrors, for each method of the core protocol. */
const mirroredName: ReadonlyMap<string, string> = new Map([
  [Method.callTool, "name"],
  [Method.getPrompt, "name"],
  [Method.readResource, "uri"],
]);

/** A header that differs from the message. */
export interface Mismatch {
  readonly name: string;
  /** Undefined if the request lacks the header. */
  readonly header: string | undefined;
  /** The value in the message. Undefined if it has none. */
  readonly value: unknown;
}

const headersByTool = new WeakMap<ToolEntry, readonly McpHeader[]>();

/** Converts the schemas of a tool. Throws a LocalError `invalid_definition` if an `x-mcp-header` in them breaks a rule. */
export function checkMirroredHeaders(entry: ToolEntry): void {
  entry.convert();
  explainErrors(`tool "${entry.name}"`, () => headersOf(entry));
}

function headersOf(entry: ToolEntry): readonly McpHeader[] {
  const cachedHeaders = headersByTool.get(entry);
  if (cachedHeaders) return cachedHeaders;
  const headers = mcpHeaders(entry.listed.inputSchema);
  headersByTool.set(entry, headers);
  return headers;
}

/**
 * Compares the headers that mirror a message with the message (2026-07-28, Streamable HTTP, "Server Validation"). A proxy
 * may have decided by the headers, so they must match the request that is executed.
 *
 * Returns the first difference, which is refused with -32020 and status 400. A protocol version or a name that the message
 * itself lacks is not an error here.
 */
export function findMismatch(core: ServerCore, request: JsonRpcRequest, head: HttpRequestHead): Mismatch | undefined {
  const { method, params } = request;
  const meta = params?._meta;
  const version = isObject(meta) ? meta[MetaKey.protocolVersion] : undefined;
  if (typeof version !== "string") return undefined;
  if (head.header(PROTOCOL_VERSION_HEADER) !== version) {
    return { name: "MCP-Protocol-Version", header: head.header(PROTOCOL_VERSION_HEADER), value: version };
  }
  if (!findRevision(version)?.mirrorHeaders) return undefined;
  if (head.header(METHOD_HEADER) !== method)
    return { name: "Mcp-Method", header: head.header(METHOD_HEADER), value: method };
  const nameParam = mirroredName.get(method) ?? core.extensionMethods.get(method)?.mirroredName;
  if (nameParam === undefined) return undefined;
  const name = params?.[nameParam];
  const header = head.header(NAME_HEADER);
  if (typeof name === "string" && (header === undefined || decodeHeaderValue(header) !== name)) {
    return { name: "Mcp-Name", header, value: name };
  }
  return findArgumentMismatch(core, request, head);
}

function findArgumentMismatch(core: ServerCore, request: JsonRpcRequest, head: HttpRequestHead): Mismatch | undefined {
  if (request.method !== Method.callTool) return undefined;
  const { name, arguments: args } = request.params ?? {};
  const entry = typeof name === "string" ? core.offering.tools.entry(name) : undefined;
  if (!entry) return undefined;
  for (const mcpHeader of headersOf(entry)) {
    const value = mirroredValue(args, mcpHeader.path);
    const header = head.header(mcpHeader.header.toLowerCase());
    if (value === undefined || value === null) {
      if (header !== undefined) return { name: mcpHeader.header, header, value: undefined };
    } else if (header === undefined || !headerValueMatches(mcpHeader.type, header, value)) {
      return { name: mcpHeader.header, header, value };
    }
  }
  return undefined;
}
