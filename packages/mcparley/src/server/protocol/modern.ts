import type { Awaitable } from "../../rpc/awaitable.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { MetaKey } from "../../mcp/methods.ts";
import { type JsonObject, type JsonRpcRequest, isObject } from "../../rpc/messages.ts";
import type { ClientCapabilities, Implementation } from "../../mcp/capabilities.ts";
import { readLoggingLevel } from "../../mcp/logging.ts";
import { checkProgressToken } from "../../mcp/progress.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import {
  findRevision,
  latestLegacy,
  latestModern,
  modernEncoderOf,
  supportedVersions,
} from "../../mcp/revisions/index.ts";
import { type Reply, answer, replyToError } from "../dispatch/answer.ts";
import { Call, type Link } from "../dispatch/call.ts";
import type { Principal } from "../dispatch/context.ts";
import type { ServerCore } from "../dispatch/core.ts";

/** Where a request came from, for as long as it is answered. */
export interface Origin {
  /** The way back for what is said before the answer. */
  link: Link;
  principal: Principal | undefined;
  /** The IP address that the request came from, if it is known. */
  address?: string | undefined;
  /** Given the call once it exists, so that it can be cancelled. */
  opened?(call: Call): void;
}

/** Whether a request is to be answered by itself: it names its revision, or its method exists in no legacy one. */
export function isModernRequest({ method, params }: JsonRpcRequest): boolean {
  const meta = params?._meta;
  if (isObject(meta) && MetaKey.protocolVersion in meta) return true;
  return latestModern.clientRequests.has(method) && !latestLegacy.clientRequests.has(method);
}

/**
 * Answers a request of a modern revision from what it carries, and from nothing else (2026-07-28, basic, Statelessness).
 */
export function answerModern(core: ServerCore, request: JsonRpcRequest, origin: Origin): Awaitable<Reply | undefined> {
  let call: Call;
  try {
    call = openCall(core, request, origin);
  } catch (error) {
    core.refused(request.method, origin.principal, error as ProtocolError);
    return replyToError(request.id, error as ProtocolError, latestModern);
  }
  origin.opened?.(call);
  return answer(call);
}

function openCall(core: ServerCore, request: JsonRpcRequest, { link, principal, address }: Origin): Call {
  const { id, method, params = {} } = request;
  const meta = isObject(params._meta) ? params._meta : {};
  const revision = readRevision(meta);
  const capabilities = meta[MetaKey.clientCapabilities];
  if (!isObject(capabilities)) throw malformed(MetaKey.clientCapabilities, "an object");
  checkProgressToken(params, core.limits.idLength);
  const level = meta[MetaKey.logLevel];
  const peer = {
    info: readClientInfo(meta),
    capabilities: capabilities as ClientCapabilities,
    revision: revision.version,
    address,
  };
  const logLevel = level === undefined ? undefined : readLoggingLevel(level, `params._meta["${MetaKey.logLevel}"]`);
  return new Call({
    core,
    revision,
    encoder: modernEncoderOf(revision),
    id,
    method,
    params,
    peer,
    principal,
    link,
    logLevel,
    session: undefined,
  });
}

function readRevision(meta: JsonObject): Revision {
  const requested = meta[MetaKey.protocolVersion];
  if (typeof requested !== "string") throw malformed(MetaKey.protocolVersion, "a string");
  const revision = findRevision(requested);
  if (revision?.era === "modern") return revision;
  throw unsupportedVersion(requested);
}

export function unsupportedVersion(requested: string): ProtocolError {
  const data = { supported: supportedVersions, requested: requested.slice(0, 100) };
  const hint = findRevision(requested) ? `${requested} opens with initialize. ` : "";
  const message = `Unsupported protocol version. ${hint}Supported: ${supportedVersions.join(", ")}.`;
  return new ProtocolError(ErrorCode.UnsupportedProtocolVersion, message, { data });
}

/** A name is for display alone, so one that is malformed is no reason to refuse a request. */
function readClientInfo(meta: JsonObject): Implementation | undefined {
  const info = meta[MetaKey.clientInfo];
  const readable = isObject(info) && typeof info.name === "string" && typeof info.version === "string";
  return readable ? (info as unknown as Implementation) : undefined;
}

function malformed(key: string, type: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `params._meta["${key}"] must be ${type}.`, { status: 400 });
}
