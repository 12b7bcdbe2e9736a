import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, type JsonRpcNotification, isObject } from "../../rpc/messages.ts";
import { MetaKey, Notification } from "../../mcp/methods.ts";
import { type Linked, link, unlessAborted } from "../../rpc/abort.ts";
import { Backoff } from "../../rpc/backoff.ts";
import { wakefulClock } from "../../rpc/clock.ts";
import { guarded } from "../../mcp/observe.ts";
import type { ClientCore } from "../calls/call.ts";
import type { Connection } from "../connect/connection.ts";
import type { RequestOptions } from "../options.ts";
import { listenLegacy, listenModern } from "./listen.ts";
import {
  type Change,
  type Ended,
  type ListenFilter,
  type ListKind,
  Listening,
  type Subscription,
  fromWire,
} from "./subscription.ts";

const changedLists: Record<string, ListKind> = {
  [Notification.toolsChanged]: "tools",
  [Notification.promptsChanged]: "prompts",
  [Notification.resourcesChanged]: "resources",
};

/** A subscription that was open for this long, in milliseconds, gets the whole reconnect budget again. */
const recovered = 60_000;

/** The subscriptions of a client in all revisions. They are opened again if they break. */
export class Subscriptions {
  readonly #core: ClientCore;
  readonly #backoff: Backoff;
  readonly #open = new Set<Listening>();
  #reopening = 0;

  constructor(core: ClientCore) {
    this.#core = core;
    this.#backoff = new Backoff(core.options.clock ?? wakefulClock, core.closing);
  }

  /** Whether a broken subscription is being opened again. */
  get isReopening(): boolean {
    return this.#reopening > 0;
  }

  /** Opens a subscription. Settles when the server has acknowledged it. */
  async listen(
    wanted: ListenFilter,
    onChange: (change: Change) => void,
    options: RequestOptions,
  ): Promise<Subscription> {
    const listening = new Listening(wanted, (change) => {
      guarded(() => onChange(change), this.#core.report);
    });
    const life = link(this.#core.closing);
    const opening = link(options.signal, life.signal);
    this.#open.add(listening);
    try {
      const begun = await this.#begin(listening, life.signal, opening.signal);
      return subscription(listening, life, this.#keep(listening, life, begun));
    } catch (error) {
      life.abort(error);
      life.unlink();
      this.#open.delete(listening);
      throw error;
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
      this.#listeningFor(connection, params.requestId)?.onEnded?.();
    } else {
      const change = readChange(method, params);
      if (change) this.#emit(change, connection, id);
    }
  }

  #emit(change: Change, connection: Connection, id: unknown): void {
    this.#backoff.reset();
    for (const listening of this.#open) {
      if (listening.connection !== connection) continue;
      const isMeant = id === undefined ? listening.wants(change) : listening.id === id;
      if (isMeant) listening.emit(change);
    }
  }

  #listeningFor(connection: Connection, id: unknown): Listening | undefined {
    if (id === undefined) return undefined;
    for (const listening of this.#open)
      if (listening.connection === connection && listening.id === id) return listening;
    return undefined;
  }

  /** Opens a subscription once, in the current session or in a new one. */
  async #begin(listening: Listening, life: AbortSignal, signal: AbortSignal): Promise<Ended> {
    const { sessions } = this.#core;
    const session = await sessions.ensure();
    listening.connection = session.connection;
    listening.id = undefined;
    try {
      if (session.revision.era === "modern")
        return await listenModern(this.#core, listening, { session, life, signal });
      return await listenLegacy(this.#core, listening, { session, life, signal, others: () => this.#open });
    } catch (error) {
      if (!(error instanceof LocalError) || error.code !== "session_lost") throw error;
      sessions.drop(session);
      // A new session is tried at once. If it is lost again, that counts as a break.
      if (signal.aborted || sessions.current) throw error;
      return this.#begin(listening, life, signal);
    }
  }

  /** Keeps a subscription open until it is closed, the server ends it, or it cannot be opened again. */
  async #keep(listening: Listening, life: Linked, begun: Ended): Promise<void> {
    const { clock } = this.#core;
    let open: Ended | undefined = begun;
    try {
      while (open) {
        const since = clock.now();
        const error = await open.ended.then(
          () => undefined,
          (reason: Error) => reason,
        );
        if (!error || life.signal.aborted) return;
        this.#core.report(error);
        if (clock.now() - since >= recovered) this.#backoff.reset();
        open = await this.#reopen(listening, life.signal, error);
        if (!open) return;
        // Changes may have been missed while it was broken, so everything is reported as changed.
        this.#core.cache?.forget();
        this.#core.tools.clear();
        listening.emitAll();
      }
    } finally {
      this.#open.delete(listening);
      life.abort(undefined);
      life.unlink();
    }
  }

  /** Opens it again within the reconnect budget. Returns undefined if it was closed, or if no try succeeded. */
  async #reopen(listening: Listening, life: AbortSignal, broken: Error): Promise<Ended | undefined> {
    let reason: unknown = broken;
    this.#reopening++;
    try {
      while (!this.#backoff.isSpent && !isFinal(reason) && !this.#core.sessions.isClosed) {
        await unlessAborted(this.#backoff.wait(), life, "Reopening");
        const again = await this.#begin(listening, life, life).catch((error: unknown) => {
          reason = error;
        });
        if (again) return again;
        if (life.aborted) return undefined;
      }
    } catch (error) {
      if (life.aborted) return undefined;
      reason = error;
    } finally {
      this.#reopening--;
    }
    const message = "A subscription was lost and could not be opened again.";
    this.#core.report(new LocalError("closed", message, { cause: reason }));
    return undefined;
  }
}

function subscription(listening: Listening, life: Linked, closed: Promise<void>): Subscription {
  return {
    get acknowledged() {
      return listening.acknowledged;
    },
    closed,
    close() {
      life.abort(new LocalError("aborted", "The subscription was closed."));
      return closed;
    },
  };
}

function readChange(method: string, { uri }: JsonObject): Change | undefined {
  if (method === Notification.resourceUpdated) return typeof uri === "string" ? { kind: "updated", uri } : undefined;
  const kind = Object.hasOwn(changedLists, method) ? changedLists[method] : undefined;
  return kind && { kind };
}

/** Whether another try cannot succeed: the server refuses, or the user must act first. */
function isFinal(error: unknown): boolean {
  if (error instanceof ProtocolError) return true;
  return error instanceof LocalError && /^(unauthorized|unsupported_revision|not_capable|aborted)$/.test(error.code);
}
