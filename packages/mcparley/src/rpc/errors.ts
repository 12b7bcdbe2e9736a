import type { JsonRpcErrorBody } from "./messages.ts";

/** The error codes of JSON-RPC 2.0. */
export const RpcErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
} as const;

/** The base class of all errors of this library. `code` identifies the error, and is stable across releases. */
export abstract class RpcError extends Error {
  abstract readonly code: number | string;
}

interface ProtocolErrorOptions {
  /** Sent to the peer unchanged, so it must not contain secrets. Default: none. */
  data?: unknown;
  /** The error that caused this one. Not sent to the peer. */
  cause?: unknown;
  /** The HTTP status of the response. Default: the status that belongs to the code. */
  status?: number;
}

/**
 * An error that is sent as a JSON-RPC error: one that the peer sent, or one to send to it.
 *
 * Throw it in a handler to answer with exactly this code, message and data. For an error that the model should read, throw
 * `ToolError` instead.
 *
 * @example
 * ```ts
 * import { ErrorCode, ProtocolError } from "mcparley";
 * import { resource } from "mcparley/server";
 *
 * const note = resource("note://{id}", {
 *   read: ({ id }) => {
 *     if (!/^\d+$/.test(id)) throw new ProtocolError(ErrorCode.InvalidParams, "The id of a note is a number.");
 *     return `Note ${id}`;
 *   },
 * });
 * ```
 */
export class ProtocolError extends RpcError {
  override readonly name: string = "ProtocolError";
  /** The JSON-RPC error code, such as -32602. */
  readonly code: number;
  /** The `data` of the error, as the peer sent it or as it will be sent. */
  readonly data: unknown;
  /** The HTTP status of the response, if it is not the default for the code. */
  readonly status: number | undefined;

  constructor(code: number, message: string, options: ProtocolErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data;
    this.status = options.status;
  }

  /** Returns the `error` member of a JSON-RPC response. */
  toBody(): JsonRpcErrorBody {
    const body: JsonRpcErrorBody = { code: this.code, message: this.message };
    if (this.data !== undefined) body.data = this.data;
    return body;
  }

  /** Makes an error of the `error` member of a JSON-RPC response. */
  static from(body: JsonRpcErrorBody): ProtocolError {
    return new ProtocolError(body.code, body.message, { data: body.data });
  }
}

/**
 * The reason of a failure on this side of the connection.
 *
 * - `timeout`: no response, and no progress, within the time limit
 * - `aborted`: the caller's signal ended the call
 * - `closed`: the connection was closed or lost before or during the call; the server may have received it
 * - `exited`: the process of the server or of a worker ended; the message contains its exit code, and the end of the stderr of a
 *   server that this client started
 * - `unreachable`: no connection could be made, so the server has certainly not received the request
 * - `address_unavailable`: a server cannot listen on the configured address
 * - `unauthorized`: the server requires a token, a key or a sign-in (HTTP 401) or more scopes (403)
 * - `sign_in_required`: a user must sign in, and cannot do so here
 * - `sign_in_failed`: the user did not sign in, or the redirect back cannot be trusted
 * - `authorization_failed`: the authorization server was not found, cannot be used, or refused; `data.error` is its code
 * - `unsupported_revision`: the two sides have no protocol revision in common
 * - `not_capable`: the peer has not declared a required capability
 * - `invalid_message`: the peer sent a message that is not JSON-RPC or violates the protocol, or a message of this side
 *   cannot be sent, because JSON or a header cannot carry a value
 * - `invalid_result`: a result does not match its schema
 * - `too_large`: a message, line, event or list exceeds its limit
 * - `http`: an HTTP status without a specific code in this list
 * - `store_unavailable`: the store is unavailable; the operation was either done or not
 * - `session_lost`: the session has expired on the server and could not be opened again
 * - `declined`, `cancelled`: the user declined, or did not answer
 * - `unusable_storage`: credentials cannot be stored there: other users have access, or the key is a different one
 * - `invalid_target`: the target of a connection cannot be read
 * - `forbidden_url`: a server refers to a URL to which it is not safe to send requests
 * - `invalid_definition`: a tool, prompt, resource or server is defined incorrectly
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

/**
 * An error on this side of the connection, such as a timeout. It is never sent as a JSON-RPC error.
 *
 * @example
 * ```ts
 * import { LocalError } from "mcparley";
 * import { connect } from "mcparley/client";
 *
 * try {
 *   await connect("https://notes.example.com/mcp");
 * } catch (error) {
 *   if (!(error instanceof LocalError && error.code === "unreachable")) throw error;
 *   console.error(`The server is not running. ${error.message}`);
 * }
 * ```
 */
export class LocalError extends RpcError {
  override readonly name: string = "LocalError";
  /** The reason of the failure. Compare this and not the message. */
  readonly code: LocalErrorCode;
  /** Details of some codes, such as `url` of `sign_in_required`. Otherwise undefined. */
  readonly data: unknown;

  constructor(code: LocalErrorCode, message: string, options: { cause?: unknown; data?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data;
  }
}

/** Returns whether an error is a `LocalError` with one of the codes. */
export function hasCode(error: unknown, ...codes: readonly LocalErrorCode[]): error is LocalError {
  return error instanceof LocalError && codes.includes(error.code);
}

/** Returns whether an HTTP status is temporary: 408, 429 or 5xx. */
export function isTransient(status: unknown): boolean {
  return typeof status === "number" && (status === 408 || status === 429 || status >= 500);
}

/** Returns the error for params that violate their schema. The message starts with a path such as `params.name`. */
export function invalidParams(message: string, data?: unknown): ProtocolError {
  return new ProtocolError(RpcErrorCode.InvalidParams, message, { data });
}
