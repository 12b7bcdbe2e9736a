import { LocalError, ProtocolError, RpcError, RpcErrorCode } from "../rpc/errors.ts";
import { isObject } from "../rpc/messages.ts";

/** The base class of all errors of this library. `code` identifies the error, and is stable across releases. */
export { RpcError as McpError };

const McpErrorCode = {
  /** Up to 2025-11-25: the resource does not exist. Later revisions use `InvalidParams`. */
  ResourceNotFound: -32002,
  /** 2025-11-25 only: the user must visit URLs before the call can continue. */
  UrlElicitationRequired: -32042,
  HeaderMismatch: -32020,
  MissingRequiredClientCapability: -32021,
  UnsupportedProtocolVersion: -32022,
} as const;

/** The error codes of JSON-RPC and MCP that this library sends or understands. */
export const ErrorCode: typeof RpcErrorCode & typeof McpErrorCode = { ...RpcErrorCode, ...McpErrorCode };

/**
 * A failure of a tool that the model should read. The call returns a result with `isError: true` and the message as text.
 *
 * Messages of other errors of a handler are not sent to the client, because they may contain secrets. On a client, calls
 * reject with this error if the result of the tool has `isError: true`.
 *
 * @example
 * ```ts
 * import { ToolError, tool } from "mcparley/server";
 *
 * const book = tool({
 *   description: "Books a table.",
 *   call: () => {
 *     throw new ToolError("No table is free today. Try tomorrow.");
 *   },
 * });
 * ```
 */
export class ToolError extends RpcError {
  override readonly name: string = "ToolError";
  /** Always `tool_error`. */
  readonly code = "tool_error";
  /** On a client: the complete result of the tool. */
  readonly result: object | undefined;

  constructor(message: string, options: { cause?: unknown; result?: object } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.result = options.result;
  }
}

/**
 * The user declined an elicitation or another input request. Handlers of a client throw it, and `ctx.elicit` throws it on a
 * server.
 *
 * @example
 * ```ts
 * import { Declined, tool } from "mcparley/server";
 *
 * const signIn = tool({
 *   description: "Signs the user in.",
 *   call: async (_, ctx) => {
 *     try {
 *       await ctx.elicit({ message: "Sign in to continue.", url: "https://notes.example.com/sign-in" });
 *     } catch (error) {
 *       if (error instanceof Declined) return "The user continues without an account.";
 *       throw error;
 *     }
 *     return "The user has opened the sign-in page.";
 *   },
 * });
 * ```
 */
export class Declined extends LocalError {
  override readonly name: string = "Declined";

  constructor(message = "The user declined the request.") {
    super("declined", message);
  }
}

/** The user dismissed an elicitation or another input request without an answer. Used like `Declined`. */
export class Cancelled extends LocalError {
  override readonly name: string = "Cancelled";

  constructor(message = "The user dismissed the request without an answer.") {
    super("cancelled", message);
  }
}

/**
 * Returns whether the error of `readResource` means that the resource does not exist.
 *
 * Revisions up to 2025-11-25 have the code -32002 for this. Later ones have -32602 with the `uri` in `data`.
 *
 * @example
 * ```ts
 * import { isResourceNotFound } from "mcparley";
 * import { connect } from "mcparley/client";
 *
 * const client = await connect("https://notes.example.com/mcp");
 * const note = await client.readResource("note://42").catch((error: unknown) => {
 *   if (isResourceNotFound(error)) return undefined;
 *   throw error;
 * });
 * ```
 */
export function isResourceNotFound(error: unknown): boolean {
  if (!(error instanceof ProtocolError)) return false;
  if (error.code === ErrorCode.ResourceNotFound) return true;
  return error.code === ErrorCode.InvalidParams && isObject(error.data) && typeof error.data.uri === "string";
}
