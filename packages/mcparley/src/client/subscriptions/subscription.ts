import { Backoff } from "../../rpc/backoff.ts";
import type { Clock } from "../../rpc/clock.ts";
import type { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, type RequestId, isObject } from "../../rpc/messages.ts";
import { MetaKey, Notification } from "../../mcp/methods.ts";
import { isPartOf } from "../../mcp/resources.ts";
import type { SubscriptionFilter } from "../../mcp/subscriptions.ts";
import type { ClientConnection } from "../connect/client-connection.ts";

/** The changes to subscribe to. */
export interface ListenFilter {
  /** Receive changes of the list of tools. Default: false. */
  tools?: boolean;
  /** Receive changes of the list of prompts. Default: false. */
  prompts?: boolean;
  /** Receive changes of the lists of resources and templates. Default: false. */
  resources?: boolean;
  /** URIs of the resources whose updates to receive. Default: none. */
  uris?: readonly string[];
  /** The part of the subscription that an extension defines. */
  extension?: ListenExtension;
}

/** The part of a subscription that an extension defines, such as the tasks to follow. */
export interface ListenExtension {
  /** The members that it adds to the filter in modern revisions, such as `{ taskIds: ["1"] }`. */
  readonly filter: JsonObject;
  /**
   * Called with each notification of the subscription other than changes. In legacy revisions, notifications belong to no
   * subscription, so it is called with all of them.
   */
  notified(this: void, method: string, params: JsonObject): void;
  /** Called when the subscription was opened again. Notifications may have been missed. */
  missed?(this: void): void;
}

/** A list of a server that can change. */
export type ListKind = "tools" | "prompts" | "resources";

/** A change on the server that a client subscribed to. */
export type ServerChange = (
  | {
      /** The list that changed. */
      kind: ListKind;
    }
  | {
      kind: "updated";
      /** URI of the resource that changed. */
      uri: string;
    }
) & {
  /** The `_meta` of the notification, without the members that belong to the subscription. */
  readonly _meta?: JsonObject;
};

/** A subscription to changes on the server, made by `client.listen`. */
export interface Subscription {
  /** The part of the filter that the server accepted. */
  readonly acknowledged: ListenFilter;
  /**
   * Resolves when the subscription has ended: with undefined after `close` of the subscription or of the client, otherwise
   * with the reason, which `onError` receives as well. It never rejects.
   */
  readonly closed: Promise<LocalError | undefined>;
  /** Ends the subscription. Resolves when it has ended. */
  close(): Promise<void>;
}

export const listKinds: readonly ListKind[] = ["tools", "prompts", "resources"];

/** A subscription while it is open on a connection. */
export interface Opened {
  /** Resolves with the reason when it is no longer open. Never rejects. */
  readonly end: Promise<Error>;
}

/** The state of one subscription, also while it is opened again. */
export class SubscriptionState {
  readonly filter: ListenFilter;
  /** Milliseconds to wait for each answer of the server. */
  readonly idle: number;
  /** Aborted when the subscription ends. */
  readonly life: AbortController = new AbortController();
  /** The attempts to open it again on a connection that is open. */
  readonly backoff: Backoff;
  readonly #onChange: (change: ServerChange) => void;
  acceptedFilter: ListenFilter = {};
  /** Whether it broke and is being opened again. */
  isReopening = false;
  /** The connection on which it is open. */
  connection: ClientConnection | undefined;
  /** The id of its request in modern revisions. */
  id: RequestId | undefined;
  /** Called when the server acknowledges it. */
  onAcknowledged: ((filter: ListenFilter) => void) | undefined;
  /** Called with the reason when the server ends it, or when its connection is lost. */
  onEnded: ((reason: Error) => void) | undefined;

  constructor(filter: ListenFilter, { clock, idle, onChange }: StateInit) {
    this.filter = filter;
    this.idle = idle;
    this.backoff = new Backoff(clock, this.life.signal);
    this.#onChange = onChange;
  }

  emit(change: ServerChange): void {
    if (!this.life.signal.aborted) this.#onChange(change);
  }

  /** Reports each list and resource of the subscription as changed. Called when changes may have been missed. */
  emitAll(): void {
    for (const kind of listKinds) if (this.acceptedFilter[kind]) this.emit({ kind });
    for (const uri of this.acceptedFilter.uris ?? []) this.emit({ kind: "updated", uri });
    if (!this.life.signal.aborted) this.filter.extension?.missed?.();
  }

  /** Whether a change without a subscription id is for this one. An update may be of a part of a subscribed resource. */
  wants(change: ServerChange): boolean {
    if (change.kind !== "updated") return this.filter[change.kind] === true;
    return this.filter.uris?.some((uri) => isPartOf(change.uri, uri)) === true;
  }
}

interface StateInit {
  clock: Clock;
  idle: number;
  onChange: (change: ServerChange) => void;
}

const members = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const;

/** Returns the filter in the form of the specification. */
export function toWire(filter: ListenFilter): SubscriptionFilter & JsonObject {
  const wire: SubscriptionFilter & JsonObject = { ...filter.extension?.filter };
  for (const kind of listKinds) if (filter[kind]) wire[members[kind]] = true;
  if (filter.uris?.length) wire.resourceSubscriptions = [...filter.uris];
  return wire;
}

/** Reads the filter that the server has acknowledged. Ignores malformed members. */
export function fromWire(wire: Record<string, unknown>): ListenFilter {
  const filter: ListenFilter = {};
  for (const kind of listKinds) if (wire[members[kind]] === true) filter[kind] = true;
  const { resourceSubscriptions: uris } = wire;
  if (Array.isArray(uris)) filter.uris = uris.filter((uri) => typeof uri === "string");
  return filter;
}

const changedLists: Record<string, ListKind> = {
  [Notification.toolsChanged]: "tools",
  [Notification.promptsChanged]: "prompts",
  [Notification.resourcesChanged]: "resources",
};

/** Returns the change that a notification announces. Undefined for other notifications. */
export function readChange(method: string, { uri, _meta }: JsonObject): ServerChange | undefined {
  const meta = readMeta(_meta);
  if (method === Notification.resourceUpdated)
    return typeof uri === "string" ? { kind: "updated", uri, ...meta } : undefined;
  const kind = Object.hasOwn(changedLists, method) ? changedLists[method] : undefined;
  return kind && { kind, ...meta };
}

function readMeta(meta: unknown): { _meta?: JsonObject } {
  if (!isObject(meta)) return {};
  const { [MetaKey.subscriptionId]: _, ..._meta } = meta;
  return Object.keys(_meta).length > 0 ? { _meta } : {};
}
