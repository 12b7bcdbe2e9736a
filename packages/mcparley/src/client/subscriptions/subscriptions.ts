import { abortedError, unlessAborted, linkWithin, routineEnd } from "../../rpc/abort.ts";
import { Backoff, retryAfterOf } from "../../rpc/backoff.ts";
import { type Clock, wakefulClock } from "../../rpc/clock.ts";
import { LocalError, ProtocolError, hasCode } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { type JsonRpcNotification, isObject } from "../../rpc/messages.ts";
import { DEFAULT_IDLE_TIMEOUT } from "../../rpc/pending-requests.ts";
import { MetaKey, Method, Notification } from "../../mcp/methods.ts";
import { guarded } from "../../rpc/guarded.ts";
import { brokenName } from "../calls/check-request.ts";
import { totalOf, waitWithin } from "../calls/call.ts";
import type { ClientCore, OpenSubscriptions } from "../core.ts";
import type { ClientConnection } from "../connect/client-connection.ts";
import { doubtOf } from "../connect/revision-errors.ts";
import { forgetLists } from "../connect/server-messages.ts";
import type { Session } from "../connect/session.ts";
import { loadLegacy } from "../legacy/load.ts";
import type { RequestOptions } from "../options.ts";
import { endedByServer, listenModern } from "./listen.ts";
import { listenLegacy } from "./listen-legacy.ts";
import {
  type ServerChange,
  type ListenFilter,
  SubscriptionState,
  type Opened,
  type Subscription,
  fromWire,
  readChange,
} from "./subscription.ts";

/**
 * The subscriptions of a client in all revisions. `tests/faults/states/subscription.ts` has the states of one.
 *
 * A subscription ends if the user closes it, if the server refuses it for a lasting reason, or after the last attempt of its
 * `Backoff`. After any other end it is opened again: a graceful end, a lost connection, or an unavailable server.
 */
export class Subscriptions implements OpenSubscriptions {
  readonly #core: ClientCore;
  readonly #clock: Clock;
  /** The attempts to open a new connection. All subscriptions of a lost connection share them. */
  readonly #connecting: Backoff;
  readonly #open = new Set<SubscriptionState>();

  constructor(core: ClientCore) {
    this.#core = core;
    this.#clock = core.options.clock ?? wakefulClock;
    this.#connecting = new Backoff(this.#clock, core.closing);
    // One listener for all subscriptions: a long-lived signal must not collect listeners.
    core.closing.addEventListener("abort", () => {
      for (const { life } of this.#open) life.abort(core.closing.reason);
    });
  }

  /** Whether changes may be missed: a subscription is being opened again, or the stream for its messages is. */
  get isReopening(): boolean {
    for (const { isReopening, connection } of this.#open) if (isReopening || connection?.isInterrupted) return true;
    return false;
  }

  /** Opens a subscription. Settles when the server has acknowledged it. */
  async listen(
    filter: ListenFilter,
    onChange: (change: ServerChange) => void,
    options: RequestOptions,
  ): Promise<Subscription> {
    const core = this.#core;
    const broken = filter.uris?.find((uri) => !uri.isWellFormed());
    if (broken !== undefined) throw brokenName(`The subscription to ${JSON.stringify(broken)}`);
    const idle = options.timeout?.idle ?? core.options.timeout?.idle ?? DEFAULT_IDLE_TIMEOUT;
    const state = new SubscriptionState(filter, {
      clock: this.#clock,
      idle,
      onChange: (change) => guarded(() => onChange(change), core.report),
    });
    const total = totalOf(core, options);
    const message = `${Method.listen} was not acknowledged within ${total} ms in total.`;
    const opening = linkWithin({ clock: core.clock, ms: total, message }, options.signal, state.life.signal);
    this.#open.add(state);
    try {
      const stream = await this.#begin(state, opening.signal);
      const end = this.#keepOpen(state, stream);
      return {
        get acknowledged() {
          return state.acceptedFilter;
        },
        closed: end,
        async close() {
          state.life.abort(new LocalError("aborted", "The subscription was closed."));
          await end;
        },
      };
    } catch (error) {
      const reason = opening.signal.aborted ? abortedError(Method.listen, opening.signal) : error;
      this.#open.delete(state);
      state.life.abort(reason);
      throw reason;
    } finally {
      opening.unlink();
    }
  }

  /** Handles a notification that may belong to a subscription. */
  handleNotification({ method, params = {} }: JsonRpcNotification, connection: ClientConnection): void {
    const id = isObject(params._meta) ? params._meta[MetaKey.subscriptionId] : undefined;
    if (method === Notification.acknowledged) {
      const filter = fromWire(isObject(params.notifications) ? params.notifications : {});
      this.#stateFor(connection, id)?.onAcknowledged?.(filter);
    } else if (method === Notification.cancelled) {
      this.#stateFor(connection, params.requestId)?.onEnded?.(endedByServer());
    } else {
      const change = readChange(method, params);
      if (change) this.#emit(change, connection, id);
      else this.#notifyExtensions({ method, params }, connection, id);
    }
  }

  #notifyExtensions(
    { method, params = {} }: Omit<JsonRpcNotification, "jsonrpc">,
    connection: ClientConnection,
    id: unknown,
  ): void {
    for (const { filter, id: requestId, connection: where, life } of this.#open) {
      if (where !== connection || (id !== undefined && id !== requestId) || life.signal.aborted) continue;
      guarded(() => filter.extension?.notified(method, params), this.#core.report);
    }
  }

  /** Handles the loss of a connection. */
  handleLoss(reason: Error, connection: ClientConnection): void {
    for (const state of this.#on(connection)) state.onEnded?.(reason);
  }

  /** Handles a break of the stream for the messages of a legacy session, with its cause, and its return. */
  handleInterruption(cause: Error | undefined, connection: ClientConnection): void {
    const states = this.#on(connection);
    if (cause && states.length > 0) this.#core.report(cause);
    if (!cause) for (const state of states) state.emitAll();
  }

  #on(connection: ClientConnection): SubscriptionState[] {
    return [...this.#open].filter((state) => state.connection === connection);
  }

  #emit(change: ServerChange, connection: ClientConnection, id: unknown): void {
    // A program that reports a change and exits would be started again without end. So its messages reset nothing.
    if (this.#core.transports.kind === "http") this.#connecting.reset();
    for (const state of this.#open) {
      if (state.connection !== connection) continue;
      const isMeant = id === undefined ? state.wants(change) : state.id === id;
      if (!isMeant) continue;
      state.backoff.reset();
      state.emit(change);
    }
  }

  #stateFor(connection: ClientConnection, id: unknown): SubscriptionState | undefined {
    if (id === undefined) return undefined;
    for (const state of this.#open) if (state.connection === connection && state.id === id) return state;
    return undefined;
  }

  /** Opens a subscription, in the current session or in a new one. A session that the server no longer has is replaced once. */
  async #begin(state: SubscriptionState, signal: AbortSignal, isSecond = false): Promise<Opened> {
    const { sessions } = this.#core;
    const limit = { what: Method.listen, idleTimeout: state.idle, signal };
    const session = await waitWithin(this.#core, sessions.ensure(), limit);
    state.connection = session.connection;
    state.id = undefined;
    const open = session.revision.kind === "modern" ? listenModern : listenLegacy;
    try {
      return await open(this.#core, state, { session, signal });
    } catch (error) {
      state.connection = undefined;
      if (signal.aborted) throw error;
      await this.#endOutdated(session, error, signal);
      if (isSecond) throw error;
      return this.#begin(state, signal, true);
    }
  }

  /** Ends a session that the server no longer has, or whose revision it no longer has. Throws `error` for other errors. */
  async #endOutdated(session: Session, error: unknown, signal: AbortSignal): Promise<void> {
    const core = this.#core;
    if (hasCode(error, "session_lost")) return core.sessions.drop(session);
    const method = session.revision.kind === "modern" ? Method.listen : Method.subscribe;
    const doubt = doubtOf(error, { core, method }, session);
    if (!doubt) throw error;
    const { replaceIfChanged } = await loadLegacy();
    const call = { core, options: { signal }, what: Method.listen };
    await replaceIfChanged(call, session, { error, isCertain: doubt === "certain" });
  }

  /** Keeps a subscription open until it ends. Returns the reason, or undefined if the user has closed it. */
  async #keepOpen(state: SubscriptionState, first: Opened): Promise<LocalError | undefined> {
    const { signal } = state.life;
    try {
      for (let stream: Opened | LocalError | undefined = first; ;) {
        if (!stream || stream instanceof LocalError) return stream;
        const startTime = this.#clock.now();
        const cause = await stream.end;
        state.connection = undefined;
        if (signal.aborted) return undefined;
        this.#core.report(cause);
        state.backoff.wasOpen(this.#clock.now() - startTime);
        this.#connecting.wasOpen(this.#clock.now() - startTime);
        stream = await this.#reopen(state, cause);
        if (!stream || stream instanceof LocalError) continue;
        // Changes may have been missed, so everything is reported as changed.
        forgetLists(this.#core);
        state.emitAll();
      }
    } finally {
      this.#open.delete(state);
      state.life.abort(routineEnd);
    }
  }

  /** Opens it again. Returns the reason if it has ended instead, or undefined if the user has closed it. */
  async #reopen(state: SubscriptionState, cause: Error): Promise<Opened | LocalError | undefined> {
    const { sessions } = this.#core;
    const { signal } = state.life;
    let reason: unknown = cause;
    state.isReopening = true;
    try {
      for (;;) {
        const backoff = sessions.current ? state.backoff : this.#connecting;
        if (isFinal(reason) || backoff.isSpent || sessions.isClosed) return this.#reportLost(reason);
        await unlessAborted(backoff.wait(retryAfterOf(reason)), signal, Method.listen);
        try {
          return await this.#begin(state, signal);
        } catch (error) {
          if (signal.aborted) return undefined;
          reason = error;
        }
      }
    } catch {
      return undefined; // Closed while it waited.
    } finally {
      state.isReopening = false;
    }
  }

  /** Reports that a subscription has ended, and returns the error. */
  #reportLost(cause: unknown): LocalError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `A subscription was lost and could not be opened again. Call listen() again if it is needed. ${reason}`;
    const error = new LocalError("closed", message, { cause });
    this.#core.report(error);
    return error;
  }
}

/** Whether another attempt cannot succeed: the server refuses, or the user must act first. */
function isFinal(error: unknown): boolean {
  if (error instanceof ProtocolError) return error.code !== ErrorCode.InternalError;
  return hasCode(
    error,
    "unauthorized",
    "sign_in_required",
    "sign_in_failed",
    "unsupported_revision",
    "not_capable",
    "forbidden_url",
    "declined",
    "aborted",
  );
}
