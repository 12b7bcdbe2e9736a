import type { RequestId } from "../../rpc/messages.ts";
import type { SubscriptionFilter } from "../../mcp/subscriptions.ts";
import type { Connection } from "../connect/connection.ts";

/** The changes to subscribe to. */
export interface ListenFilter {
  tools?: boolean;
  prompts?: boolean;
  resources?: boolean;
  /** The URIs of the resources whose updates to subscribe to. */
  uris?: readonly string[];
}

/** A list of a server that can change. */
export type ListKind = "tools" | "prompts" | "resources";

/** A change on the server that a client subscribed to. */
export type Change = { kind: ListKind } | { kind: "updated"; uri: string };

/** A subscription to changes. */
export interface Subscription {
  /** The part of the filter that the server accepted. */
  readonly acknowledged: ListenFilter;
  /** Settles when it has ended: it was closed, the server ended it, or it could not be opened again. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export const listKinds: readonly ListKind[] = ["tools", "prompts", "resources"];

/** Wraps a promise that settles when a subscription ends, so that an async function can return it without waiting. */
export interface Ended {
  ended: Promise<void>;
}

/** The state of one subscription, also after it was opened again. */
export class Listening {
  readonly wanted: ListenFilter;
  readonly #onChange: (change: Change) => void;
  acknowledged: ListenFilter = {};
  /** The connection on which it is open. */
  connection: Connection | undefined;
  /** The id of its request in modern revisions. */
  id: RequestId | undefined;
  /** Called when the server acknowledges it. */
  onAcknowledged: ((filter: ListenFilter) => void) | undefined;
  /** Called when the server ends it. */
  onEnded: (() => void) | undefined;

  constructor(wanted: ListenFilter, onChange: (change: Change) => void) {
    this.wanted = wanted;
    this.#onChange = onChange;
  }

  emit(change: Change): void {
    this.#onChange(change);
  }

  /** Reports everything as changed, after a time in which changes may have been missed. */
  emitAll(): void {
    for (const kind of listKinds) if (this.acknowledged[kind]) this.emit({ kind });
    for (const uri of this.acknowledged.uris ?? []) this.emit({ kind: "updated", uri });
  }

  /** Whether a change without a subscription id is for this one. An update may be of a part of a subscribed resource. */
  wants(change: Change): boolean {
    if (change.kind !== "updated") return this.wanted[change.kind] === true;
    return this.wanted.uris?.some((uri) => change.uri.startsWith(uri)) === true;
  }
}

const members = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const;

export function toWire(filter: ListenFilter): SubscriptionFilter {
  const wire: SubscriptionFilter = {};
  for (const kind of listKinds) if (filter[kind]) wire[members[kind]] = true;
  if (filter.uris?.length) wire.resourceSubscriptions = [...filter.uris];
  return wire;
}

export function fromWire(wire: Record<string, unknown>): ListenFilter {
  const filter: ListenFilter = {};
  for (const kind of listKinds) if (wire[members[kind]] === true) filter[kind] = true;
  const { resourceSubscriptions: uris } = wire;
  if (Array.isArray(uris)) filter.uris = uris.filter((uri) => typeof uri === "string");
  return filter;
}
