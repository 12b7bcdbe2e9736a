import { type JsonObject, type JsonRpcNotification, notification } from "../../rpc/messages.ts";
import { requireWellFormed } from "../../rpc/well-formed.ts";
import { checkMetaKeys } from "../../mcp/checks/check-metadata.ts";
import { Notification } from "../../mcp/methods.ts";
import type { SubscriptionFilter } from "../../mcp/subscriptions.ts";

export type ListKind = "tools" | "prompts" | "resources";

/** A change on the server: of a list, or of one resource. */
export type Change = { list: ListKind } | { uri: string; _meta?: JsonObject };

/** A recipient of changes: a session, or one `subscriptions/listen` stream. */
export interface Listener {
  wants(change: Change): boolean;
  deliver(change: Change): void;
}

/** Sends changes between the processes that serve one server. */
export interface Relay {
  /** Sends a change of this process to the others. */
  send(this: void, change: Change): void;
  /** Resolves when this process receives the changes of the others. */
  join(this: void): Promise<void>;
  /** Resolves when the changes sent so far are stored, so that they outlive this process, or when the store is unavailable. */
  flushed(this: void): Promise<void>;
  /** Notifies the client of a session in the store that a visit is complete. Returns false if no session has the visit. */
  completeVisit?(this: void, elicitationId: string): Promise<boolean>;
}

/** The changes since the recording began: of each list and resource, the last one. */
export interface Recording {
  end(this: void): void;
  changes(this: void): Iterable<Change>;
}

const listMethods = {
  tools: Notification.toolsChanged,
  prompts: Notification.promptsChanged,
  resources: Notification.resourcesChanged,
} as const;

/** Delivers each change to the listeners that want it. Several changes of one list in one turn are delivered once. */
export class Changes {
  readonly #listeners = new Set<Listener>();
  readonly #lists = new Set<ListKind>();
  /** The relay to the other processes of the server. Undefined if there is none. */
  relay: Relay | undefined;
  /** Number of changes that were relayed to other processes. */
  count = 0;

  /** Relays changes to other processes, until the returned function is called. A server has one store, so one relay. */
  addRelay(relay: Relay): () => void {
    this.relay = relay;
    return () => {
      if (this.relay === relay) this.relay = undefined;
    };
  }

  add(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Records the changes from now on, for a listener that is not ready yet. */
  record(): Recording {
    const lastChanges = new Map<string, Change>();
    const end = this.add({ wants: () => true, deliver: (change) => void lastChanges.set(keyOf(change), change) });
    return { end, changes: () => lastChanges.values() };
  }

  get size(): number {
    return this.#listeners.size;
  }

  listChanged(list: ListKind): void {
    if (this.#listeners.size === 0 && !this.relay) return;
    if (this.#lists.size === 0) queueMicrotask(() => this.flush());
    this.#lists.add(list);
  }

  /** Delivers at once the changes of lists that wait for the end of the turn, so that they precede the reply to their call. */
  flush(): void {
    if (this.#lists.size === 0) return;
    const lists = [...this.#lists];
    this.#lists.clear();
    for (const list of lists) this.#announce({ list });
  }

  resourceUpdated(uri: string, _meta?: JsonObject): void {
    requireWellFormed(uri, "The URI");
    checkMetaKeys(_meta, `_meta of ${uri}`);
    this.#announce(_meta ? { uri, _meta } : { uri });
  }

  #announce(change: Change): void {
    this.deliver(change);
    if (!this.relay) return;
    this.count++;
    this.relay.send(change);
  }

  /** Delivers a change to the listeners of this process, without relaying it. */
  deliver(change: Change): void {
    for (const listener of this.#listeners) if (listener.wants(change)) listener.deliver(change);
  }
}

/** Returns the key of a change. Of two changes with the same key, the later one replaces the earlier. */
export function keyOf(change: Change): string {
  return "uri" in change ? `uri ${change.uri}` : change.list;
}

/** Returns the notification of a change. `meta` is the `_meta` that the stream adds. */
export function toNotification(change: Change, meta?: JsonObject): JsonRpcNotification {
  const method = "list" in change ? listMethods[change.list] : Notification.resourceUpdated;
  const params: JsonObject = {};
  if (meta) params._meta = meta;
  if ("uri" in change) {
    params.uri = change.uri;
    if (change._meta) params._meta = { ...change._meta, ...meta };
  }
  return Object.keys(params).length === 0 ? notification(method) : notification(method, params);
}

const filterKeys = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const;

/** Whether a filter asks for the changes of a list. */
export function wantsList(filter: SubscriptionFilter, list: ListKind): boolean {
  return filter[filterKeys[list]] === true;
}
