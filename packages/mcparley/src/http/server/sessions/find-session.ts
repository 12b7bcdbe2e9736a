import { type Awaitable, after } from "../../../rpc/awaitable.ts";
import type { JsonRpcRequest, RequestId } from "../../../rpc/messages.ts";
import { findRevision, unnamedOverHttp } from "../../../mcp/revisions/index.ts";
import type { ServerCore } from "../../../server/core.ts";
import type { Link } from "../../../server/dispatch/call.ts";
import { Session } from "../../../server/protocol/session.ts";
import type { Belonging } from "../respond.ts";
import type { LegacyContext, Sender } from "../endpoint-context.ts";
import type { HttpRequestHead } from "../../exchange.ts";
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from "../../header-names.ts";
import type { HttpSession } from "./http-session.ts";
import { HttpRefusal, shown } from "../refusal.ts";
import type { SessionTable } from "./sessions.ts";

interface SessionRequest {
  readonly head: HttpRequestHead;
  readonly sender: Sender;
  /** The id of the request, for a refusal. */
  readonly id: RequestId | undefined;
}

const visibleAscii = /^[!-~]+$/;

/** Discards standalone messages. Used if there is no session. */
export const nowhere: Link = { send: () => {} };

/** Refuses a version that the server does not serve (2025-06-18, transports, "Protocol Version Header"). */
export function checkVersion(core: ServerCore, head: HttpRequestHead, id: RequestId | undefined): void {
  const version = head.header(PROTOCOL_VERSION_HEADER);
  if (version !== undefined) requireServed(core, version, id);
}

function requireServed(core: ServerCore, version: string, id: RequestId | undefined): void {
  if (findRevision(version) && core.serves(version)) return;
  const supported = `Supported: ${core.versions.join(", ")}.`;
  throw new HttpRefusal(400, `The MCP-Protocol-Version "${shown(version)}" is not supported. ${supported}`, { id });
}

/** The session of a legacy request. */
export interface Place {
  readonly session: Session;
  /** Undefined if the endpoint has no sessions. `session` then exists for this request only. */
  readonly found: HttpSession | undefined;
}

/** Returns the session of a legacy request. If the endpoint has no sessions, returns one for this request only. */
export function placeOf(context: LegacyContext, request: SessionRequest): Awaitable<Place> {
  if (!context.sessions) return { session: ephemeral(context, request), found: undefined };
  return after(findSession(context.sessions, request), (found) => ({ session: found.session, found }));
}

/** Returns the session of a response, and the resumable stream that the response may become. */
export function belongingOf(
  context: LegacyContext,
  { session, found }: Place,
  requests: readonly JsonRpcRequest[],
): Belonging {
  const stream = found && context.resumption?.answer(found, requests);
  return { session, stream };
}

/** Returns the session that a request names. Throws a refusal: 400 if it names none, 404 if the session is unknown. */
export function findSession(sessions: SessionTable, { head, sender, id }: SessionRequest): Awaitable<HttpSession> {
  const sessionId = head.header(SESSION_ID_HEADER);
  if (sessionId === undefined) {
    const cure = 'Send "initialize" first, and the id from its response with every later request.';
    throw new HttpRefusal(400, `The Mcp-Session-Id header is missing. ${cure}`, { id });
  }
  if (!visibleAscii.test(sessionId)) {
    throw new HttpRefusal(400, `The Mcp-Session-Id "${shown(sessionId)}" is invalid: it must be visible ASCII.`, {
      id,
    });
  }
  return after(sessions.find(sessionId, sender), (session) => {
    if (session) return session;
    const cure = 'Send "initialize" to open a new one.';
    throw new HttpRefusal(404, `Session "${shown(sessionId)}" does not exist or has expired. ${cure}`, { id });
  });
}

/** Makes a session for one request. The client's capabilities are unknown, so input requests throw an error that names them. */
function ephemeral({ core }: LegacyContext, { head, sender, id }: SessionRequest): Session {
  const revision = findRevision(head.header(PROTOCOL_VERSION_HEADER)) ?? unnamedOverHttp;
  requireServed(core, revision.version, id);
  const { principal, address } = sender;
  const peer = { info: undefined, capabilities: {}, revision: revision.version, address };
  return new Session({ core, revision, peer, principal, link: nowhere, isTransient: true });
}
