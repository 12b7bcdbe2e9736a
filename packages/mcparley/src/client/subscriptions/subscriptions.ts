import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, type JsonRpcNotification, isObject } from "../../rpc/messages.ts";
import { MetaKey } from "../../mcp/meta.ts";
import { Notification } from "../../mcp/methods.ts";
import { type Linked, link, unlessAborted } from "../../rpc/abort.ts";
import { Backoff } from "../../rpc/backoff.ts";
import type { Channel } from "../connect/connection.ts";
import type { ClientCore } from "../calls/call.ts";
import { listenLegacy } from "./listen-legacy.ts";
import { listenModern } from "./listen.ts";
import type { RequestOptions } from "../options.ts";
import {
  type Change,
  type Ended,
  type ListenFilter,
  type ListKind,
  Listening,
  type Subscription,
  fromWire,
} from "./subscription.ts";
import { wakefulClock } from "../connect/wakeful-clock.ts";

const changedLists: Record<string, ListKind> = {
  [Notification.toolsChanged]: "tools",
  [Notification.promptsChanged]: "prompts",
  [Notification.resourcesChanged]: "resources",
};

/** A subscription that stayed open for so long, in milliseconds, has recovered from whatever broke it before. */
const recovered = 60_000;

/** The subscriptions of one client, kept open for as long as they are wanted: the same on every revision. */
export class Subscriptions {
  readonly #core: ClientCore;
  readonly #backoff: Backoff;
  readonly #open = new Set<Listening>();
  #reopening = 0;

  constructor(core: ClientCore) {
    this.#core = core;
    this.#backoff = new Backoff(wakefulClock(core.options.clock), core.closing);
  }

  /** Whether any subscription is broken and about to be opened again. */
  get isReopening(): boolean {
    return this.#reopening > 0;
  }

  /** Opens a subscription. Settles once the server has acknowledged it. */
  async listen(
    wanted: ListenFilter,
    onChange: (change: Change) => void,
    options: RequestOptions,
  ): Promise<Subscription> {
    const listening = new Listening(wanted, (change) => {
      try {
        onChange(change);
      } catch (error) {
        this.#core.report(error);
      }
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

  /** Takes a notification that may be about a subscription. */
  notified({ method, params = {} }: JsonRpcNotification, channel: Channel): void {
    const id = isObject(params._meta) ? params._meta[MetaKey.subscriptionId] : undefined;
    if (method === Notification.acknowledged) {
      const filter = fromWire(isObject(params.notifications) ? params.notifications : {});
      this.#find(channel, id)?.onAcknowledged?.(filter);
    } else if (method === Notification.cancelled) {
      this.#find(channel, params.requestId)?.onEnded?.();
    } else {
      const change = readChange(method, params);
      if (change) this.#tell(change, channel, id);
    }
  }

  #tell(change: Change, channel: Channel, id: unknown): void {
    this.#backoff.reset();
    for (const listening of this.#open) {
      if (listening.channel !== channel) continue;
      const isMeant = id === undefined ? listening.wants(change) : listening.id === id;
      if (isMeant) listening.tell(change);
    }
  }

  #find(channel: Channel, id: unknown): Listening | undefined {
    if (id === undefined) return undefined;
    for (const listening of this.#open) if (listening.channel === channel && listening.id === id) return listening;
    return undefined;
  }

  /** Opens it once, on the connection that is there or on a new one. */
  async #begin(listening: Listening, life: AbortSignal, signal: AbortSignal): Promise<Ended> {
    const { line } = this.#core;
    const connection = await line.get();
    listening.channel = connection.channel;
    listening.id = undefined;
    try {
      if (connection.revision.era === "modern") {
        return await listenModern(this.#core, listening, connection, { life, signal });
      }
      return await listenLegacy(this.#core, listening, connection, { life, signal, others: () => this.#open });
    } catch (error) {
      if (!(error instanceof LocalError) || error.code !== "session_lost") throw error;
      line.drop(connection);
      // A new session is asked at once; one that is lost again counts as a break.
      if (signal.aborted || line.current) throw error;
      return this.#begin(listening, life, signal);
    }
  }

  /** Keeps it open until it is closed here, its server ends it, or it cannot be opened again. */
  async #keep(listening: Listening, life: Linked, begun: Ended): Promise<void> {
    const { clock } = this.#core;
    let open: Ended | undefined = begun;
    try {
      while (open) {
        const since = clock.now();
        const error = await errorOf(open.ended);
        if (!error || life.signal.aborted) return;
        this.#core.report(error);
        if (clock.now() - since >= recovered) this.#backoff.reset();
        open = await this.#reopen(listening, life.signal, error);
        if (open) this.#reopened(listening);
      }
    } finally {
      this.#open.delete(listening);
      life.abort(undefined);
      life.unlink();
    }
  }

  /** What changed while it was broken was missed, so all of it counts as changed. */
  #reopened(listening: Listening): void {
    this.#core.cache?.forget();
    listening.tellAll();
  }

  /** Opens it again, as often as the budget allows. Undefined where it is not wanted any more or cannot be had. */
  async #reopen(listening: Listening, life: AbortSignal, broken: Error): Promise<Ended | undefined> {
    let reason: unknown = broken;
    this.#reopening++;
    try {
      while (!this.#backoff.isSpent && !isFinal(reason) && !this.#core.line.isClosed) {
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

async function errorOf(running: Promise<void>): Promise<Error | undefined> {
  try {
    await running;
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** Whether trying again cannot help: the server refuses, or asks for what only a person can do. */
function isFinal(error: unknown): boolean {
  if (error instanceof ProtocolError) return true;
  return error instanceof LocalError && /^(unauthorized|unsupported_revision|not_capable|aborted)$/.test(error.code);
}
