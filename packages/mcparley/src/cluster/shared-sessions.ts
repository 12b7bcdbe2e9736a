import { LocalError } from "../rpc/errors.ts";
import { principalKey } from "../server/core/context.ts";
import { openSession } from "../server/protocol/legacy.ts";
import type { ServerCore } from "../server/core/server-core.ts";
import type { SessionEnd } from "../server/core/observer.ts";
import { notification } from "../rpc/messages.ts";
import { Notification } from "../mcp/methods.ts";
import { findRevision } from "../mcp/revisions/index.ts";
import type { Store } from "../store/store.ts";
import type { Sender } from "../http/server/endpoint-context.ts";
import type { SessionOptions } from "../http/server/options.ts";
import {
  defaultMaxSessions,
  displacedError,
  neverUsedError,
  tableIsFull,
} from "../http/server/sessions/session-shares.ts";
import { type SessionTable, defaultIdleTimeout } from "../http/server/sessions/sessions.ts";
import { type Broadcast, ClusterNode, type NodeMessage } from "./cluster-node.ts";
import { SessionCopies } from "./session-copies.ts";
import { type SessionRecord, parseRecord, StoredSessions } from "./stored-sessions.ts";
import type { SharedChanges } from "./shared-changes.ts";
import { SharedSession } from "./shared-session.ts";

/** Number of renewals of a session in use, per idle timeout. */
const renewalsPerTimeout = 30;

interface SharedSessionsInit {
  core: ServerCore;
  store: Store;
  changes: SharedChanges;
  options: SessionOptions;
  /** Called when the client of a session resumed the stream of a reply on another node. */
  onResumedElsewhere: (session: SharedSession, stream: string) => void;
}

/**
 * The legacy sessions of a server that runs in several processes. Every endpoint can serve every request of every session.
 *
 * The store has a record of each session (`StoredSessions`), and each request reads it first. A session that has ended on
 * one node has therefore ended on all. This process has copies of the sessions that it serves (`SessionCopies`).
 *
 * ```mermaid
 * stateDiagram-v2
 *   state "a record and a copy" as copied
 *   state "a record, no copy here" as released
 *   [*] --> copied: initialize has succeeded here (add)
 *   [*] --> released: another node opened the session
 *   released --> copied: a request of the session reaches this node (find)
 *   copied --> released: idle here for one renewal interval, or its memory is needed (SessionCopies)
 *   copied --> ended: DELETE, displaced, or no seat, on this node (delete)
 *   copied --> ended: another node ended it (onBroadcast), or the record has expired (find, renew)
 *   released --> ended: another node ended it, or the record has expired
 *   ended --> [*]
 * ```
 */
export class SharedSessions implements SessionTable {
  readonly node: ClusterNode;
  readonly #init: SharedSessionsInit;
  readonly #idle: number;
  readonly #copies: SessionCopies;
  readonly #sessionStore: StoredSessions;
  readonly #unfollow: () => void;
  #hasJoined = false;
  /** Number of copies that this table has made. */
  #copyCount = 0;

  constructor(init: SharedSessionsInit) {
    this.#init = init;
    const { core, store, changes, options } = init;
    this.#idle = options.idle ?? defaultIdleTimeout;
    this.#copies = new SessionCopies({
      clock: core.clock,
      options,
      interval: this.#interval,
      onUnused: (copy) => this.#onUnused(copy),
      onBusy: (copy) => {
        void this.#sessionStore.renew(copy);
        copy.requests.renew();
      },
    });
    this.node = new ClusterNode(core, store, {
      onMessage: (message) => this.#onMessage(message),
      onBroadcast: (broadcast) => this.#onBroadcast(broadcast),
    });
    this.#sessionStore = new StoredSessions({
      node: this.node,
      changes,
      max: options.max ?? defaultMaxSessions,
      idle: this.#idle,
      interval: this.#interval,
      useOf: (id) => {
        const copy = this.#copies.get(id);
        if (!copy) return undefined;
        const { isBusy, lastUsed, caller, record } = copy;
        return { isBusy, lastUsed, isOpening: record === "", ofCaller: this.#copies.shares.countOf(caller) };
      },
      endCopy: (id, cause) => this.#endCopy(id, cause),
    });
    this.#unfollow = changes.followSessions(async (id) => {
      const copy = this.#copies.get(id);
      if (copy) await this.#sessionStore.refresh(copy);
    });
  }

  get size(): number {
    return this.#copies.size;
  }

  get retryAfter(): number {
    return Math.ceil(this.#interval / 1000);
  }

  prepare(caller: string): SharedSession | undefined {
    return this.#copies.shares.hasRoomFor(caller) ? this.#makeCopy(crypto.randomUUID(), caller) : undefined;
  }

  async add(copy: SharedSession): Promise<void> {
    await this.#join();
    if (await this.#makeRoom(copy)) {
      // Counted before it is stored, so that concurrent requests of its caller count each other.
      this.#copies.open(copy);
      try {
        if (await this.#sessionStore.create(copy, this.#copies.shares.handshake)) return;
      } catch (error) {
        this.#copies.release(copy);
        throw error;
      }
      this.#copies.release(copy);
    }
    copy.end(displacedError);
    throw tableIsFull(this.retryAfter);
  }

  async find(id: string, sender: Sender): Promise<SharedSession | undefined> {
    if (!this.#hasJoined) await this.#join();
    const text = await this.#sessionStore.read(id);
    if (text === undefined) {
      this.#endCopy(id);
      return undefined;
    }
    const copy = this.#copies.get(id);
    if (copy?.record === text && copy.belongsTo(sender.principal)) return this.#use(copy);
    const record = parseRecord(text);
    if (record.owner !== principalKey(sender.principal)) return undefined;
    const current = copy ?? this.#restore(id, record, sender);
    if (!current) return undefined;
    if (current.record !== text) current.apply(text, record.state);
    return this.#use(current);
  }

  async delete(copy: SharedSession, cause: Error): Promise<void> {
    await this.#sessionStore.delete(copy.id, cause);
    copy.end(cause);
    await this.#sessionStore.freeSeat(copy);
  }

  /** Ends the streams and calls of this process. The sessions stay in the store, for the other nodes. */
  async clear(cause: Error): Promise<void> {
    this.#unfollow();
    const copies = this.#copies.clear();
    for (const copy of copies) copy.leave(cause);
    await Promise.all(copies.map((copy) => copy.waitForWrites()));
    await this.node.leave();
  }

  async #join(): Promise<void> {
    await Promise.all([this.node.join(), this.#init.changes.join()]);
    this.#hasJoined = true;
  }

  #makeCopy(id: string, caller: string): SharedSession {
    return new SharedSession({
      id,
      caller,
      node: this.node,
      sessionStore: this.#sessionStore,
      changes: this.#init.changes,
      copy: this.#copyCount++,
      idle: this.#idle,
      requestTtl: Math.max(60_000, 3 * this.#interval),
      onEnded: (session, end) => void this.#report(session, end),
    });
  }

  /** Makes a copy of a session that another node opened, or that this one released before. */
  #restore(id: string, record: SessionRecord, sender: Sender): SharedSession | undefined {
    // A node with a newer version of the library opened it, in a revision that this version does not know.
    if (!findRevision(record.initialize.protocolVersion)) return undefined;
    const { principal, address, caller } = sender;
    const copy = this.#makeCopy(id, caller);
    const source = { link: copy, principal, address, sharing: copy.sharing };
    try {
      copy.session = openSession(this.#init.core, record.initialize, source);
    } catch {
      // It exceeds the limits of this process. The client opens a new session, and gets the reason then.
      return undefined;
    }
    copy.openedAt = record.changes;
    copy.seat = record.seat;
    copy.startedAt = record.since ?? copy.startedAt;
    this.#copies.restore(copy);
    return copy;
  }

  #use(copy: SharedSession): SharedSession {
    const mustRenew = this.#copies.use(copy, (victim) => {
      this.#displace(victim).catch(this.node.report);
    });
    if (mustRenew) void this.#sessionStore.renew(copy);
    return copy;
  }

  /** Displaces copies until there is memory for one more. Returns false if there is none. */
  async #makeRoom(copy: SharedSession): Promise<boolean> {
    const displacing: Promise<void>[] = [];
    const hasRoom = this.#copies.shares.makeRoomFor(copy, (victim) => displacing.push(this.#displace(victim)));
    await Promise.all(displacing);
    return hasRoom;
  }

  /** Releases a copy whose memory is needed. An idle session stays in the store. An unused or busy one is deleted. */
  async #displace(victim: SharedSession): Promise<void> {
    const isUnused = this.#copies.shares.isUnused(victim);
    const { isBusy } = victim;
    this.#copies.release(victim);
    if (isBusy) return this.delete(victim, displacedError);
    if (!isUnused) return;
    // Fails if the client has continued on another process.
    if (!(await this.#sessionStore.deleteUnchanged(victim))) return;
    victim.end(displacedError);
    await this.#sessionStore.freeSeat(victim);
  }

  /** Ends an unused copy. Its record has expired, unless its client has continued on another process. */
  #onUnused(copy: SharedSession): void {
    const check = this.#sessionStore.read(copy.id).then((text) => text === undefined && copy.end(neverUsedError));
    check.catch(this.node.report);
  }

  #endCopy(id: string, cause?: Error): void {
    const copy = this.#copies.get(id);
    if (!copy) return;
    this.#copies.release(copy);
    copy.end(cause ?? hasEnded());
  }

  /** Reports the end of a session to the observers, unless another node has noticed it first. Never rejects. */
  async #report({ id, startedAt }: SharedSession, end: SessionEnd): Promise<void> {
    const { core } = this.#init;
    if (!core.observers) return;
    const durationMs = core.clock.now() - startedAt;
    try {
      if (await this.#sessionStore.claimEnd(id)) core.sessionEnded({ ...end, durationMs });
    } catch (error) {
      this.node.report(error);
    }
  }

  #onMessage(message: NodeMessage): void {
    const copy = this.#copies.get(message.session);
    if (!copy) return;
    if (message.about === "heard") copy.receiveForwarded(message.message);
    else if (message.about === "outbox") copy.delivery.outboxChanged();
    else if (message.about === "moved") copy.delivery.ownerChanged();
    else if (message.about === "free") copy.delivery.ownerReleased();
    else if (message.about === "carried") this.#init.onResumedElsewhere(copy, message.stream);
  }

  #onBroadcast(broadcast: Broadcast): void {
    const copy = this.#copies.get(broadcast.session);
    if (broadcast.about === "ended") {
      if (!copy) return;
      this.#copies.release(copy);
      copy.leave(hasEnded());
    } else if (broadcast.about === "cancelled" && copy) {
      copy.session.receiveNotification(notification(Notification.cancelled, broadcast.params));
    }
  }

  get #interval(): number {
    return this.#idle / renewalsPerTimeout;
  }
}

function hasEnded(): LocalError {
  return new LocalError("closed", "The session has ended.");
}
