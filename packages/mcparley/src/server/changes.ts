import type { JsonObject, JsonRpcNotification } from "../jsonrpc/messages.ts";
import { notification } from "../jsonrpc/messages.ts";
import { Notification } from "../protocol/methods.ts";
import type { SubscriptionFilter } from "../protocol/subscriptions.ts";

export type ListKind = "tools" | "prompts" | "resources";

/** Something that changed on the server: a list, or one resource. */
export type Change = { list: ListKind } | { uri: string };

/** Whoever wants to hear of changes: a session, or one `subscriptions/listen` stream. */
export interface Listener {
  wants(change: Change): boolean;
  deliver(change: Change): void;
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

  add(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get size(): number {
    return this.#listeners.size;
  }

  listChanged(list: ListKind): void {
    if (this.#listeners.size === 0) return;
    if (this.#lists.size === 0) {
      queueMicrotask(() => {
        const lists = [...this.#lists];
        this.#lists.clear();
        for (const changed of lists) this.#tell({ list: changed });
      });
    }
    this.#lists.add(list);
  }

  resourceUpdated(uri: string): void {
    this.#tell({ uri });
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) if (listener.wants(change)) listener.deliver(change);
  }
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

/** Whether a filter asks for a change. */
export function matches(filter: SubscriptionFilter, change: Change): boolean {
  if ("list" in change) return filter[filterKeys[change.list]] === true;
  return filter.resourceSubscriptions?.includes(change.uri) === true;
}
