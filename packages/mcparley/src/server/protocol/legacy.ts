import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import type { JsonRpcRequest } from "../../rpc/messages.ts";
import {
  type InitializeParams,
  type InitializeResult,
  type ServerCapabilities,
  readInitializeParams,
} from "../../mcp/capabilities.ts";
import { Method } from "../../mcp/methods.ts";
import { checkProgressToken } from "../../mcp/progress.ts";
import { legacyRevisions, negotiateLegacy } from "../../mcp/revisions/index.ts";
import { answer, checkParams } from "../dispatch/dispatch.ts";
import { replyToError } from "../dispatch/reply.ts";
import type { Reply } from "../core/call.ts";
import { OpenCall } from "../dispatch/open-call.ts";
import type { Principal } from "../core/context.ts";
import type { ServerCore } from "../core/server-core.ts";
import { type RequestSource, unsupportedVersion } from "./modern.ts";
import { Session, type SessionSharing } from "./session.ts";
import { checkStoredSize } from "../core/stored-size.ts";
import { checkVisits } from "./url-visits.ts";

/** The connection on which a session is opened. Its link sends messages that belong to no request of the client. */
interface SessionSource extends RequestSource {
  sharing?: SessionSharing | undefined;
  /** Whether the endpoint has no sessions, so that each request is independent. Default: false. */
  isTransient?: boolean;
}

interface Opened {
  reply: Reply;
  /** Undefined if the request was rejected. */
  session: Session | undefined;
}

/** Answers `initialize` and opens the session (2025-11-25, basic/lifecycle). */
export function initialize(core: ServerCore, request: JsonRpcRequest, source: SessionSource): Opened {
  try {
    checkParams(request.params ?? {}, core.limits);
    const params = readInitializeParams(request.params ?? {});
    const session = openSession(core, params, source);
    const result = { ...initializeResult(session) };
    return { reply: { message: { jsonrpc: "2.0", id: request.id, result }, status: 200 }, session };
  } catch (error) {
    if (!(error instanceof ProtocolError)) core.report(error, undefined);
    const refusal =
      error instanceof ProtocolError ? error : new ProtocolError(ErrorCode.InternalError, "Internal error");
    core.refused(request.method, source.principal, refusal);
    return { reply: replyToError(request.id, refusal, undefined), session: undefined };
  }
}

/**
 * Opens a session from the params of its `initialize` request. Throws -32602 if they are larger than a session may be, and
 * -32022 if the server serves no legacy revision.
 */
export function openSession(core: ServerCore, params: InitializeParams, source: SessionSource): Session {
  const { link, principal, address, sharing, isTransient = false } = source;
  const revisions = legacyRevisions.filter(({ version }) => core.serves(version));
  const revision = negotiateLegacy(params.protocolVersion, revisions);
  if (!revision) throw unsupportedVersion(core, params.protocolVersion);
  const { clientInfo: info, capabilities } = params;
  const protocolVersion = revision.version;
  const size = JSON.stringify({ protocolVersion, capabilities, clientInfo: info }).length;
  checkStoredSize(core.limits, size, []);
  const peer = { info, capabilities, revision: protocolVersion, address };
  return new Session({ core, revision, peer, link, principal, sharing, size, isTransient });
}

function initializeResult(session: Session): InitializeResult {
  const { core, revision, encoder } = session;
  const { completions, ...otherCapabilities } = capabilitiesFor(session);
  const result: InitializeResult = {
    protocolVersion: revision.version,
    capabilities:
      completions && revision.completionsCapability ? { ...otherCapabilities, completions } : otherCapabilities,
    serverInfo: encoder.implementation(core.info),
  };
  const { instructions } = core.definition;
  return instructions === undefined ? result : { ...result, instructions };
}

/** Returns the capabilities to declare in a session. Extensions with `legacyCapabilities` are declared in that form. */
function capabilitiesFor({ core, revision, principal, isTransient }: Session): ServerCapabilities {
  const { extensions = {}, ...capabilities } = core.capabilities();
  if (isTransient) {
    // Without a session, the server sends no messages later, and keeps no settings for them.
    delete capabilities.logging;
    for (const kind of ["tools", "prompts", "resources"] as const) if (capabilities[kind]) capabilities[kind] = {};
  }
  const declaredExtensions = { ...extensions };
  for (const extension of core.extensions) {
    if (!extension.legacyCapabilities) continue;
    delete declaredExtensions[extension.id];
    Object.assign(capabilities, extension.legacyCapabilities({ revision, principal }));
  }
  return Object.keys(declaredExtensions).length > 0
    ? { ...capabilities, extensions: declaredExtensions }
    : capabilities;
}

/**
 * Answers a request of a session. Returns undefined if the client cancelled it.
 *
 * The principal is that of this request. Over HTTP each request has its own credential, and a newer one of the same caller
 * may have other scopes than the one that opened the session. The session keeps the newest one, for the delivery of updates.
 */
export function answerInSession(
  session: Session,
  request: JsonRpcRequest,
  source: RequestSource,
): Awaitable<Reply | undefined> {
  const { id, method, params = {} } = request;
  const { core, revision, encoder } = session;
  const { principal, link, address = session.peer.address } = source;
  session.principal = principal;
  try {
    checkTurn(session, request);
    checkProgressToken(params, core.limits.idLength);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    core.refused(method, principal, error);
    return replyToError(id, error, revision);
  }
  // Nearly every request of a session has the same address, and then shares its peer.
  const peer = address === session.peer.address ? session.peer : { ...session.peer, address };
  const logLevel = undefined;
  const call = new OpenCall({ core, revision, encoder, id, method, params, peer, principal, link, logLevel, session });
  const reply = answer(call);
  if (!isPromise(reply)) return checkVisits(session, reply);
  session.begin(call);
  return reply.then(
    (ready) => {
      session.finish(id);
      return checkVisits(session, ready);
    },
    (error: unknown) => {
      session.finish(id);
      throw error;
    },
  );
}

/** The methods that have no effect in a session that ends with its request. */
const needSession: ReadonlySet<string> = new Set([Method.subscribe, Method.unsubscribe, Method.setLevel]);

/** Throws if the session cannot answer the request, or not now. */
function checkTurn(session: Session, { id, method }: JsonRpcRequest): void {
  if (session.isTransient && needSession.has(method)) {
    throw new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method}. It needs a session.`);
  }
  if (method === Method.initialize) {
    throw new ProtocolError(ErrorCode.InvalidRequest, "This session is initialized already.");
  }
  if (session.isAnswering(id)) {
    throw new ProtocolError(
      ErrorCode.InvalidRequest,
      `A request with the id ${JSON.stringify(id)} is in flight already.`,
    );
  }
  const { inFlight } = session.core.limits;
  if (session.inFlight < inFlight) return;
  const message = `More than ${inFlight} calls are in flight. Wait for responses first.`;
  throw new ProtocolError(ErrorCode.InvalidRequest, message, { status: 429 });
}

/** Returns why a session refuses a batch of this many messages, or undefined if it accepts the batch. */
export function batchProblem(session: Session | undefined, length: number): string | undefined {
  if (!session?.revision.batches) return "Batches are not part of this revision: send one message at a time.";
  const { batch } = session.core.limits;
  return length === 0 || length > batch ? `A batch must have 1 to ${batch} messages; got ${length}.` : undefined;
}

/** Serves legacy revisions on one connection, such as stdio. It has at most one session, opened by `initialize`. */
export class LegacyConnection {
  readonly #core: ServerCore;
  readonly #source: SessionSource;
  /** Undefined until a client has opened it. */
  session: Session | undefined;

  constructor(core: ServerCore, source: SessionSource) {
    this.#core = core;
    this.#source = source;
  }

  /** Answers a request. `principal` is that of the request, if each request has its own credential. */
  answer(
    request: JsonRpcRequest,
    principal: Principal | undefined = this.#source.principal,
  ): Awaitable<Reply | undefined> {
    if (this.session) return answerInSession(this.session, request, { link: this.#source.link, principal });
    const { id, method } = request;
    if (method === Method.initialize) {
      const { reply, session } = initialize(this.#core, request, this.#source);
      this.session = session;
      return reply;
    }
    if (method === Method.ping) return { message: { jsonrpc: "2.0", id, result: {} }, status: 200 };
    const error = new ProtocolError(ErrorCode.InvalidRequest, `Send "initialize" before ${method.slice(0, 200)}.`);
    return replyToError(id, error, undefined);
  }

  /** Returns why a batch of this many messages is refused, or undefined if it is accepted. */
  refuseBatch(length: number): string | undefined {
    return batchProblem(this.session, length);
  }
}
