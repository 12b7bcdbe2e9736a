import { canElicit } from "../../mcp/capabilities.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, isFailure, isObject } from "../../rpc/messages.ts";
import type { Awaitable } from "../../rpc/awaitable.ts";
import { type Reply, replyToError } from "../dispatch/reply.ts";
import { findWrongVisit } from "../input/url-required.ts";
import type { Session } from "./session.ts";

/**
 * Checks a reply with the error -32042 before it is sent, and notes its visits (2025-11-25, client/elicitation, URL
 * Elicitation Required Error). Replaces it by another error if its list of visits is invalid, or if the client cannot send
 * its user to a URL. Returns all other replies unchanged.
 */
export function checkVisits(session: Session, reply: Reply | undefined): Awaitable<Reply | undefined> {
  if (!reply || !isFailure(reply.message)) return reply;
  const { id, error } = reply.message;
  if (error.code !== ErrorCode.UrlElicitationRequired) return reply;
  const { core, revision, peer } = session;
  const visits: unknown = isObject(error.data) ? error.data.elicitations : undefined;
  const wrong = findWrongVisit(visits);
  if (wrong !== undefined) {
    core.report(new LocalError("invalid_result", `The error -32042 of a handler was not sent: ${wrong}.`), undefined);
    return replyToError(id, new ProtocolError(ErrorCode.InternalError, "Internal error"), revision);
  }
  if (!canElicit(peer.capabilities, "url")) {
    const message = `${error.message} It needs the client capability elicitation.url, which the client has not declared.`;
    return replyToError(id, new ProtocolError(ErrorCode.InvalidRequest, message), revision);
  }
  const ids = (visits as JsonObject[]).map(({ elicitationId }) => String(elicitationId));
  return Promise.all(ids.map((one) => session.visiting(one))).then(() => reply);
}
