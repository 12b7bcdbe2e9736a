import { type Awaitable, isPromise } from "../../../rpc/awaitable.ts";
import { LocalError } from "../../../rpc/errors.ts";
import type { Classified, JsonRpcRequest } from "../../../rpc/messages.ts";
import { Method } from "../../../mcp/methods.ts";
import { findRevision } from "../../../mcp/revisions/index.ts";
import { answerInSession, initialize } from "../../../server/protocol/legacy.ts";
import type { HttpExchange } from "../../exchange.ts";
import { LAST_EVENT_ID_HEADER, PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from "../../header-names.ts";
import type { EndpointContext, LegacyContext, Posted, Sender } from "../endpoint-context.ts";
import { requireEventStream } from "../read-request.ts";
import type { Cluster } from "../cluster.ts";
import type { HttpOptions } from "../options.ts";
import { HttpRefusal, notAllowed, shuttingDown } from "../refusal.ts";
import { PostResponse } from "../respond.ts";
import { checkVersion, findSession, sessionOf } from "./find-session.ts";
import { type HttpSession, type OneWayMessage, StandaloneStream } from "./http-session.ts";
import { postBatch } from "./post-batch.ts";
import { tableIsFull } from "./session-shares.ts";
import { type SessionTable, Sessions } from "./sessions.ts";

type Message = Exclude<Classified, { kind: "invalid" }>;

/** Opens the legacy side of an endpoint. Without sessions, each request is independent and no stream is resumable. */
export async function openLegacyEndpoint(context: EndpointContext, options: HttpOptions): Promise<LegacyEndpoint> {
  const { sessions = true, events } = options;
  context.core.requireOneCopy(LocalError);
  if (!sessions) return new LegacyEndpoint({ ...context, sessions: undefined, resumption: undefined });
  const limits = sessions === true ? {} : sessions;
  const cluster = await context.cluster?.load();
  if (cluster)
    return new LegacyEndpoint({ ...context, ...cluster.openSessions(context, { limits, events }) }, cluster.withStore);
  const inMemory = new Sessions(context.core, limits);
  return new LegacyEndpoint({ ...context, sessions: inMemory, resumption: undefined });
}

/** Shared by all sessions: making a stack takes as long as the rest of ending a session. */
const endedByClient = new LocalError("closed", "The client ended its session.");

/** The legacy revisions at one endpoint: POST for messages and batches, GET and DELETE for sessions. */
export class LegacyEndpoint {
  readonly #context: LegacyContext;
  readonly #run: <T>(serve: () => Awaitable<T>) => Awaitable<T>;

  /** `withStore` runs each request, if the sessions are in a store. */
  constructor(context: LegacyContext, withStore?: Cluster["withStore"]) {
    this.#context = context;
    this.#run = withStore ?? ((serve) => serve());
  }

  /** The number of open sessions. */
  get sessions(): number {
    return this.#context.sessions?.size ?? 0;
  }

  post(post: Posted, message: Message): Awaitable<void> {
    return this.#run(() => postLegacy(this.#context, post, message));
  }

  postBatch(post: Posted, batch: readonly unknown[]): Awaitable<void> {
    return this.#run(() => postBatch(this.#context, post, batch));
  }

  /** Opens the standalone stream of a session, or resumes one. */
  get(exchange: HttpExchange, sender: Sender): Awaitable<void> {
    return this.#run(async () => {
      const { resumption, open } = this.#context;
      const { session } = await requireSession(this.#context, exchange, sender);
      session.session.principal = sender.principal;
      if (open.isEnding) throw shuttingDown();
      requireEventStream(exchange);
      if (!resumption || !session.session.revision.resumable) {
        return void new StandaloneStream(exchange, { open, session });
      }
      const lastEventId = exchange.header(LAST_EVENT_ID_HEADER);
      return lastEventId ? resumption.resume(exchange, session, lastEventId) : resumption.open(exchange, session);
    });
  }

  /** Ends a session and its calls. */
  delete(exchange: HttpExchange, sender: Sender): Awaitable<void> {
    return this.#run(async () => {
      const { session, sessions } = await requireSession(this.#context, exchange, sender);
      await sessions.delete(session, endedByClient);
      exchange.respond(204, {});
    });
  }

  /** Ends the sessions and their calls. Sessions in a store stay there for the other processes. */
  async end(cause: Error): Promise<void> {
    this.#context.resumption?.stop();
    await this.#context.sessions?.clear(cause);
  }
}

/** Answers a POST of one message: opens a session, or handles a message of one. */
function postLegacy(context: LegacyContext, post: Posted, incoming: Message): Awaitable<void> {
  const { core, sessions, resumption } = context;
  const { exchange: head, principal, address } = post;
  const id = incoming.kind === "request" ? incoming.message.id : undefined;
  checkVersion(core, head, id);
  if (incoming.kind !== "request") return receive(context, post, incoming);
  const { message } = incoming;
  const namesSession = sessions !== undefined && head.header(SESSION_ID_HEADER) !== undefined;
  if (message.method === Method.initialize && !namesSession) return openSession(context, post, message);

  const answer = (httpSession: HttpSession): Awaitable<void> => {
    const { session } = httpSession;
    const stream = resumption?.replyStream(httpSession, [message]);
    const response = new PostResponse(context, post, { session, stream });
    const reply = answerInSession(session, message, { link: response, principal, address });
    return response.settle(httpSession.beforeReply(message, reply));
  };
  // Unless the sessions are in a store, one is found without waiting. A promise would cost time in every request (ADR 24).
  const target = sessionOf(context, { head, sender: post, id });
  return isPromise(target) ? target.then(answer) : answer(target);
}

/** Handles a notification or response of a session. */
async function receive(context: LegacyContext, post: Posted, incoming: OneWayMessage): Promise<void> {
  const { exchange: head } = post;
  const session = await sessionOf(context, { head, sender: post, id: undefined });
  if (!context.sessions && incoming.kind === "response") {
    throw new HttpRefusal(400, "This response belongs to no session. Send the Mcp-Session-Id header of its session.");
  }
  await session.receive(incoming);
  head.respond(202, {});
}

/** Answers `initialize`, and adds the session to the table if the endpoint has sessions. */
async function openSession(context: LegacyContext, post: Posted, request: JsonRpcRequest): Promise<void> {
  const { core, sessions, open } = context;
  const { principal, address, caller } = post;
  if (open.isEnding) throw shuttingDown(request.id);
  const httpSession = sessions?.prepare(caller);
  if (sessions && !httpSession) throw tableIsFull(sessions.retryAfter, request.id);
  const { reply, session } = initialize(core, request, {
    link: httpSession ?? { send: () => {} },
    principal,
    address,
    sharing: httpSession?.sharing,
    isTransient: !sessions,
  });
  if (sessions && httpSession && session) {
    httpSession.session = session;
    await sessions.add(httpSession);
    post.exchange.decorate({ [SESSION_ID_HEADER]: httpSession.id });
  }
  return new PostResponse(context, post).finish(reply);
}

/** Returns the session of a GET or DELETE. These methods exist only in legacy revisions and with sessions. */
async function requireSession(
  { core, sessions }: LegacyContext,
  exchange: HttpExchange,
  sender: Sender,
): Promise<{ session: HttpSession; sessions: SessionTable }> {
  const isLegacy =
    exchange.header(SESSION_ID_HEADER) !== undefined ||
    findRevision(exchange.header(PROTOCOL_VERSION_HEADER))?.kind === "legacy";
  if (!sessions || !isLegacy) throw notAllowed(exchange.method, "POST");
  checkVersion(core, exchange, undefined);
  return { session: await findSession(core, sessions, { head: exchange, sender, id: undefined }), sessions };
}
