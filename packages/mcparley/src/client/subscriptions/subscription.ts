import type { RequestId } from "../../rpc/messages.ts";
import type { SubscriptionFilter } from "../../mcp/subscriptions.ts";
import type { Channel } from "../connect/connection.ts";

/** Which changes are wanted. */
export interface ListenFilter {
  tools?: boolean;
  prompts?: boolean;
  resources?: boolean;
  /** The resources whose updates are wanted. */
  uris?: readonly string[];
}

export type ListKind = "tools" | "prompts" | "resources";
export type Change = { kind: ListKind } | { kind: "updated"; uri: string };

/** Changes that are being listened to. */
export interface Subscription {
  /** What of the filter the server tells of; the rest it has not declared. */
  readonly acknowledged: ListenFilter;
  /** Settles when it has ended: closed here, ended by the server, or not to be reopened any more. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export const listKinds: readonly ListKind[] = ["tools", "prompts", "resources"];

/** Wraps a promise so that it can be awaited later: it settles when a subscription ended in an orderly way. */
export interface Ended {
  ended: Promise<void>;
}

/** One subscription, through all the times it is opened. */
export class Listening {
  readonly wanted: ListenFilter;
  readonly #onChange: (change: Change) => void;
  acknowledged: ListenFilter = {};
  /** Where it is open: on a modern revision by the id of its request. */
  channel: Channel | undefined;
  id: RequestId | undefined;
  /** Called when the server acknowledges it. */
  onAcknowledged: ((filter: ListenFilter) => void) | undefined;
  /** Called when the server ends it. */
  onEnded: (() => void) | undefined;

  constructor(wanted: ListenFilter, onChange: (change: Change) => void) {
    this.wanted = wanted;
    this.#onChange = onChange;
  }

  tell(change: Change): void {
    this.#onChange(change);
  }

  /** Tells of everything once, as after a time in which changes may have been missed. */
  tellAll(): void {
    for (const kind of listKinds) if (this.acknowledged[kind]) this.tell({ kind });
    for (const uri of this.acknowledged.uris ?? []) this.tell({ kind: "updated", uri });
  }

  /** Whether a change that names no subscription is for this one; an update may be of a part of what was subscribed. */
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
