import { type Awaitable, after } from "../../../rpc/awaitable.ts";
import type { Classified, JsonRpcRequest } from "../../../rpc/messages.ts";
import { Method } from "../../../mcp/methods.ts";
import { answerInSession, initialize } from "../../../server/protocol/legacy.ts";
import { Answering } from "../answering.ts";
import type { LegacyContext, Posted } from "../endpoint-context.ts";
import { type Place, belongingOf, checkVersion, nowhere, placeOf } from "./find-session.ts";
import { SESSION_ID_HEADER } from "../../header-names.ts";
import type { Heard } from "./http-session.ts";
import { HttpRefusal, shuttingDown } from "../refusal.ts";
import { tableIsFull } from "./session-shares.ts";

type Message = Exclude<Classified, { kind: "invalid" }>;

/** Answers a POST of a legacy revision: opens a session, or serves one. */
export function postLegacy(context: LegacyContext, posted: Posted, { kind, message }: Message): Awaitable<void> {
  const { exchange: head } = posted;
  const id = kind === "request" ? message.id : undefined;
  checkVersion(head, id);
  if (kind !== "request") return hear(context, posted, { kind, message } as Heard);
  const isNamed = context.sessions !== undefined && head.header(SESSION_ID_HEADER) !== undefined;
  if (message.method === Method.initialize && !isNamed) return openSession(context, posted, message);
  return after(placeOf(context, { head, sender: posted, id }), (place) => answerAt(place, context, posted, message));
}

function answerAt(place: Place, context: LegacyContext, posted: Posted, request: JsonRpcRequest): Awaitable<void> {
  const { session, found } = place;
  const answering = new Answering(context, posted, belongingOf(context, place, [request]));
  const reply = answerInSession(session, request, answering);
  return answering.settle(found?.keep ? after(reply, (ready) => found.keep!(request, ready)) : reply);
}

async function hear(context: LegacyContext, posted: Posted, heard: Heard): Promise<void> {
  const { exchange: head } = posted;
  const { found } = await placeOf(context, { head, sender: posted, id: undefined });
  if (found) await found.hear(heard);
  else if (heard.kind === "response") {
    throw new HttpRefusal(400, "There is no session whose question this response could answer.");
  }
  head.respond(202, {});
}

/** Answers `initialize`; the session that it opens can be found from then on, if the endpoint has sessions. */
async function openSession(context: LegacyContext, posted: Posted, request: JsonRpcRequest): Promise<void> {
  const { core, sessions, open } = context;
  const { principal } = posted;
  if (open.isEnding) throw shuttingDown(request.id);
  const prepared = sessions?.prepare(posted.caller);
  if (sessions && !prepared) throw tableIsFull(sessions.retryAfter, request.id);
  const way = { link: prepared ?? nowhere, principal, address: posted.address, shared: prepared?.shared };
  const { reply, session } = initialize(core, request, way);
  if (!sessions || !prepared || !session) return new Answering(context, posted).finish(reply);
  prepared.session = session;
  await sessions.add(prepared);
  posted.exchange.decorate({ [SESSION_ID_HEADER]: prepared.id });
  return new Answering(context, posted).finish(reply);
}
