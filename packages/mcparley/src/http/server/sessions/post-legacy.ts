import { type Awaitable, isPromise } from "../../../rpc/awaitable.ts";
import type { Classified, JsonRpcRequest } from "../../../rpc/messages.ts";
import { Method } from "../../../mcp/methods.ts";
import type { Reply } from "../../../server/dispatch/reply.ts";
import { answerInSession, initialize } from "../../../server/protocol/legacy.ts";
import { PostResponse } from "../respond.ts";
import type { LegacyContext, Posted } from "../endpoint-context.ts";
import { belongingOf, checkVersion, nowhere, placeOf } from "./find-session.ts";
import { SESSION_ID_HEADER } from "../../header-names.ts";
import type { Heard, HttpSession } from "./http-session.ts";
import { HttpRefusal, shuttingDown } from "../refusal.ts";
import { tableIsFull } from "./session-shares.ts";

type Message = Exclude<Classified, { kind: "invalid" }>;

/** Answers a POST of a legacy revision: opens a session, or handles a message of one. */
export async function postLegacy(context: LegacyContext, posted: Posted, { kind, message }: Message): Promise<void> {
  const { exchange: head, principal, address } = posted;
  const id = kind === "request" ? message.id : undefined;
  checkVersion(head, id);
  if (kind !== "request") return receive(context, posted, { kind, message } as Heard);
  const isNamed = context.sessions !== undefined && head.header(SESSION_ID_HEADER) !== undefined;
  if (message.method === Method.initialize && !isNamed) return openSession(context, posted, message);

  const found = placeOf(context, { head, sender: posted, id });
  const place = isPromise(found) ? await found : found;
  const response = new PostResponse(context, posted, belongingOf(context, place, [message]));
  const reply = answerInSession(place.session, message, { link: response, principal, address });
  return response.settle(place.found?.keep ? keepState(place.found, message, reply) : reply);
}

/** Stores what a request changed of its session, before its reply is sent. */
async function keepState(
  session: HttpSession,
  request: JsonRpcRequest,
  reply: Awaitable<Reply | undefined>,
): Promise<Reply | undefined> {
  return session.keep!(request, await reply);
}

/** Handles a notification or response of a session. */
async function receive(context: LegacyContext, posted: Posted, heard: Heard): Promise<void> {
  const { exchange: head } = posted;
  const { found } = await placeOf(context, { head, sender: posted, id: undefined });
  if (found) await found.hear(heard);
  else if (heard.kind === "response") {
    throw new HttpRefusal(400, "This response belongs to no session. Send the Mcp-Session-Id header of its session.");
  }
  head.respond(202, {});
}

/** Answers `initialize`, and adds the session to the table if the endpoint has sessions. */
async function openSession(context: LegacyContext, posted: Posted, request: JsonRpcRequest): Promise<void> {
  const { core, sessions, open } = context;
  const { principal } = posted;
  if (open.isEnding) throw shuttingDown(request.id);
  const prepared = sessions?.prepare(posted.caller);
  if (sessions && !prepared) throw tableIsFull(sessions.retryAfter, request.id);
  const way = { link: prepared ?? nowhere, principal, address: posted.address, shared: prepared?.shared };
  const { reply, session } = initialize(core, request, way);
  if (!sessions || !prepared || !session) return new PostResponse(context, posted).finish(reply);
  prepared.session = session;
  await sessions.add(prepared);
  posted.exchange.decorate({ [SESSION_ID_HEADER]: prepared.id });
  return new PostResponse(context, posted).finish(reply);
}
