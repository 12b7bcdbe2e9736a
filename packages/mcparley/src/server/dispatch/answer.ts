import { type Awaitable, after, recover } from "../../rpc/awaitable.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode, type McpError, ToolError } from "../../mcp/errors.ts";
import {
  type JsonObject,
  type JsonRpcErrorBody,
  type JsonRpcResponse,
  type Prepared,
  type RequestId,
  failure,
  success,
} from "../../rpc/messages.ts";
import { encodeResult } from "../../mcp/revisions/encoder.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { Call } from "./call.ts";

/** An answer and the HTTP status that goes with it, where it travels by HTTP. */
export interface Reply {
  message: JsonRpcResponse;
  status: number;
  /** The scopes that the caller lacks, where that is why it is refused. */
  scopes?: readonly string[];
}

/** Answers a call. Undefined where the client gave it up: then nothing may be sent about it. */
export function answer(call: Call): Awaitable<Reply | undefined> {
  return recover(
    () => after(call.core.dispatch(call), (result) => replyWith(call, result)),
    (error) => replyToThrown(call, error),
  );
}

function replyWith(call: Call, result: JsonObject | Prepared): Reply | undefined {
  const { id, core, cancelled } = call;
  core.changes.flush();
  const encoded = cancelled ? undefined : encodeResult(call, result, core.info);
  call.settle();
  return encoded && { message: success(id, encoded), status: 200 };
}

function replyToThrown(call: Call, error: unknown): Reply | undefined {
  const { id, cancelled, revision } = call;
  const reply = cancelled ? undefined : replyToError(id, toProtocolError(error, call), revision);
  call.settle();
  return reply;
}

/** The reply that says an error, in the codes of a revision. */
export function replyToError(id: RequestId | undefined, error: ProtocolError, revision: Revision | undefined): Reply {
  const body = error.toBody();
  if (revision) body.code = codeFor(error.code, revision);
  const reply: Reply = { message: failure(id, body), status: error.status ?? statusOf(body, revision) };
  if ("scopes" in error) reply.scopes = error.scopes as readonly string[];
  return reply;
}

/** Hides what the peer must not see: all errors but those made to be sent become "Internal error", and are reported. */
export function toProtocolError(error: unknown, call: Call): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const isForPeer =
    error instanceof ToolError ||
    (error instanceof LocalError &&
      (error.code === "not_capable" || error.code === "declined" || error.code === "cancelled"));
  if (isForPeer) return new ProtocolError(ErrorCode.InvalidRequest, (error as McpError).message);
  call.core.report(error, call);
  if (error instanceof LocalError && error.code === "store_unavailable") return unreachable();
  return new ProtocolError(ErrorCode.InternalError, "Internal error");
}

/** Whether what failed was done is not known, so it is not for this side to say that it may be done again. */
function unreachable(): ProtocolError {
  const message =
    "A store that this needs is out of reach. Try again later, where what may have been done can be done twice.";
  return new ProtocolError(ErrorCode.InternalError, message, { data: { retryAfter: 1 }, status: 503 });
}

/** A code that the revision does not define is said in one that it does. */
function codeFor(code: number, revision: Revision): number {
  if (code === ErrorCode.ResourceNotFound) return revision.resourceNotFoundCode;
  const isReserved = code <= -32020 && code >= -32099;
  return isReserved && !revision.errorCodes.has(code) ? ErrorCode.InvalidRequest : code;
}

/**
 * The HTTP status of an error that does not bring its own (2026-07-28, basic/transports/streamable-http).
 *
 * In a session an error is an answer like any other, and 404 would say that the session is gone.
 */
function statusOf({ code }: JsonRpcErrorBody, revision: Revision | undefined): number {
  if (revision?.era === "legacy") return 200;
  switch (code) {
    case ErrorCode.MethodNotFound:
      return 404;
    case ErrorCode.ParseError:
    case ErrorCode.InvalidRequest:
    case ErrorCode.HeaderMismatch:
    case ErrorCode.MissingRequiredClientCapability:
    case ErrorCode.UnsupportedProtocolVersion:
      return 400;
    default:
      return 200;
  }
}
