import { type Awaitable, after } from "../../../rpc/awaitable.ts";
import type { JsonRpcRequest, RequestId } from "../../../rpc/messages.ts";
import { findRevision, supportedVersions, unnamedOverHttp } from "../../../mcp/revisions/index.ts";
import type { Link } from "../../../server/dispatch/call.ts";
import { Session } from "../../../server/protocol/session.ts";
import type { Belonging } from "../respond.ts";
import type { LegacyContext, Sender } from "../endpoint-context.ts";
import type { RequestHead } from "../../exchange.ts";
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from "../../header-names.ts";
import type { HttpSession } from "./http-session.ts";
import { HttpRefusal, shown } from "../refusal.ts";
import type { SessionTable } from "./sessions.ts";

interface Asking {
  readonly head: RequestHead;
  readonly sender: Sender;
  /** The id of the request that asks, for a refusal of it. */
  readonly id: RequestId | undefined;
}

const visibleAscii = /^[!-~]+$/;

/** Where messages go that belong to no request when there is no way for them. */
export const nowhere: Link = { send: () => {} };

/** Refuses a version that does not exist (2025-06-18, transports, "Protocol Version Header"). */
export function checkVersion(head: RequestHead, id: RequestId | undefined): void {
  const version = head.header(PROTOCOL_VERSION_HEADER);
  if (version === undefined || findRevision(version)) return;
  const supported = `Supported: ${supportedVersions.join(", ")}.`;
  throw new HttpRefusal(400, `The MCP-Protocol-Version "${shown(version)}" is not supported. ${supported}`, { id });
}

/** What a legacy request belongs to. */
export interface Place {
  readonly session: Session;
  /** Undefined where the endpoint has no sessions, and this one lives for its request alone. */
  readonly found: HttpSession | undefined;
}

/** The session of a legacy request; where an endpoint has none, one that lives for this request alone. */
export function placeOf(context: LegacyContext, asking: Asking): Awaitable<Place> {
  if (!context.sessions) return { session: ephemeral(context, asking), found: undefined };
  return after(findSession(context.sessions, asking), (found) => ({ session: found.session, found }));
}

/** What the answer to requests of a session belongs to, with the stream that it may become where requests are answered. */
export function belongingOf(
  context: LegacyContext,
  { session, found }: Place,
  requests: readonly JsonRpcRequest[],
): Belonging {
  const stream = found && context.resumption?.answer(found, requests);
  return { session, stream };
}

/** Finds the session that a request names. Throws a refusal of 400 where it names none, and of 404 for an unknown one. */
export function findSession(sessions: SessionTable, { head, sender, id }: Asking): Awaitable<HttpSession> {
  const sessionId = head.header(SESSION_ID_HEADER);
  if (sessionId === undefined) {
    const cure = 'Send "initialize" first and the id that comes with its answer from then on.';
    throw new HttpRefusal(400, `The Mcp-Session-Id header is missing. ${cure}`, { id });
  }
  if (!visibleAscii.test(sessionId)) {
    throw new HttpRefusal(400, `The Mcp-Session-Id "${shown(sessionId)}" is not one: it must be visible ASCII.`, {
      id,
    });
  }
  return after(sessions.find(sessionId, sender), (session) => {
    if (session) return session;
    const cure = 'Open a new one with "initialize".';
    throw new HttpRefusal(404, `There is no session "${shown(sessionId)}", or not any more. ${cure}`, { id });
  });
}

/**
 * What the client said of itself is not known here, so it cannot be asked anything: a handler that asks gets an error
 * that names the capability.
 */
function ephemeral({ core }: LegacyContext, { head, sender }: Asking): Session {
  const revision = findRevision(head.header(PROTOCOL_VERSION_HEADER)) ?? unnamedOverHttp;
  const { principal, address } = sender;
  const peer = { info: undefined, capabilities: {}, revision: revision.version, address };
  return new Session({ core, revision, peer, principal, link: nowhere });
}
