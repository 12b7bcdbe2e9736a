import { LocalError } from "../../rpc/errors.ts";
import { type JsonRpcMessage, isObject } from "../../rpc/messages.ts";
import { MetaKey } from "../../mcp/methods.ts";
import { Method } from "../../mcp/methods.ts";
import { encodeHeaderValue } from "../../mcp/header-values.ts";
import { METHOD_HEADER, NAME_HEADER, PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from "../header-names.ts";

/** The version that a message names, which only those of modern revisions do. */
export function modernVersionOf(message: JsonRpcMessage): string | undefined {
  const meta = "method" in message ? message.params?._meta : undefined;
  const version = isObject(meta) ? meta[MetaKey.protocolVersion] : undefined;
  return typeof version === "string" ? version : undefined;
}

/**
 * The headers that mirror a modern message (2026-07-28, Streamable HTTP, "Request Metadata").
 *
 * Throws `LocalError` `invalid_message` for a method or version that no header can carry, since only names and
 * arguments may be encoded.
 */
export function mirroredHeaders(message: JsonRpcMessage, version: string): Record<string, string> {
  const headers: Record<string, string> = { [PROTOCOL_VERSION_HEADER]: plain(version) };
  if (!("method" in message)) return headers;
  headers[METHOD_HEADER] = plain(message.method);
  const name = nameIn(message);
  if (name !== undefined) headers[NAME_HEADER] = encodeHeaderValue(name);
  return headers;
}

/** What a legacy session is known by on the wire. */
export interface LegacyHeaders {
  sessionId: string | undefined;
  /** The version that was agreed, where its revision names it in a header. */
  version: string | undefined;
}

export function legacyHeaders({ sessionId, version }: LegacyHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  if (sessionId !== undefined) headers[SESSION_ID_HEADER] = sessionId;
  if (version !== undefined) headers[PROTOCOL_VERSION_HEADER] = version;
  return headers;
}

function nameIn({ method, params }: { method: string; params?: Record<string, unknown> }): string | undefined {
  const name = method === Method.readResource ? params?.uri : params?.name;
  const isNamed = method === Method.callTool || method === Method.getPrompt || method === Method.readResource;
  return isNamed && typeof name === "string" ? name : undefined;
}

function plain(value: string): string {
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(value)) return value;
  throw new LocalError(
    "invalid_message",
    `${JSON.stringify(value.slice(0, 100))} cannot be sent in an HTTP header; use printable ASCII.`,
  );
}
