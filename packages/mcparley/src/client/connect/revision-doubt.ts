import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { isObject } from "../../rpc/messages.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import type { Call } from "../calls/call.ts";
import type { Session } from "./session.ts";

/** Legacy servers answer a request without a session with this code. */
const badRequest = -32_000;

/**
 * Whether the error of a call may mean that the server no longer has the revision of the session: it was upgraded or rolled
 * back since. All these errors refuse the request, so the server has not run it.
 *
 * `certain` errors can have no other reason. After the others the server must be asked.
 */
export function doubtOf(
  error: unknown,
  { core, method }: Pick<Call, "core" | "method">,
  session: Session,
): "certain" | "possible" | undefined {
  const { options, transports } = core;
  const { revision } = session;
  const isPinned = options.revision !== undefined && options.revision !== "auto";
  if (isPinned || transports.once) return undefined;
  const isModern = revision.kind === "modern";
  const isHttp = transports.kind === "http";
  if (error instanceof LocalError) return isHttp && isRefusal(error) ? "possible" : undefined;
  if (!(error instanceof ProtocolError)) return undefined;
  switch (error.code) {
    case ErrorCode.UnsupportedProtocolVersion:
      return "certain";
    case ErrorCode.HeaderMismatch:
    case ErrorCode.MissingRequiredClientCapability:
      return isModern ? undefined : "certain";
    case ErrorCode.MethodNotFound:
      return (isModern || isHttp) && revision.clientRequests.has(method) ? "possible" : undefined;
    case ErrorCode.InvalidRequest:
      return isModern || isHttp ? "possible" : undefined;
    case badRequest:
      return isModern && isHttp ? "possible" : undefined;
    default:
      return undefined;
  }
}

function isRefusal({ code, data }: LocalError): boolean {
  return code === "http" && isObject(data) && (data.status === 400 || data.status === 404 || data.status === 405);
}
