import { type JsonRpcErrorBody, isObject } from "./messages.ts";

/** The JSON-RPC and MCP error codes that this library sends or understands. */
export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  /** Resource not found, up to 2025-11-25; later revisions say InvalidParams. */
  ResourceNotFound: -32002,
  /** 2025-11-25 only: the call needs the user to visit URLs first. */
  UrlElicitationRequired: -32042,
  HeaderMismatch: -32020,
  MissingRequiredClientCapability: -32021,
  UnsupportedProtocolVersion: -32022,
} as const;

/** What every error of this library is: `code` tells which, and is stable across releases. */
export abstract class McpError extends Error {
  abstract readonly code: number | string;
}

export interface ProtocolErrorOptions {
  /** Sent to the peer as it is: it must hold nothing that the peer may not know. */
  data?: unknown;
  cause?: unknown;
  /** The HTTP status of the answer, where it is not the one that the code implies. */
  status?: number;
}

/**
 * An error that crosses the wire as a JSON-RPC error: one that the peer sent, or one to be sent to it.
 *
 * Throw it in a handler to answer with exactly this code, message and data.
 */
export class ProtocolError extends McpError {
  override readonly name: string = "ProtocolError";
  readonly code: number;
  readonly data: unknown;
  readonly status: number | undefined;

  constructor(code: number, message: string, options: ProtocolErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data;
    this.status = options.status;
  }

  toBody(): JsonRpcErrorBody {
    const body: JsonRpcErrorBody = { code: this.code, message: this.message };
    if (this.data !== undefined) body.data = this.data;
    return body;
  }

  static from(body: JsonRpcErrorBody): ProtocolError {
    return new ProtocolError(body.code, body.message, { data: body.data });
  }
}

/**
 * Why something failed on this side of the wire.
 *
 * - `timeout`: no answer, and no progress, within the limit
 * - `aborted`: the caller's signal ended the call
 * - `closed`: the connection was closed while the call was in flight, or before it
 * - `exited`: the server's process ended; the message holds its exit code and the end of its stderr
 * - `unreachable`: no connection could be made
 * - `address_unavailable`: a server cannot listen where it was told to
 * - `unauthorized`: the server asks for a sign-in (HTTP 401) or more scopes (403)
 * - `sign_in_required`: a person has to sign in, and nobody can here; `data.url` is where, once that is known
 * - `sign_in_failed`: a person was to sign in and did not, or what they came back with cannot be trusted
 * - `authorization_failed`: the authorization server cannot be found or used, or it refuses; `data.error` is its code
 * - `unsupported_revision`: no protocol revision in common
 * - `not_capable`: the peer has not declared the capability that this needs
 * - `invalid_message`: the peer sent what is not JSON-RPC or not what MCP says
 * - `invalid_result`: a result does not match its schema
 * - `too_large`: a message, line, event or list is over its limit
 * - `http`: an HTTP status that is none of the above
 * - `store_unavailable`: the store is out of reach; what was asked of it may or may not have been done
 * - `session_lost`: the server forgot the session and it could not be opened again
 * - `declined`, `cancelled`: the person asked said no, or did not answer
 * - `unusable_storage`: credentials cannot be kept where they are to be: others may use it, or the key is another one
 * - `invalid_target`: what to connect to cannot be understood
 * - `forbidden_url`: a server refers to a URL that is not safe to send anything to
 * - `invalid_definition`: a tool, prompt, resource or server is defined wrongly
 */
export type LocalErrorCode =
  | "timeout"
  | "aborted"
  | "closed"
  | "exited"
  | "unreachable"
  | "address_unavailable"
  | "unauthorized"
  | "sign_in_required"
  | "sign_in_failed"
  | "authorization_failed"
  | "unsupported_revision"
  | "not_capable"
  | "invalid_message"
  | "invalid_result"
  | "too_large"
  | "http"
  | "store_unavailable"
  | "session_lost"
  | "declined"
  | "cancelled"
  | "unusable_storage"
  | "invalid_target"
  | "forbidden_url"
  | "invalid_definition";

/** An error that happened here and was never a JSON-RPC error on the wire. */
export class LocalError extends McpError {
  override readonly name: string = "LocalError";
  readonly code: LocalErrorCode;
  readonly data: unknown;

  constructor(code: LocalErrorCode, message: string, options: { cause?: unknown; data?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data;
  }
}

/**
 * A failure that a tool wants the model to read: it becomes a result with `isError: true`.
 *
 * Its message is the only text of a handler's error that reaches the peer.
 */
export class ToolError extends McpError {
  override readonly name: string = "ToolError";
  readonly code = "tool_error";
  /** On a client: the whole result that the tool gave. */
  readonly result: object | undefined;

  constructor(message: string, options: { cause?: unknown; result?: object } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.result = options.result;
  }
}

/** The person who was asked said no. */
export class Declined extends LocalError {
  override readonly name: string = "Declined";

  constructor(message = "The user declined the request.") {
    super("declined", message);
  }
}

/** The person who was asked dismissed the question without an answer. */
export class Cancelled extends LocalError {
  override readonly name: string = "Cancelled";

  constructor(message = "The user dismissed the request without an answer.") {
    super("cancelled", message);
  }
}

/** The error for params that the specification's schema forbids; `where` is a path such as `params.name`. */
export function invalidParams(message: string, data?: unknown): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message, { data });
}

/** Whether the error says that a resource does not exist, in the words of any revision. */
export function isResourceNotFound(error: unknown): boolean {
  if (!(error instanceof ProtocolError)) return false;
  if (error.code === ErrorCode.ResourceNotFound) return true;
  return error.code === ErrorCode.InvalidParams && isObject(error.data) && typeof error.data.uri === "string";
}
