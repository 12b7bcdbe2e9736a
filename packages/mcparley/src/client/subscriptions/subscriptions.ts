import { abortedError, unlessAborted } from "../../rpc/abort.ts";
import { Backoff, retryAfterOf } from "../../rpc/backoff.ts";
import { type Clock, wakefulClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, type JsonRpcNotification, isObject } from "../../rpc/messages.ts";
import { DEFAULT_IDLE_TIMEOUT } from "../../rpc/pending-requests.ts";
import { MetaKey, Method, Notification } from "../../mcp/methods.ts";
import { guarded } from "../../rpc/guarded.ts";
import type { ClientCore } from "../calls/call.ts";
import type { Connection } from "../connect/connection.ts";
import { doubtOf } from "../connect/revision-errors.ts";
import { forgetLists } from "../connect/server-messages.ts";
import type { Session } from "../connect/session.ts";
import type { RequestOptions } from "../options.ts";
import { endedByServer, listenModern } from "./listen.ts";
import { listenLegacy } from "./listen-legacy.ts";
import { isFinal, openingSignal } from "./opening.ts";
import {
  type ServerChange,
  type ListenFilter,
  type ListKind,
  Listening,
  type Opened,
  type Subscription,
  fromWire,
} from "./subscription.ts";

const changedLists: Record<string, ListKind> = {
  [Notification.toolsChanged]: "tools",
  [Notification.promptsChanged]: "prompts",
  [Notification.resourcesChanged]: "resources",
};

/**
 * The subscriptions of a client in all revisions. `tests/faults/states/subscription.ts` has the states of one.
 *
 * A subscription ends if the user closes it, if the server refuses it for a reason that lasts, or after the last try of its
 * `Backoff`. After any other end it is opened again: a graceful one, a lost connection, or an unavailable server.
 */
export class Subscriptions {
  readonly #core: ClientCore;
  readonly #clock: Clock;
  /** The tries to open a new connection. All subscriptions of a lost connection share them. */
  readonly #dialing: Backoff;
  readonly #open = new Set<Listening>();

  constructor(core: ClientCore) {
    this.#core = core;
    this.#clock = core.options.clock ?? wakefulClock;
    this.#dialing = new Backoff(this.#clock, core.closing);
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
    wanted: ListenFilter,
    onChange: (change: ServerChange) => void,
    options: RequestOptions,
  ): Promise<Subscription> {
    const core = this.#core;
    const idle = options.timeout?.idle ?? core.options.timeout?.idle ?? DEFAULT_IDLE_TIMEOUT;
    const onEach = (change: ServerChange): void => {
      guarded(() => onChange(change), core.report);
    };
    const listening = new Listening(wanted, { clock: this.#clock, idle, onChange: onEach });
    const opening = openingSignal(core, listening, options);
    this.#open.add(listening);
    try {
      const opened = await this.#begin(listening, opening.signal);
      return subscription(listening, this.#keep(listening, opened));
    } catch (error) {
      const reason = opening.signal.aborted ? abortedError(Method.listen, opening.signal) : error;
      this.#open.delete(listening);
      listening.life.abort(reason);
      throw reason;
    } finally {
      opening.unlink();
    }
  }

  /** Handles a notification that may belong to a subscription. */
  notified({ method, params = {} }: JsonRpcNotification, connection: Connection): void {
    const id = isObject(params._meta) ? params._meta[MetaKey.subscriptionId] : undefined;
    if (method === Notification.acknowledged) {
      const filter = fromWire(isObject(params.notifications) ? params.notifications : {});
      this.#listeningFor(connection, id)?.onAcknowledged?.(filter);
    } else if (method === Notification.cancelled) {
      this.#listeningFor(connection, params.requestId)?.onEnded?.(endedByServer());
    } else {
      const change = readChange(method, params);
      if (change) this.#emit(change, connection, id);
      else this.#notifyExtensions({ method, params }, connection, id);
    }
  }

  #notifyExtensions(
    { method, params = {} }: Omit<JsonRpcNotification, "jsonrpc">,
    connection: Connection,
    id: unknown,
  ): void {
    for (const { wanted, id: own, connection: where, life } of this.#open) {
      if (where !== connection || (id !== undefined && id !== own) || life.signal.aborted) continue;
      guarded(() => wanted.extension?.notified(method, params), this.#core.report);
    }
  }

  /** Handles the loss of a connection. */
  lost(reason: Error, connection: Connection): void {
    for (const listening of this.#on(connection)) listening.onEnded?.(reason);
  }

  /** Handles a break of the stream for the messages of a legacy session, with its cause, and its return. */
  interrupted(cause: Error | undefined, connection: Connection): void {
    const affected = this.#on(connection);
    if (cause && affected.length > 0) this.#core.report(cause);
    if (!cause) for (const listening of affected) listening.emitAll();
  }

  #on(connection: Connection): Listening[] {
    return [...this.#open].filter((listening) => listening.connection === connection);
  }

  #emit(change: ServerChange, connection: Connection, id: unknown): void {
    // A program that reports a change and exits would be started again without end, so its messages are no progress.
    if (this.#core.transports.kind === "http") this.#dialing.reset();
    for (const listening of this.#open) {
      if (listening.connection !== connection) continue;
      const isMeant = id === undefined ? listening.wants(change) : listening.id === id;
      if (!isMeant) continue;
      listening.backoff.reset();
      listening.emit(change);
    }
  }

  #listeningFor(connection: Connection, id: unknown): Listening | undefined {
    if (id === undefined) return undefined;
    for (const listening of this.#open)
      if (listening.connection === connection && listening.id === id) return listening;
    return undefined;
  }

  /** Opens a subscription, in the current session or in a new one. A session that the server no longer has is replaced once. */
  async #begin(listening: Listening, signal: AbortSignal, isSecond = false): Promise<Opened> {
    const { sessions } = this.#core;
    const session = await unlessAborted(sessions.ensure(), signal, Method.listen);
    listening.connection = session.connection;
    listening.id = undefined;
    const open = session.revision.kind === "modern" ? listenModern : listenLegacy;
    try {
      return await open(this.#core, listening, { session, signal });
    } catch (error) {
      listening.connection = undefined;
      if (signal.aborted) throw error;
      await this.#endOutdated(session, error, signal);
      if (isSecond) throw error;
      return this.#begin(listening, signal, true);
    }
  }

  /** Ends a session that the server no longer has, or whose revision it no longer has. Throws `error` for other errors. */
  async #endOutdated(session: Session, error: unknown, signal: AbortSignal): Promise<void> {
    const core = this.#core;
    if (error instanceof LocalError && error.code === "session_lost") return core.sessions.drop(session);
    const method = session.revision.kind === "modern" ? Method.listen : Method.subscribe;
    const doubt = doubtOf(error, { core, method }, session);
    if (!doubt) throw error;
    const { replaceIfChanged } = await import("../connect/on-demand.ts");
    const call = { core, options: { signal }, what: Method.listen };
    await replaceIfChanged(call, session, { error, isCertain: doubt === "certain" });
  }

  /** Keeps a subscription open until it ends. Returns the reason, or undefined if the user has closed it. */
  async #keep(listening: Listening, first: Opened): Promise<LocalError | undefined> {
    const { signal } = listening.life;
    try {
      for (let opened: Opened | LocalError | undefined = first; ;) {
        if (!opened || opened instanceof LocalError) return opened;
        const since = this.#clock.now();
        const cause = await opened.ended;
        listening.connection = undefined;
        if (signal.aborted) return undefined;
        this.#core.report(cause);
        listening.backoff.wasOpen(this.#clock.now() - since);
        this.#dialing.wasOpen(this.#clock.now() - since);
        opened = await this.#reopen(listening, cause);
        if (!opened || opened instanceof LocalError) continue;
        // Changes may have been missed, so everything is reported as changed.
        forgetLists(this.#core);
        listening.emitAll();
      }
    } finally {
      this.#open.delete(listening);
      listening.life.abort(undefined);
    }
  }

  /** Opens it again. Returns the reason if it has ended instead, or undefined if the user has closed it. */
  async #reopen(listening: Listening, cause: Error): Promise<Opened | LocalError | undefined> {
    const { sessions } = this.#core;
    const { signal } = listening.life;
    let reason: unknown = cause;
    listening.isReopening = true;
    try {
      for (;;) {
        const backoff = sessions.current ? listening.backoff : this.#dialing;
        if (isFinal(reason) || backoff.isSpent || sessions.isClosed) return this.#lose(reason);
        await unlessAborted(backoff.wait(retryAfterOf(reason)), signal, Method.listen);
        try {
          return await this.#begin(listening, signal);
        } catch (error) {
          if (signal.aborted) return undefined;
          reason = error;
        }
      }
    } catch {
      return undefined; // Closed while it waited.
    } finally {
      listening.isReopening = false;
    }
  }

  /** Reports that a subscription has ended, and returns the error. */
  #lose(cause: unknown): LocalError {
    const said = cause instanceof Error ? cause.message : String(cause);
    const message = `A subscription was lost and could not be opened again. Call listen() again if it is needed. ${said}`;
    const error = new LocalError("closed", message, { cause });
    this.#core.report(error);
    return error;
  }
}

function subscription(listening: Listening, closed: Promise<LocalError | undefined>): Subscription {
  return {
    get acknowledged() {
      return listening.acknowledged;
    },
    closed,
    async close() {
      listening.life.abort(new LocalError("aborted", "The subscription was closed."));
      await closed;
    },
  };
}

function readChange(method: string, { uri, _meta }: JsonObject): ServerChange | undefined {
  const meta = readMeta(_meta);
  if (method === Notification.resourceUpdated)
    return typeof uri === "string" ? { kind: "updated", uri, ...meta } : undefined;
  const kind = Object.hasOwn(changedLists, method) ? changedLists[method] : undefined;
  return kind && { kind, ...meta };
}

function readMeta(given: unknown): { _meta?: JsonObject } {
  if (!isObject(given)) return {};
  const { [MetaKey.subscriptionId]: _, ..._meta } = given;
  return Object.keys(_meta).length > 0 ? { _meta } : {};
}
