import { ErrorCode, ToolError } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { LocalError, type LocalErrorCode, ProtocolError } from "../../rpc/errors.ts";
import {
  type JsonObject,
  type JsonRpcErrorBody,
  type Prepared,
  type RequestId,
  failure,
  success,
} from "../../rpc/messages.ts";
import { encodeResult } from "../../mcp/revisions/encoder.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { Call, Reply } from "../core/call.ts";
import { InsufficientScope } from "../core/scopes.ts";

/** Makes the reply of a result, encoded for the call's revision. Returns undefined if the client cancelled the call. */
export function resultReply(call: Call, result: JsonObject | Prepared): Reply | undefined {
  const { id, core } = call;
  core.changes.flush();
  const encodedResult = call.cancelled ? undefined : encodeResult(call, result, core.info);
  call.settle();
  return encodedResult && { message: success(id, encodedResult), status: 200 };
}

/** Makes the reply of an error that was thrown. Returns undefined if the client cancelled the call. */
export function errorReply(call: Call, error: unknown): Reply | undefined {
  const { id, revision } = call;
  // A handler throws because its signal is aborted. This is no failure to report.
  if (call.cancelled) {
    call.settle();
    return undefined;
  }
  // Thrown by middleware: the model can read it, as one of the handler.
  if (error instanceof ToolError && call.method === Method.callTool)
    return resultReply(call, { content: [{ type: "text", text: error.message }], isError: true });
  const protocolError = toProtocolError(error, call);
  const reply = replyToError(id, protocolError, revision);
  call.settle();
  if (isReserved(protocolError.code, revision)) {
    const why = `${revision.version} reserves the error code ${protocolError.code}, so ${ErrorCode.InvalidRequest} was sent.`;
    call.core.report(new TypeError(`${why} Use a code outside of -32768 to -32000.`, { cause: protocolError }), call);
  }
  return reply;
}

/** Makes the reply of a protocol error, with the error codes that the revision defines. */
export function replyToError(id: RequestId | undefined, error: ProtocolError, revision: Revision | undefined): Reply {
  const body = error.toBody();
  if (revision) body.code = codeFor(error.code, revision);
  const reply: Reply = { message: failure(id, body), status: error.status ?? statusOf(body, revision) };
  if (error instanceof InsufficientScope) reply.scopes = error.scopes;
  return reply;
}

/** The errors of the library whose message the client receives. */
const forPeer: ReadonlySet<LocalErrorCode> = new Set(["not_capable", "declined", "cancelled"]);

/** Returns the error to send. Errors that are not meant for the client are reported and become "Internal error". */
export function toProtocolError(error: unknown, call: Call): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const isForPeer = error instanceof LocalError && forPeer.has(error.code);
  if (error instanceof ToolError || isForPeer) return new ProtocolError(ErrorCode.InvalidRequest, error.message);
  call.core.report(error, call);
  if (error instanceof LocalError && error.code === "store_unavailable") {
    // The call may have taken effect before the store failed. Only the client can decide whether to repeat it.
    const message = "The server's store is unavailable. Retry only if the call is safe to repeat.";
    return new ProtocolError(ErrorCode.InternalError, message, { data: { retryAfter: 1 }, status: 503 });
  }
  return new ProtocolError(ErrorCode.InternalError, "Internal error");
}

/** Replaces a code that must not be sent to a peer of the revision. */
function codeFor(code: number, revision: Revision): number {
  if (code === ErrorCode.ResourceNotFound) return revision.resourceNotFoundCode;
  // This library makes the second error, which only modern revisions define.
  const isMeaningless = code === ErrorCode.MissingRequiredClientCapability && !revision.reservesCodes;
  return isMeaningless || isReserved(code, revision) ? ErrorCode.InvalidRequest : code;
}

/** Whether the revision reserves a code that it does not define (2026-07-28, basic, Error Codes). */
function isReserved(code: number, { reservesCodes, errorCodes }: Revision): boolean {
  return reservesCodes && code <= -32020 && code >= -32099 && !errorCodes.has(code);
}

/**
 * Returns the HTTP status of an error without a status of its own (2026-07-28, basic/transports/streamable-http).
 *
 * In a session every error has status 200: 404 would mean that the session has ended.
 */
function statusOf({ code }: JsonRpcErrorBody, revision: Revision | undefined): number {
  if (revision?.kind === "legacy") return 200;
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
