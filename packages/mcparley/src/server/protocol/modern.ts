import { ErrorCode } from "../../mcp/errors.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import { type JsonRpcRequest, isObject } from "../../rpc/messages.ts";
import { isImplementation } from "../../mcp/capabilities.ts";
import { readLoggingLevel } from "../../mcp/logging.ts";
import { MetaKey } from "../../mcp/methods.ts";
import { checkProgressToken } from "../../mcp/progress.ts";
import { modernEncoderOf, findRevision, latestLegacy, latestModern } from "../../mcp/revisions/index.ts";
import { replyToError } from "../dispatch/reply.ts";
import type { Link, Reply } from "../core/call.ts";
import { OpenCall } from "../dispatch/open-call.ts";
import type { Principal } from "../core/context.ts";
import type { ServerCore } from "../core/server-core.ts";

/** The source of a request. */
export interface RequestSource {
  /** Sends the messages that precede the response. */
  link: Link;
  principal: Principal | undefined;
  /** The IP address that the request came from, if it is known. */
  address?: string | undefined;
}

/** Whether a request is of a modern revision: it names its revision, or no legacy revision has its method. */
export function isModernRequest({ method, params }: JsonRpcRequest): boolean {
  const meta = params?._meta;
  if (isObject(meta) && MetaKey.protocolVersion in meta) return true;
  return latestModern.clientRequests.has(method) && !latestLegacy.clientRequests.has(method);
}

/**
 * Makes the call of a modern request. It depends on the request alone (2026-07-28, basic, Statelessness). Returns an error
 * reply instead if the metadata of the request is missing or invalid.
 */
export function openCall(core: ServerCore, request: JsonRpcRequest, source: RequestSource): OpenCall | Reply {
  const { id, method, params = {} } = request;
  const { link, principal, address } = source;
  const meta = isObject(params._meta) ? params._meta : {};
  const { [MetaKey.protocolVersion]: version, [MetaKey.clientCapabilities]: capabilities } = meta;
  const { [MetaKey.clientInfo]: clientInfo, [MetaKey.logLevel]: level } = meta;
  try {
    if (typeof version !== "string") throw malformedMeta(MetaKey.protocolVersion, "a string");
    const revision = findRevision(version);
    if (revision?.kind !== "modern" || !core.serves(version)) throw unsupportedVersion(core, version);
    if (!isObject(capabilities)) throw malformedMeta(MetaKey.clientCapabilities, "an object");
    checkProgressToken(params, core.limits.idLength);
    const logLevel = level === undefined ? undefined : readLoggingLevel(level, `params._meta["${MetaKey.logLevel}"]`);
    // The client's name is only displayed, so a request with a malformed one is not rejected.
    const info = isImplementation(clientInfo) ? clientInfo : undefined;
    const peer = { info, capabilities, revision: version, address };
    const encoder = modernEncoderOf(revision);
    const session = undefined;
    return new OpenCall({ core, revision, encoder, id, method, params, peer, principal, link, logLevel, session });
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    core.refused(method, principal, error);
    return replyToError(id, error, latestModern);
  }
}

/** Makes the error that names the versions of the server (2026-07-28, basic/versioning). */
export function unsupportedVersion({ versions }: ServerCore, version: string): ProtocolError {
  const hint = versions.includes(version) ? `For ${version}, send initialize first. ` : "";
  const message = `Unsupported protocol version. ${hint}Supported: ${versions.join(", ")}.`;
  const data = { supported: versions, requested: version.slice(0, 100) };
  return new ProtocolError(ErrorCode.UnsupportedProtocolVersion, message, { data });
}

function malformedMeta(key: string, type: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `params._meta["${key}"] must be ${type}.`, { status: 400 });
}
