import { type Awaitable, after } from "../../../rpc/awaitable.ts";
import type { RequestId } from "../../../rpc/messages.ts";
import { findRevision, unnamedOverHttp } from "../../../mcp/revisions/index.ts";
import type { ServerCore } from "../../../server/core/server-core.ts";
import { explainUnknownId } from "../../../server/core/local-id.ts";
import { Session } from "../../../server/protocol/session.ts";
import type { LegacyContext, Sender } from "../endpoint-context.ts";
import type { HttpRequestHead } from "../../exchange.ts";
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from "../../header-names.ts";
import { HttpSession } from "./http-session.ts";
import { HttpRefusal, shortenValue } from "../refusal.ts";
import type { SessionTable } from "./sessions.ts";

/** A request of a legacy revision, whose session is not known yet. */
interface LegacyRequest {
  readonly head: HttpRequestHead;
  readonly sender: Sender;
  /** The id of the request, for a refusal. */
  readonly id: RequestId | undefined;
}

/** The session of one request, at an endpoint without sessions. No message before or after the request belongs to it. */
class TransientSession extends HttpSession {
  override send(): void {}

  override receive(): void {}
}

const visibleAscii = /^[!-~]+$/;

/** Refuses a version that the server does not serve (2025-06-18, transports, "Protocol Version Header"). */
export function checkVersion(core: ServerCore, head: HttpRequestHead, id: RequestId | undefined): void {
  const version = head.header(PROTOCOL_VERSION_HEADER);
  if (version !== undefined) requireServed(core, version, id);
}

function requireServed(core: ServerCore, version: string, id: RequestId | undefined): void {
  if (findRevision(version) && core.serves(version)) return;
  const hint = `Supported: ${core.versions.join(", ")}.`;
  throw new HttpRefusal(400, `The MCP-Protocol-Version "${shortenValue(version)}" is not supported. ${hint}`, { id });
}

/** Returns the session of a legacy request. If the endpoint has no sessions, returns one for this request only. */
export function sessionOf({ core, sessions }: LegacyContext, request: LegacyRequest): Awaitable<HttpSession> {
  if (sessions) return findSession(core, sessions, request);
  const { head, sender, id } = request;
  const revision = findRevision(head.header(PROTOCOL_VERSION_HEADER)) ?? unnamedOverHttp;
  requireServed(core, revision.version, id);
  const { principal, address, caller } = sender;
  // The client's capabilities are unknown, so input requests throw an error that names them.
  const peer = { info: undefined, capabilities: {}, revision: revision.version, address };
  const transient = new TransientSession("", core.clock.now(), caller);
  transient.session = new Session({ core, revision, peer, principal, link: transient, isTransient: true });
  return transient;
}

/** Returns the session that a request names. Throws a refusal: 400 if it names none, 404 if the session is unknown. */
export function findSession(
  core: ServerCore,
  sessions: SessionTable,
  { head, sender, id }: LegacyRequest,
): Awaitable<HttpSession> {
  const sessionId = head.header(SESSION_ID_HEADER);
  if (sessionId === undefined) {
    const cure = 'Send "initialize" first, and the id from its response with every later request.';
    throw new HttpRefusal(400, `The Mcp-Session-Id header is missing. ${cure}`, { id });
  }
  if (!visibleAscii.test(sessionId)) {
    throw new HttpRefusal(
      400,
      `The Mcp-Session-Id "${shortenValue(sessionId)}" is invalid: it must be visible ASCII.`,
      {
        id,
      },
    );
  }
  return after(sessions.find(sessionId, sender), (session) => {
    if (session) return session;
    const cure = 'Send "initialize" to open a new one.';
    const reason = explainUnknownId(core, sessionId) ?? "does not exist or has expired.";
    throw new HttpRefusal(404, `Session "${shortenValue(sessionId)}" ${reason} ${cure}`, { id });
  });
}
