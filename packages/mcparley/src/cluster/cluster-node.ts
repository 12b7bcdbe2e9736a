import { repeat } from "../rpc/clock.ts";
import type { JsonObject, JsonRpcNotification, JsonRpcResponse } from "../rpc/messages.ts";
import type { Principal } from "../server/core/context.ts";
import type { ServerCore } from "../server/core/server-core.ts";
import { LogTail, appendAndNotify } from "../store/log-tail.ts";
import type { LogEntry, Store } from "../store/store.ts";

/**
 * The content of a message from one node to another. During a rolling update, nodes with another version of the library read
 * it, so the values of `about` must not change.
 */
type Content =
  /** The client's response to an input request of the receiving node, or its progress. */
  | { about: "heard"; message: JsonRpcResponse | JsonRpcNotification }
  /** The session's outbox has a message. */
  | { about: "outbox" }
  /** Another node owns the session's standalone stream now. */
  | { about: "moved" }
  /** No node owns the session's standalone stream. */
  | { about: "free" }
  /** The client resumed the stream of a reply on another node. */
  | { about: "carried"; stream: string }
  /** The client of an HTTP+SSE session posted a message to another node, which has validated it. */
  | { about: "posted"; value: unknown; principal: Principal | undefined };

/** A message from one node to another, about a session. */
export type NodeMessage = { session: string } & Content;

/** A message to all nodes: a session has ended, or its client cancelled a call, and the node of the call is not known. */
export type Broadcast = { session: string } & ({ about: "ended" } | { about: "cancelled"; params: JsonObject });

/** Receives the messages of other nodes. */
interface Receiver {
  onMessage(message: NodeMessage): void;
  onBroadcast(broadcast: Broadcast): void;
}

/**
 * Milliseconds after which a node that does not renew its lease counts as dead, and between two renewals. A node that cannot
 * reach the store for a moment misses some renewals.
 */
const nodeLease = 12_000;
export const renewalInterval: number = nodeLease / 4;
/** Milliseconds for which leases may be missing after the store was unavailable, because all nodes renew theirs first. */
const renewalGrace = 3 * renewalInterval;
/** Milliseconds between two reads of the logs without a notification. */
const pollInterval = 5_000;
/** Milliseconds for which messages are stored, and the maximum number in each log. */
const retention = { ttl: 60_000, maxLength: 10_000 };
/** Maximum length of a message in a log, in characters. A longer one gets a separate key, which is deleted after reading. */
const maxInlineLength = 16_384;
/** Ids that a node creates start with the node's id and a dot. */
const nodePattern = /^([0-9a-f]{16})\./;
const broadcastLog = "news";

/**
 * One endpoint of a server that runs in several processes. Other nodes can send it messages, and can check that it is alive.
 *
 * Messages are entries of logs: one inbox for each node, and one log of broadcasts for all. A lost notification only delays
 * a message until the next read.
 */
export class ClusterNode {
  readonly id: string = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
  readonly store: Store;
  readonly core: ServerCore;
  /** Reports an error that belongs to no call. */
  readonly report = (error: unknown): void => this.core.report(error, undefined);
  readonly #receiver: Receiver;
  readonly #inbox: LogTail;
  readonly #broadcasts: LogTail;
  #joining: Promise<void> | undefined;
  #stopRenewal: (() => void) | undefined;
  /** Time of the first of several failed renewals in a row. Undefined after one that succeeded. */
  #failingSince: number | undefined;
  #hasLeft = false;
  /** The time until which a missing lease does not mean that its node is dead. */
  #graceEndsAt = 0;

  constructor(core: ServerCore, store: Store, receiver: Receiver) {
    this.core = core;
    this.store = store;
    this.#receiver = receiver;
    const tail = { store, clock: core.clock, interval: pollInterval, report: this.report };
    this.#inbox = new LogTail({ ...tail, log: inboxOf(this.id), take: (entry) => this.#receive(entry) });
    this.#broadcasts = new LogTail({
      ...tail,
      log: broadcastLog,
      take: ({ value }) => receiver.onBroadcast(JSON.parse(value)),
    });
  }

  /** Starts to receive messages and to renew the lease, once. Rejects if the store is unavailable. */
  join(): Promise<void> {
    this.#joining ??= this.#join().catch((error: unknown) => {
      this.#joining = undefined;
      throw error;
    });
    return this.#joining;
  }

  /** Deletes the lease, so that the other nodes see at once that this one has ended. */
  async leave(): Promise<void> {
    this.#hasLeft = true;
    this.#stopRenewal?.();
    if (!this.#joining) return;
    await Promise.all([this.#inbox.stop(), this.#broadcasts.stop()]);
    await this.store.delete(leaseOf(this.id)).catch(this.report);
  }

  /** Returns false if a node has ended, or has not renewed its lease. */
  async isAlive(node: string): Promise<boolean> {
    if (node === this.id || (await this.store.get(leaseOf(node))) !== undefined) return true;
    return this.core.clock.now() < this.#graceEndsAt;
  }

  /** Sends a message to another node. Resolves when the message is in its inbox. */
  async send(node: string, message: NodeMessage): Promise<void> {
    const inbox = inboxOf(node);
    const text = JSON.stringify(message);
    if (text.length <= maxInlineLength)
      return void (await appendAndNotify(this.store, inbox, { value: text, ...retention }));
    const key = `${inbox}:${crypto.randomUUID()}`;
    await this.store.set(key, text, retention);
    await appendAndNotify(this.store, inbox, { value: JSON.stringify({ beside: key }), ...retention });
  }

  /** Sends a message to all nodes. Resolves when the message is in the log that they read. */
  async broadcast(broadcast: Broadcast): Promise<void> {
    await appendAndNotify(this.store, broadcastLog, { value: JSON.stringify(broadcast), ...retention });
  }

  async #join(): Promise<void> {
    // Broadcasts from before this node existed do not concern it.
    const now = await this.store.append(broadcastLog, JSON.stringify({ about: "joined" }), retention);
    await Promise.all([this.#inbox.start(undefined), this.#broadcasts.start(now), this.#renewLease()]);
    // The store may have been unavailable until now.
    this.#startGrace();
    if (!this.#hasLeft) this.#stopRenewal = repeat(this.core.clock, renewalInterval, () => void this.#renewOrReport());
  }

  async #receive({ value }: LogEntry): Promise<void> {
    // Only nodes write messages, so they are not checked. A long one is in the key that `beside` names.
    const message: NodeMessage | { beside: string } = JSON.parse(value);
    if (!("beside" in message)) return this.#receiver.onMessage(message);
    const text = await this.store.get(message.beside);
    if (text === undefined) return;
    this.#receiver.onMessage(JSON.parse(text));
    // If this fails, the value expires.
    await this.store.delete(message.beside).catch(this.report);
  }

  async #renewLease(): Promise<void> {
    await this.store.set(leaseOf(this.id), "", { ttl: nodeLease });
  }

  /** Renews the lease. Reports the first of several failures in a row. */
  async #renewOrReport(): Promise<void> {
    try {
      await this.#renewLease();
      this.#failingSince = undefined;
    } catch (error) {
      const now = this.core.clock.now();
      if (this.#failingSince === undefined) this.report(error);
      this.#failingSince ??= now;
      // In a shorter time the lease of no other node expires.
      if (now - this.#failingSince >= nodeLease / 2) this.#startGrace();
    }
  }

  #startGrace(): void {
    this.#graceEndsAt = this.core.clock.now() + renewalGrace;
  }
}

/** Returns the id of the node that created an id. Undefined for other ids. */
export function nodeOf(id: unknown): string | undefined {
  return typeof id === "string" ? nodePattern.exec(id)?.[1] : undefined;
}

function inboxOf(node: string): string {
  return `mail:${node}`;
}

function leaseOf(node: string): string {
  return `alive:${node}`;
}
