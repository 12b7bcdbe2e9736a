import { LocalError } from "../../rpc/errors.ts";
import {
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type RequestId,
  isObject,
} from "../../rpc/messages.ts";
import { encodeHeaderValue } from "../../mcp/headers/header-values.ts";
import { MetaKey, Method } from "../../mcp/methods.ts";
import { METHOD_HEADER, NAME_HEADER, PROTOCOL_VERSION_HEADER } from "../header-names.ts";

/** Maximum bytes of a reply, unless the target or the request has another limit. */
export const defaultReplyLimit = 16_777_216;

/** A posted request, until its response has been read to its end. */
export interface PostedRequest {
  readonly id: RequestId;
  /** The method, for error messages. */
  readonly what: string;
  readonly isModern: boolean;
  readonly isInitialize: boolean;
  /** The POST waits for authorization or for a connection, so the server has not accepted it. */
  isHeld: boolean;
  /** The response has arrived, or is no longer needed. */
  isAnswered: boolean;
  /** The ids of the requests of the server that arrived on the stream of the response. The call waits for their responses. */
  inputIds?: Set<unknown>;
  /** Maximum bytes of a JSON response, and characters of an event that may answer. */
  limit: number;
  /** Aborts the HTTP request and the stream of its response. */
  readonly controller: AbortController;
}

/** Whether `initialize` declares a capability that allows the server to send requests. */
export function answersRequests({ params }: JsonRpcRequest): boolean {
  const { capabilities } = params ?? {};
  return isObject(capabilities) && Object.keys(capabilities).some((name) => /^(elicit|sampl|root)/.test(name));
}

/**
 * Returns a received message. An error without an id gets the id of the request, since it came in the response to it. Servers send such
 * an error for a request that they have not read.
 */
export function withId<T>(message: T, id: RequestId): T | JsonObject {
  return isObject(message) && isObject(message.error) && message.id == null ? { ...message, id } : message;
}

/** Returns the protocol version in the `_meta` of a message. Only modern messages have one. */
export function modernVersionOf(message: JsonRpcMessage): string | undefined {
  const meta = "method" in message ? message.params?._meta : undefined;
  const version = isObject(meta) ? meta[MetaKey.protocolVersion] : undefined;
  return typeof version === "string" ? version : undefined;
}

/**
 * Returns the headers that mirror a modern message (2026-07-28, Streamable HTTP, "Request Metadata").
 *
 * Throws `LocalError` `invalid_message` for a method or version that no header can carry: only names and arguments may
 * be encoded.
 */
export function modernHeaders(message: JsonRpcMessage, version: string): Record<string, string> {
  const headers: Record<string, string> = { [PROTOCOL_VERSION_HEADER]: requirePlain(version) };
  if (!("method" in message)) return headers;
  const { method, params } = message;
  headers[METHOD_HEADER] = requirePlain(method);
  const isNamed = method === Method.callTool || method === Method.getPrompt || method === Method.readResource;
  const name = method === Method.readResource ? params?.uri : params?.name;
  if (isNamed && typeof name === "string") headers[NAME_HEADER] = encodeHeaderValue(name);
  return headers;
}

function requirePlain(value: string): string {
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(value)) return value;
  throw new LocalError(
    "invalid_message",
    `${JSON.stringify(value.slice(0, 100))} cannot be sent in an HTTP header; use printable ASCII.`,
  );
}
