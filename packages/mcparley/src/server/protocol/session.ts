import { checkCustom } from "../../mcp/custom-notifications.ts";
import { checkMetaKeys } from "../../mcp/checks/check-metadata.ts";
import { LocalError } from "../../rpc/errors.ts";
import { guarded } from "../../rpc/guarded.ts";
import {
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcResponse,
  type RequestId,
  notification,
} from "../../rpc/messages.ts";
import { type LoggingLevel, readLoggingLevel } from "../../mcp/logging.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import { readResourceUri } from "../../mcp/resources.ts";
import type { Encoder } from "../../mcp/revisions/encoder.ts";
import { legacyEncoderOf } from "../../mcp/revisions/index.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { SessionEnd } from "../core/observer.ts";
import type { Call, CallSession, Link, RequestOptions } from "../core/call.ts";
import { cancelledFor } from "../dispatch/open-call.ts";
import { type Change, type Listener, toNotification } from "../core/changes.ts";
import type { Peer, Principal } from "../core/context.ts";
import type { ServerCore } from "../core/server-core.ts";
import { mayReceive, requireScopes, scopesOf } from "../core/scopes.ts";
import { receiveCustom } from "./custom-notifications.ts";
import { SessionRequests, startPings } from "./session-requests.ts";
import { checkStoredSize } from "../core/stored-size.ts";
import { visitsOf } from "./url-visits.ts";

interface SessionInit {
  core: ServerCore;
  revision: Revision;
  peer: Peer;
  principal: Principal | undefined;
  /** Sends messages that belong to no request of the client. */
  link: Link;
  sharing?: SessionSharing | undefined;
  /** Number of characters that the session stores of its `initialize` request. Default: 0. */
  size?: number;
  /** Whether the session ends with its request, because the endpoint has no sessions. Default: false. */
  isTransient?: boolean;
}

/** Set if other processes serve the session as well. The process that owns the standalone stream then sends the changes. */
export interface SessionSharing {
  /** Prefix of the ids of this copy's requests to the client. No other copy uses it. */
  requestIdPrefix: string;
  /** Called before an input request is sent. It is sent when this resolves. Never rejects. */
  asking(id: string): Promise<void>;
  /** Called when an input request is answered or abandoned. */
  onSettled(id: string): void;
  /** Called before the client is asked to visit a URL, with the id of the visit. Resolves when all processes can find it. */
  visiting(elicitationId: string): Promise<void>;
  /** Called when this copy has ended. Reports the end of the session to observers, once for all processes. */
  onEnded(end: SessionEnd): void;
}

/** The state of a session that the client set after it was opened. */
export interface SessionState {
  /** Whether the client has sent `notifications/initialized`. */
  ready: boolean;
  logLevel: LoggingLevel;
  /** The URIs that it subscribed to. */
  subscriptions: readonly string[];
}

/**
 * A session of a legacy client. It holds the client's identity, revision, log level and subscriptions, and the input
 * requests that wait for a response.
 */
export class Session implements CallSession, Listener {
  readonly core: ServerCore;
  readonly revision: Revision;
  readonly encoder: Encoder;
  readonly peer: Peer;
  /** The caller. Each request may have a newer credential of the same caller, with other scopes. */
  principal: Principal | undefined;
  /** Whether the session ends with its request. The features that need a later message do not exist in it. */
  readonly isTransient: boolean;
  logLevel: LoggingLevel | undefined = "info";
  readonly #link: Link;
  readonly #sharing: SessionSharing | undefined;
  readonly #size: number;
  /** Characters of the subscribed URIs. */
  #uriSize = 0;
  // Most sessions need none of these four, and there may be many sessions.
  /** The ids of the visits to URLs that the client was asked for, and that are not complete. */
  visits: Set<string> | undefined;
  /** The calls that are not answered yet, by id. */
  #calls: Map<RequestId, Call> | undefined;
  #subscriptions: Set<string> | undefined;
  #requests: SessionRequests | undefined;
  #isReady = false;
  #leave: (() => void) | undefined;
  #endPings: (() => void) | undefined;
  readonly #startedAt: number;
  /** The reason of the end. Undefined while the session is open. */
  #endReason: Error | undefined;

  constructor(init: SessionInit) {
    this.core = init.core;
    this.revision = init.revision;
    this.encoder = legacyEncoderOf(init.revision);
    this.peer = init.peer;
    this.principal = init.principal;
    this.#link = init.link;
    this.#sharing = init.sharing;
    this.#size = init.size ?? 0;
    this.isTransient = init.isTransient ?? false;
    if (this.isTransient) this.logLevel = undefined;
    this.#startedAt = init.core.clock.now();
  }

  /** Called when the client is ready. From then on it receives changes and input requests. */
  ready(): void {
    if (this.#endReason) return;
    if (!this.#sharing) this.#leave ??= this.core.changes.add(this);
    this.#isReady = true;
    this.#requests?.start();
    this.startPings();
  }

  /** Pings the client from now on, if the server has `pingInterval` and the client is ready. Ends while the link is closed. */
  startPings(): void {
    const { pingInterval = Infinity } = this.core.definition;
    if (pingInterval === Infinity || this.#endReason || !this.#isReady || this.isTransient) return;
    this.#endPings ??= startPings(this, this.#link, pingInterval);
  }

  endPings(): void {
    this.#endPings?.();
    this.#endPings = undefined;
  }

  /** Applies session state that another instance of the session received. */
  restore({ ready, logLevel, subscriptions }: SessionState): void {
    this.logLevel = logLevel;
    this.#subscriptions = new Set(subscriptions);
    this.#uriSize = subscriptions.join("").length;
    if (ready && !this.#isReady) this.ready();
  }

  /**
   * Answers a method that only sessions have: it sets the log level, or changes the subscriptions. Throws -32602 if the
   * client would then be subscribed to more than the limits allow, and 403 if it lacks a scope.
   */
  change({ core, method, params, principal }: Call): JsonObject {
    if (method === Method.setLevel) {
      this.logLevel = readLoggingLevel(params.level, "params.level");
      return {};
    }
    const uri = readResourceUri(params);
    this.#subscriptions ??= new Set();
    if (method === Method.unsubscribe) {
      if (this.#subscriptions.delete(uri)) this.#uriSize -= uri.length;
      return {};
    }
    requireScopes(scopesOf(core, uri), principal);
    if (this.#subscriptions.has(uri)) return {};
    this.checkSubscriptions([...this.#subscriptions, uri]);
    this.#subscriptions.add(uri);
    this.#uriSize += uri.length;
    return {};
  }

  /** Number of characters that the session stores of its client. */
  get keptSize(): number {
    return this.#size + this.#uriSize;
  }

  /** Throws -32602 if the session may not be subscribed to all of these URIs. */
  checkSubscriptions(uris: readonly string[]): void {
    checkStoredSize(this.core.limits, this.#size, uris);
  }

  wants(change: Change): boolean {
    if ("list" in change) return true;
    const { uri } = change;
    return this.#subscriptions?.has(uri) === true && mayReceive(this.core, uri, this.principal);
  }

  deliver(change: Change): void {
    this.#link.send(toNotification(change));
  }

  send(method: string, params?: JsonObject): boolean {
    if (this.#endReason || this.isTransient) return false;
    this.#link.send(notification(method, params));
    return true;
  }

  notify(method: string, params?: JsonObject): boolean {
    checkCustom(method, params);
    checkMetaKeys(params?._meta, `_meta of ${method}`);
    return this.send(method, params);
  }

  /** Sends the client a request once it is ready (2025-11-25, basic/lifecycle). Resolves with the result. */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    if (this.#endReason) return Promise.reject(new LocalError("closed", "The session of this client has ended."));
    if (!this.#requests) {
      this.#requests = new SessionRequests(this.core, this.#sharing);
      if (this.#isReady) this.#requests.start();
    }
    return this.#requests.send(method, params, options);
  }

  async visiting(elicitationId: string): Promise<void> {
    if (this.#sharing) return this.#sharing.visiting(elicitationId);
    visitsOf(this.core).add(elicitationId, this);
  }

  /** Handles a notification of the client. Unknown notifications are ignored. */
  receiveNotification(message: JsonRpcNotification): void {
    const { core } = this;
    const { method, params = {} } = message;
    if (!this.revision.clientNotifications.has(method)) return receiveCustom(core, message, this);
    if (method === Notification.initialized) this.ready();
    else if (method === Notification.cancelled) this.cancel(params);
    else if (method === Notification.progress) this.receiveProgress(params);
    else if (method === Notification.rootsChanged) {
      guarded(
        () => core.definition.onRootsChanged?.(this),
        (error) => core.report(error, undefined),
      );
    }
  }

  /** Settles the request of a response. A response to an unknown request is ignored. */
  receiveResponse(response: JsonRpcResponse): void {
    this.#requests?.pending.settle(response);
  }

  /** Restarts the time limit of the input request on which the client reports progress. */
  receiveProgress(params: JsonObject): void {
    this.#requests?.pending.progress(params.progressToken, params);
  }

  /**
   * Registers a call that is not answered synchronously. Most calls are, and are never registered. Adding and deleting a map
   * entry for each call would leave garbage that only a full collection frees.
   */
  begin(call: Call): void {
    this.#calls ??= new Map();
    this.#calls.set(call.id, call);
    if (this.#endReason) call.cancel(this.#endReason);
  }

  /** Removes a call that is answered. */
  finish(id: RequestId): void {
    this.#calls?.delete(id);
    if (this.inFlight === 0) this.#link.onIdle?.();
  }

  /** Number of registered calls. */
  get inFlight(): number {
    return this.#calls?.size ?? 0;
  }

  isAnswering(id: RequestId): boolean {
    return this.#calls?.has(id) ?? false;
  }

  /** Cancels a call on request of the client. Unknown and finished calls are ignored, as the specification requires. */
  cancel(params: JsonObject): void {
    this.#calls?.get(params.requestId as RequestId)?.cancel(cancelledFor(params.reason));
  }

  /** Fails the pending requests to the client. Called when the client can send nothing more. */
  failRequests(cause: Error): void {
    this.#requests?.pending.failAll(cause);
  }

  /** Ends the session. Cancels its calls and fails its input requests. A second call does nothing. */
  end(cause: Error): void {
    if (this.#endReason) return;
    this.#endReason = cause;
    this.#leave?.();
    this.endPings();
    for (const call of this.#calls?.values() ?? []) call.cancel(cause);
    this.#requests?.end(cause);
    for (const id of this.visits ?? []) visitsOf(this.core).take(id);
    const { core, revision } = this;
    const durationMs = core.clock.now() - this.#startedAt;
    const end = { durationMs, revision: revision.version, reason: cause.message };
    if (this.#sharing) this.#sharing.onEnded(end);
    else core.sessionEnded(end);
  }
}
