import { ErrorCode } from "../../mcp/errors.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, type JsonRpcRequest, isObject } from "../../rpc/messages.ts";
import type { ClientCapabilities, Implementation } from "../../mcp/capabilities.ts";
import { readLoggingLevel } from "../../mcp/logging.ts";
import { MetaKey } from "../../mcp/methods.ts";
import { checkProgressToken } from "../../mcp/progress.ts";
import { modernEncoderOf, findRevision, latestLegacy, latestModern } from "../../mcp/revisions/index.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import { type Reply, replyToError } from "../dispatch/reply.ts";
import { Call, type Link } from "../dispatch/call.ts";
import type { Principal } from "../dispatch/context.ts";
import type { ServerCore } from "../core.ts";

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
export function openCall(core: ServerCore, request: JsonRpcRequest, source: RequestSource): Call | Reply {
  try {
    return readCall(core, request, source);
  } catch (error) {
    core.refused(request.method, source.principal, error as ProtocolError);
    return replyToError(request.id, error as ProtocolError, latestModern);
  }
}

function readCall(core: ServerCore, request: JsonRpcRequest, { link, principal, address }: RequestSource): Call {
  const { id, method, params = {} } = request;
  const meta = isObject(params._meta) ? params._meta : {};
  const revision = readRevision(core, meta);
  const encoder = modernEncoderOf(revision);
  const capabilities = meta[MetaKey.clientCapabilities];
  if (!isObject(capabilities)) throw malformed(MetaKey.clientCapabilities, "an object");
  checkProgressToken(params, core.limits.idLength);
  const level = meta[MetaKey.logLevel];
  const logLevel = level === undefined ? undefined : readLoggingLevel(level, `params._meta["${MetaKey.logLevel}"]`);
  const peer = {
    info: readClientInfo(meta),
    capabilities: capabilities as ClientCapabilities,
    revision: revision.version,
    address,
  };
  const session = undefined;
  return new Call({ core, revision, encoder, id, method, params, peer, principal, link, logLevel, session });
}

function readRevision(core: ServerCore, meta: JsonObject): Revision {
  const requested = meta[MetaKey.protocolVersion];
  if (typeof requested !== "string") throw malformed(MetaKey.protocolVersion, "a string");
  const revision = findRevision(requested);
  if (revision?.kind === "modern" && core.serves(requested)) return revision;
  throw unsupportedVersion(core, requested);
}

/** Makes the error that names the versions of the server (2026-07-28, basic/versioning). */
export function unsupportedVersion({ versions }: ServerCore, requested: string): ProtocolError {
  const hint = versions.includes(requested) ? `${requested} opens with initialize. ` : "";
  const message = `Unsupported protocol version. ${hint}Supported: ${versions.join(", ")}.`;
  const data = { supported: versions, requested: requested.slice(0, 100) };
  return new ProtocolError(ErrorCode.UnsupportedProtocolVersion, message, { data });
}

/** Reads the client's name. It is only displayed, so a malformed one does not refuse the request. */
function readClientInfo(meta: JsonObject): Implementation | undefined {
  const info = meta[MetaKey.clientInfo];
  const readable = isObject(info) && typeof info.name === "string" && typeof info.version === "string";
  return readable ? (info as unknown as Implementation) : undefined;
}

function malformed(key: string, type: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `params._meta["${key}"] must be ${type}.`, { status: 400 });
}
