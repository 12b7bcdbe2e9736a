import { LocalError } from "../../../rpc/errors.ts";
import { findRevision } from "../../../mcp/revisions/index.ts";
import { readAccept } from "../../accept.ts";
import type { LegacyContext, Sender } from "../endpoint-context.ts";
import type { HttpExchange, HttpRequestHead } from "../../exchange.ts";
import { checkVersion, findSession } from "./find-session.ts";
import { LAST_EVENT_ID_HEADER, PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from "../../header-names.ts";
import type { HttpSession } from "./http-session.ts";
import { HttpRefusal, notAllowed, shuttingDown } from "../refusal.ts";
import type { SessionTable } from "./sessions.ts";
import { Standalone } from "./standalone.ts";

/** Answers a GET: opens the standalone stream of a session, or resumes one. */
export async function getStream(context: LegacyContext, exchange: HttpExchange, sender: Sender): Promise<void> {
  const { session } = await require(context, exchange, sender);
  session.session.principal = sender.principal;
  if (context.open.isEnding) throw shuttingDown();
  if (!readAccept(exchange.header("accept")).events) {
    throw new HttpRefusal(406, "A GET is answered with an event stream: send Accept: text/event-stream.");
  }
  const { resumption, open } = context;
  if (!resumption || !session.session.revision.resumable) return void new Standalone(exchange, { open, session });
  const lastEventId = exchange.header(LAST_EVENT_ID_HEADER);
  return lastEventId ? resumption.resume(exchange, session, lastEventId) : resumption.open(exchange, session);
}

/** Shared by all sessions: making a stack takes as long as the rest of ending a session. */
const endedByClient = new LocalError("closed", "The client ended its session.");

/** Answers a DELETE: ends the session and its calls. */
export async function deleteSession(context: LegacyContext, exchange: HttpExchange, sender: Sender): Promise<void> {
  const { session, sessions } = await require(context, exchange, sender);
  await sessions.delete(session, endedByClient);
  exchange.respond(204, {});
}

async function require(
  { core, sessions }: LegacyContext,
  head: HttpRequestHead,
  sender: Sender,
): Promise<{ session: HttpSession; sessions: SessionTable }> {
  if (!sessions || !isOfSession(head)) throw notAllowed(head.method, "POST");
  checkVersion(core, head, undefined);
  return { session: await findSession(sessions, { head, sender, id: undefined }), sessions };
}

/** Whether a request is one of a session. GET and DELETE exist in legacy revisions with sessions only. */
function isOfSession(head: HttpRequestHead): boolean {
  if (head.header(SESSION_ID_HEADER) !== undefined) return true;
  return findRevision(head.header(PROTOCOL_VERSION_HEADER))?.kind === "legacy";
}
