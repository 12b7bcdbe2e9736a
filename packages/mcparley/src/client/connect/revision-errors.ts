import { LocalError, ProtocolError, hasCode, isTransient } from "../../rpc/errors.ts";
import { isObject, isStrings } from "../../rpc/messages.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { findRevision, revisions } from "../../mcp/revisions/index.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { Call } from "../core.ts";
import { NotSupported } from "./handshake.ts";
import type { Session } from "./session.ts";

/*
 * What a failed request shows about the revision of the server (2026-07-28, basic/versioning, Backward Compatibility).
 */

/** Legacy servers answer a request without a session with this code. */
const badRequest = -32_000;
/** Many legacy servers answer a request with an unknown session with this code. */
const noSession = -32_001;

/** Returns the HTTP status of a response that contains no JSON-RPC error. 0 for other errors. */
export function statusOf(error: unknown): number {
  return hasCode(error, "http") && isObject(error.data) ? Number(error.data.status) : 0;
}

/** Whether a server or a proxy with this status may answer a later request. Status 500 can also be a definite answer. */
export function isBusy(status: number): boolean {
  return status !== 500 && isTransient(status);
}

/**
 * Whether a failed request of a handshake was answered, and the answer is possible for a server that does not have the
 * revision of the request.
 */
export function isLegacyAnswer(error: unknown): boolean {
  if (error instanceof ProtocolError) return true;
  if (hasCode(error, "invalid_message")) return true;
  const status = statusOf(error);
  const isRedirect = status >= 300 && status < 400;
  return hasCode(error, "http") && !isBusy(status) && !isRedirect;
}

/** Returns the versions that a modern server names in an error. Undefined if the error may come from a legacy server. */
export function supportedBy(error: unknown): readonly string[] | undefined {
  if (error instanceof NotSupported) return error.versions;
  if (!(error instanceof ProtocolError)) return undefined;
  const versions = isObject(error.data) ? error.data.supported : undefined;
  if (error.code === ErrorCode.UnsupportedProtocolVersion) return isStrings(versions) ? versions : [];
  // Some servers use a general code, as legacy servers do. Then a modern version in the error identifies a modern server.
  const namesModern = isStrings(versions) && versions.some((version) => findRevision(version)?.kind === "modern");
  return namesModern ? versions : undefined;
}

/** Whether the error can only come from a modern server. */
export function isModernError(error: unknown): boolean {
  if (supportedBy(error)) return true;
  if (!(error instanceof ProtocolError)) return false;
  return error.code === ErrorCode.HeaderMismatch || error.code === ErrorCode.MissingRequiredClientCapability;
}

/**
 * Whether a server over HTTP may refuse a legacy request because it has lost the session, without the status that MCP defines for it
 * (2025-11-25, transports, "Session Management").
 */
export function mayBeLostSession(error: unknown): boolean {
  const status = statusOf(error);
  if (status >= 400 && status < 500) return !isTransient(status);
  if (!(error instanceof ProtocolError) || error.code === ErrorCode.MethodNotFound) return false;
  const isGeneral = [ErrorCode.InvalidRequest, badRequest, noSession].includes(error.code);
  return isGeneral || /\bsession|initiali[sz]/i.test(error.message);
}

/** Returns the newest revision among the versions. Throws `unsupported_revision` if there is none. */
export function newestOf(versions: readonly string[]): Revision {
  const newest = revisions.find(({ version }) => versions.includes(version));
  if (newest) return newest;
  throw unsupportedRevision(versions, undefined);
}

/** Makes the error for a server that supports only other versions than the client, or than the pinned one. */
export function unsupportedRevision(
  serverVersions: readonly string[],
  pinnedVersion: string | undefined,
  cause?: unknown,
): LocalError {
  const clientText =
    pinnedVersion === undefined ? revisions.map(({ version }) => version).join(", ") : `${pinnedVersion} (pinned)`;
  const serverText = serverVersions.length === 0 ? "none" : serverVersions.slice(0, 20).join(", ").slice(0, 400);
  const message = `No protocol version in common: the server supports ${serverText}; this client supports ${clientText}.`;
  return new LocalError("unsupported_revision", message, { cause, data: { supported: serverVersions } });
}

/**
 * Whether the error of a call may mean that the server no longer has the session, or its revision: it was restarted, upgraded or
 * rolled back since. All these errors refuse the request, so the server has not run it.
 *
 * `certain` errors can have no other reason. After `possible` ones, `replaceIfChanged` sends a request to find out.
 */
export function doubtOf(
  error: unknown,
  { core, method }: Pick<Call, "core" | "method">,
  { revision }: Session,
): "certain" | "possible" | undefined {
  const { options, transports } = core;
  if (transports.once) return undefined;
  const isPinned = options.revision !== undefined && options.revision !== "auto";
  const isHttp = transports.kind === "http";
  const doubt = isPinned ? undefined : doubtAboutRevision(error, { method, isHttp, revision });
  if (doubt) return doubt;
  return isHttp && revision.kind === "legacy" && mayBeLostSession(error) ? "possible" : undefined;
}

function doubtAboutRevision(
  error: unknown,
  { method, isHttp, revision }: { method: string; isHttp: boolean; revision: Revision },
): "certain" | "possible" | undefined {
  const isModern = revision.kind === "modern";
  if (error instanceof LocalError) return isHttp && [400, 404, 405].includes(statusOf(error)) ? "possible" : undefined;
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
