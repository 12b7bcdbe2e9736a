import { canElicit } from "../../mcp/capabilities.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { Notification } from "../../mcp/methods.ts";
import type { Awaitable } from "../../rpc/awaitable.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, isFailure, isObject } from "../../rpc/messages.ts";
import type { ServerCore } from "../core/server-core.ts";
import type { Reply } from "../core/call.ts";
import { replyToError } from "../dispatch/reply.ts";
import { findWrongVisit } from "../input/url-required.ts";
import type { Session } from "./session.ts";

/** Maximum number of visits of one session that are not complete. One more displaces the oldest. */
const maxPerSession = 100;

/** The URLs that clients were asked to visit (2025-11-25, client/elicitation), by the ids of the visits. */
class UrlVisits {
  readonly #sessions = new Map<string, Session>();

  /** Records that the client of a session was asked for a visit. If two sessions use the same id, the later one replaces the earlier. */
  add(id: string, session: Session): void {
    this.take(id);
    session.visits ??= new Set();
    const [oldest] = session.visits;
    if (session.visits.size >= maxPerSession && oldest !== undefined) this.take(oldest);
    session.visits.add(id);
    this.#sessions.set(id, session);
  }

  /** Removes a visit. Returns its session. */
  take(id: string): Session | undefined {
    const session = this.#sessions.get(id);
    session?.visits?.delete(id);
    this.#sessions.delete(id);
    return session;
  }
}

const visits = new WeakMap<ServerCore, UrlVisits>();

/** Returns the visits that the clients of this process were asked for. */
export function visitsOf(core: ServerCore): UrlVisits {
  const visitsOfServer = visits.get(core) ?? new UrlVisits();
  visits.set(core, visitsOfServer);
  return visitsOfServer;
}

/** Notifies the client that was asked for a visit that the visit is complete. Returns false if there is no such client. */
export async function completeVisit(core: ServerCore, elicitationId: string): Promise<boolean> {
  const params = { elicitationId };
  const session = visitsOf(core).take(elicitationId);
  if (session) return session.send(Notification.elicitationComplete, params);
  return (await core.changes.relay?.completeVisit?.(elicitationId)) ?? false;
}

/**
 * Checks a reply with the error -32042 before it is sent, and records its visits (2025-11-25, client/elicitation, URL
 * Elicitation Required Error). Replaces it with another error if its list of visits is invalid, or if the client cannot send
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
