import type { JsonObject, JsonRpcNotification } from "../rpc/messages.ts";
import { notification } from "../rpc/messages.ts";
import { Notification } from "../mcp/methods.ts";
import type { SubscriptionFilter } from "../mcp/subscriptions.ts";

export type ListKind = "tools" | "prompts" | "resources";

/** Something that changed on the server: a list, or one resource. */
export type Change = { list: ListKind } | { uri: string };

/** Whoever wants to hear of changes: a session, or one `subscriptions/listen` stream. */
export interface Listener {
  wants(change: Change): boolean;
  deliver(change: Change): void;
}

/** Carries changes between the processes that serve one server. */
export interface Relay {
  /** Sends a change of this process to the others. */
  tell(this: void, change: Change): void;
  /** Resolves when changes of the other processes arrive here. */
  join(this: void): Promise<void>;
  /** Resolves when the changes sent so far would outlive this process, or when the store is unavailable. */
  told(this: void): Promise<void>;
}

/** What changed since the recording began, each thing once. */
export interface Recording {
  end(this: void): void;
  kept(this: void): Iterable<Change>;
}

const listMethods = {
  tools: Notification.toolsChanged,
  prompts: Notification.promptsChanged,
  resources: Notification.resourcesChanged,
} as const;

/** Tells each listener of each change that it wants; several changes of one list in one turn are told once. */
export class Changes {
  readonly #listeners = new Set<Listener>();
  readonly #lists = new Set<ListKind>();
  #relay: Relay | undefined;
  /** Number of changes that were relayed to other processes. */
  count = 0;

  /** The relay to the other processes of the server. Undefined if there is none. */
  get elsewhere(): Relay | undefined {
    return this.#relay;
  }

  /** Relays changes to other processes, until the returned function is called. A server has one store, so one relay. */
  addRelay(relay: Relay): () => void {
    this.#relay = relay;
    return () => {
      if (this.#relay === relay) this.#relay = undefined;
    };
  }

  add(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Keeps what changes from now on, for one whose listener is not ready yet. */
  record(): Recording {
    const kept = new Map<string, Change>();
    const end = this.add({ wants: () => true, deliver: (change) => void kept.set(keyOf(change), change) });
    return { end, kept: () => kept.values() };
  }

  get size(): number {
    return this.#listeners.size;
  }

  listChanged(list: ListKind): void {
    if (this.#listeners.size === 0 && !this.#relay) return;
    if (this.#lists.size === 0) queueMicrotask(() => this.flush());
    this.#lists.add(list);
  }

  /** Tells at once what would be told at the end of the turn, as before the answer to the call that changed it. */
  flush(): void {
    if (this.#lists.size === 0) return;
    const lists = [...this.#lists];
    this.#lists.clear();
    for (const changed of lists) this.#changed({ list: changed });
  }

  resourceUpdated(uri: string): void {
    this.#changed({ uri });
  }

  #changed(change: Change): void {
    this.tell(change);
    if (!this.#relay) return;
    this.count++;
    this.#relay.tell(change);
  }

  /** Tells those in this process alone, as of what changed in another. */
  tell(change: Change): void {
    for (const listener of this.#listeners) if (listener.wants(change)) listener.deliver(change);
  }
}

/** What tells changes apart: of two with the same key the later says no more than the one before. */
export function keyOf(change: Change): string {
  return "uri" in change ? `uri ${change.uri}` : change.list;
}

/** The notification for a change; `meta` is what the stream that carries it adds. */
export function toNotification(change: Change, meta?: JsonObject): JsonRpcNotification {
  const method = "list" in change ? listMethods[change.list] : Notification.resourceUpdated;
  const params: JsonObject = {};
  if (meta) params._meta = meta;
  if ("uri" in change) params.uri = change.uri;
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
