import { LocalError } from "../jsonrpc/errors.ts";
import { type JsonObject, type JsonRpcResponse, type RequestId, notification } from "../jsonrpc/messages.ts";
import { Outbound } from "../jsonrpc/outbound.ts";
import type { LoggingLevel } from "../protocol/logging.ts";
import { Notification } from "../protocol/methods.ts";
import { legacyLoweringOf } from "../revisions/legacy-lowerings.ts";
import type { Lowering } from "../revisions/lowering.ts";
import type { Revision } from "../revisions/revision.ts";
import type { Call, Link } from "./call.ts";
import { type Change, type Listener, toNotification } from "./changes.ts";
import type { Peer, Principal } from "./context.ts";
import type { ServerCore } from "./core.ts";

export interface SessionInit {
  core: ServerCore;
  revision: Revision;
  peer: Peer;
  principal: Principal | undefined;
  /** The way to the client for what belongs to no request of it. */
  link: Link;
}

/**
 * What a legacy client shares with the server between its requests: who it is, its revision, its log level, what it
 * subscribed to, and the questions that wait for its answer.
 */
export class Session implements Listener {
  readonly core: ServerCore;
  readonly revision: Revision;
  readonly lowering: Lowering;
  readonly peer: Peer;
  readonly principal: Principal | undefined;
  /** The calls of this session that are being answered, by id. */
  readonly calls: Map<RequestId, Call> = new Map();
  logLevel: LoggingLevel = "info";
  readonly #link: Link;
  readonly #subscriptions = new Set<string>();
  readonly #questions: Outbound;
  #leave: (() => void) | undefined;
  #ended = false;

  constructor(init: SessionInit) {
    this.core = init.core;
    this.revision = init.revision;
    this.lowering = legacyLoweringOf(init.revision);
    this.peer = init.peer;
    this.principal = init.principal;
    this.#link = init.link;
    this.#questions = new Outbound(init.core.clock);
  }

  /** Called when the client has said that it is ready: from then on it hears of changes. */
  ready(): void {
    if (!this.#ended) this.#leave ??= this.core.changes.add(this);
  }

  subscribe(uri: string): void {
    this.#subscriptions.add(uri);
  }

  unsubscribe(uri: string): void {
    this.#subscriptions.delete(uri);
  }

  wants(change: Change): boolean {
    return "list" in change || this.#subscriptions.has(change.uri);
  }

  deliver(change: Change): void {
    this.#link.send(toNotification(change));
  }

  /** Sends a notification that belongs to no request. Returns false once the session has ended. */
  notify(method: string, params: JsonObject): boolean {
    if (!this.#ended) this.#link.send(notification(method, params));
    return !this.#ended;
  }

  /** Sends the client a request on `link` and waits for its answer. */
  request(method: string, params: JsonObject, way: { link: Link; signal: AbortSignal }): Promise<JsonObject> {
    if (this.#ended) return Promise.reject(new LocalError("closed", "The session of this client has ended."));
    const id = this.#questions.nextId();
    const answer = this.#questions.wait(id, {
      what: method,
      idleTimeout: this.core.limits.askTimeout,
      signal: way.signal,
      onAbandoned: (reason) => way.link.send(notification(Notification.cancelled, { requestId: id, reason })),
    });
    way.link.send({ jsonrpc: "2.0", id, method, params });
    return answer;
  }

  /** Settles the question that a response of the client answers; one that answers none is ignored. */
  answered(response: JsonRpcResponse): void {
    this.#questions.settle(response);
  }

  /** Progress of the client on a question, which starts the question's clock anew. */
  progressed(params: JsonObject): void {
    this.#questions.progress(params.progressToken, params);
  }

  /** Gives one call up because the client said so. Unknown and finished ones are ignored, as the specification says. */
  cancel(params: JsonObject): void {
    const reason = typeof params.reason === "string" ? params.reason : "no reason given";
    const cause = new LocalError("aborted", `The client cancelled the request: ${reason.slice(0, 200)}`);
    this.calls.get(params.requestId as RequestId)?.cancel(cause);
  }

  /** Fails the questions that wait, as when the client can send nothing more. */
  cannotBeAsked(cause: Error): void {
    this.#questions.failAll(cause);
  }

  /** Ends the session: gives up its calls and its questions. A second call does nothing. */
  end(cause: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#leave?.();
    for (const call of this.calls.values()) call.cancel(cause);
    this.#questions.failAll(cause);
  }
}
