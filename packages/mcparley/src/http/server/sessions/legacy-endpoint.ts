import { type Awaitable, isPromise } from "../../../rpc/awaitable.ts";
import type { Classified, JsonRpcRequest } from "../../../rpc/messages.ts";
import { Method } from "../../../mcp/methods.ts";
import type { Reply } from "../../../server/dispatch/reply.ts";
import { answerInSession, initialize } from "../../../server/protocol/legacy.ts";
import type { HttpExchange } from "../../exchange.ts";
import { SESSION_ID_HEADER } from "../../header-names.ts";
import type { EndpointContext, LegacyContext, Posted, Sender } from "../endpoint-context.ts";
import type { HttpOptions } from "../options.ts";
import { HttpRefusal, shuttingDown } from "../refusal.ts";
import { PostResponse } from "../respond.ts";
import { type Place, belongingOf, checkVersion, nowhere, placeOf } from "./find-session.ts";
import type { HttpSession, OneWayMessage } from "./http-session.ts";
import { postBatch } from "./post-batch.ts";
import { deleteSession, getStream } from "./session-methods.ts";
import { tableIsFull } from "./session-shares.ts";
import { Sessions } from "./sessions.ts";

/** Opens the legacy side of an endpoint. Without sessions, each request is independent and no stream is resumable. */
export async function openLegacyEndpoint(context: EndpointContext, options: HttpOptions): Promise<LegacyEndpoint> {
  const { sessions = true, events } = options;
  if (!sessions) return new LegacyEndpoint({ ...context, sessions: undefined, resumption: undefined });
  const limits = sessions === true ? {} : sessions;
  const cluster = await context.cluster?.load();
  if (cluster)
    return new LegacyEndpoint({ ...context, ...cluster.openSessions(context, { limits, events }) }, cluster.guard);
  const kept = new Sessions(context.core.clock, limits);
  return new LegacyEndpoint({ ...context, sessions: kept, resumption: undefined });
}

/** Serves one request, and may turn an error into a refusal. */
type Guard = <T>(serve: () => Awaitable<T>) => Awaitable<T>;
type Message = Exclude<Classified, { kind: "invalid" }>;

/** The legacy revisions at one endpoint: sessions, and the HTTP methods GET and DELETE. */
export class LegacyEndpoint {
  readonly #context: LegacyContext;
  readonly #guard: Guard;

  /** `guard` runs each request. */
  constructor(context: LegacyContext, guard: Guard = (serve) => serve()) {
    this.#context = context;
    this.#guard = guard;
  }

  /** The number of open sessions. */
  get sessions(): number {
    return this.#context.sessions?.size ?? 0;
  }

  post(posted: Posted, message: Message): Awaitable<void> {
    return this.#guard(() => postLegacy(this.#context, posted, message));
  }

  postBatch(posted: Posted, batch: readonly unknown[]): Awaitable<void> {
    return this.#guard(() => postBatch(this.#context, posted, batch));
  }

  get(exchange: HttpExchange, sender: Sender): Awaitable<void> {
    return this.#guard(() => getStream(this.#context, exchange, sender));
  }

  delete(exchange: HttpExchange, sender: Sender): Awaitable<void> {
    return this.#guard(() => deleteSession(this.#context, exchange, sender));
  }

  /** Ends the sessions and their calls. Sessions in a store stay there for the other processes. */
  async end(cause: Error): Promise<void> {
    this.#context.resumption?.stop();
    await this.#context.sessions?.clear(cause);
  }
}

/** Answers a POST of a legacy revision: opens a session, or handles a message of one. */
function postLegacy(context: LegacyContext, posted: Posted, { kind, message }: Message): Awaitable<void> {
  const { exchange: head } = posted;
  const id = kind === "request" ? message.id : undefined;
  checkVersion(context.core, head, id);
  if (kind !== "request") return receive(context, posted, { kind, message } as OneWayMessage);
  const isNamed = context.sessions !== undefined && head.header(SESSION_ID_HEADER) !== undefined;
  if (message.method === Method.initialize && !isNamed) return openSession(context, posted, message);

  // Unless the sessions are in a store, one is found without waiting. A promise would cost time in every request (ADR 24).
  const found = placeOf(context, { head, sender: posted, id });
  const answer = (place: Place): Awaitable<void> => answerAt(place, context, { posted, request: message });
  return isPromise(found) ? found.then(answer) : answer(found);
}

function answerAt(
  place: Place,
  context: LegacyContext,
  { posted, request }: { posted: Posted; request: JsonRpcRequest },
): Awaitable<void> {
  const { principal, address } = posted;
  const response = new PostResponse(context, posted, belongingOf(context, place, [request]));
  const reply = answerInSession(place.session, request, { link: response, principal, address });
  return response.settle(place.found?.beforeReply ? storeState(place.found, request, reply) : reply);
}

/** Stores the changes that a request made to its session, before its reply is sent. */
async function storeState(
  session: HttpSession,
  request: JsonRpcRequest,
  reply: Awaitable<Reply | undefined>,
): Promise<Reply | undefined> {
  return session.beforeReply!(request, await reply);
}

/** Handles a notification or response of a session. */
async function receive(context: LegacyContext, posted: Posted, received: OneWayMessage): Promise<void> {
  const { exchange: head } = posted;
  const { found } = await placeOf(context, { head, sender: posted, id: undefined });
  if (found) await found.receive(received);
  else if (received.kind === "response") {
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
  const { address } = posted;
  const way = { link: prepared ?? nowhere, principal, address, shared: prepared?.shared, isTransient: !sessions };
  const { reply, session } = initialize(core, request, way);
  if (!sessions || !prepared || !session) return new PostResponse(context, posted).finish(reply);
  prepared.session = session;
  await sessions.add(prepared);
  posted.exchange.decorate({ [SESSION_ID_HEADER]: prepared.id });
  return new PostResponse(context, posted).finish(reply);
}
