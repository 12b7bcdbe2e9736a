import { LocalError } from "../rpc/errors.ts";
import { principalKey } from "../server/dispatch/context.ts";
import { notified, openSession } from "../server/protocol/legacy.ts";
import type { ServerCore } from "../server/core.ts";
import { notification } from "../rpc/messages.ts";
import { Notification } from "../mcp/methods.ts";
import { findRevision } from "../mcp/revisions/index.ts";
import type { Store } from "../store/store.ts";
import type { Sender } from "../http/server/endpoint-context.ts";
import type { SessionOptions } from "../http/server/options.ts";
import { SessionShares, displaced, neverUsed, tableIsFull } from "../http/server/sessions/session-shares.ts";
import type { SessionTable } from "../http/server/sessions/sessions.ts";
import { ClusterNode, type Mail, type News } from "./cluster-node.ts";
import { type SessionRecord, type StateChange, initialRecord, madeReady } from "./session-record.ts";
import { SessionSeats } from "./session-seats.ts";
import { SessionStream } from "./session-stream.ts";
import { type SharedChanges, longestWait } from "./shared-changes.ts";
import { SharedSession } from "./shared-session.ts";

/** Number of renewals of a session in use, per idle timeout. */
const touchesPerLimit = 30;

/** Milliseconds by which a seat outlives the session's record, since it is written first. */
const margin = 1_000;

export interface SharedSessionsInit {
  core: ServerCore;
  store: Store;
  changes: SharedChanges;
  options: SessionOptions;
  /** Called when the client of a session resumed the stream of a reply on another node. */
  carried: (session: SharedSession, stream: string) => void;
}

/**
 * The legacy sessions of a server in several processes. Every endpoint can serve every request of every session.
 *
 * The store knows which sessions exist. Each request reads its session's record first, so a session that has ended on one
 * node has ended on all. This process has copies of the sessions that it serves, and releases a copy when it is idle here.
 */
export class SharedSessions implements SessionTable {
  readonly node: ClusterNode;
  readonly #init: SharedSessionsInit;
  readonly #copies = new Map<string, SharedSession>();
  readonly #idle: number;
  /** Counts the sessions of all processes. */
  readonly #seats: SessionSeats;
  /** Counts the memory of the copies in this process, and ends sessions that were opened here and never used. */
  readonly #shares: SessionShares<SharedSession>;
  readonly #unfollow: () => void;
  #copy = 0;
  #timer: unknown;

  constructor(init: SharedSessionsInit) {
    this.#init = init;
    const { core, store, options } = init;
    this.#idle = options.idle ?? 1_800_000;
    this.#shares = new SessionShares({
      clock: core.clock,
      options: { ...options, max: Infinity },
      onUnused: (copy) => this.#endUnused(copy),
    });
    this.node = new ClusterNode(core, store, {
      mail: (mail) => this.#take(mail),
      news: (news) => this.#hear(news),
    });
    this.#seats = new SessionSeats({
      store,
      clock: core.clock,
      node: this.node.id,
      max: options.max ?? 10_000,
      interval: this.#interval,
      useOf: (id) => {
        const copy = this.#copies.get(id);
        return copy && { used: !this.#shares.isUnused(copy), isBusy: copy.isBusy, lastUsed: copy.lastUsed };
      },
    });
    this.#unfollow = init.changes.followSessions((id) => this.#readAgain(id));
  }

  get size(): number {
    return this.#copies.size;
  }

  get retryAfter(): number {
    return Math.ceil(this.#interval / 1000);
  }

  prepare(caller: string): SharedSession | undefined {
    return this.#shares.hasRoomFor(caller) ? this.#make(crypto.randomUUID(), caller) : undefined;
  }

  async add(copy: SharedSession): Promise<void> {
    await this.#join();
    const { session } = copy;
    // The first use extends it. So an unused session ends even if its process dies.
    const ttl = Math.min(this.#shares.handshake, this.#idle);
    const hasRoom =
      (await this.#makeRoom(copy)) &&
      (await this.#seats.take(copy, ttl + margin, (id) => this.#endEverywhere(id, displaced)));
    if (!hasRoom) {
      copy.end(displaced);
      throw tableIsFull(this.retryAfter);
    }
    copy.openedAt = this.#init.changes.position;
    const owner = principalKey(session.principal);
    const text = JSON.stringify(initialRecord(session, { owner, changes: copy.openedAt, seat: copy.seat }));
    await this.#init.store.set(keyOf(copy.id), text, { ttl });
    copy.known = text;
    copy.touched = this.#init.core.clock.now();
    this.#keep(copy);
    this.#shares.open(copy);
  }

  async find(id: string, sender: Sender): Promise<SharedSession | undefined> {
    const { principal } = sender;
    await this.#join();
    const text = await this.#init.store.get(keyOf(id));
    if (text === undefined) {
      this.#end(id, new LocalError("closed", "The session has ended."));
      return undefined;
    }
    const copy = this.#copies.get(id);
    if (copy?.known === text && copy.belongsTo(principal)) return this.#used(copy);
    const record = JSON.parse(text) as SessionRecord;
    if (record.owner !== principalKey(principal)) return undefined;
    const found = copy ?? this.#restore(id, record, sender);
    if (!found) return undefined;
    if (found.known !== text) found.session.restore(record.state);
    found.known = text;
    return this.#used(found);
  }

  async delete(copy: SharedSession, cause: Error): Promise<void> {
    await this.#endEverywhere(copy.id, cause);
    copy.end(cause);
    await this.#seats.free(copy);
  }

  /** Ends the streams and calls of this process. The sessions stay in the store, for the other nodes. */
  async clear(cause: Error): Promise<void> {
    if (this.#timer !== undefined) this.#init.core.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#unfollow();
    this.#shares.stop();
    const copies = [...this.#copies.values()];
    this.#copies.clear();
    for (const copy of copies) copy.end(cause);
    await Promise.all(copies.map((copy) => copy.settled()));
    await this.node.leave();
  }

  async #join(): Promise<void> {
    await Promise.all([this.node.join(), this.#init.changes.join()]);
  }

  #make(id: string, caller: string): SharedSession {
    const { core, changes } = this.#init;
    return new SharedSession({
      id,
      now: core.clock.now(),
      caller,
      node: this.node,
      copy: this.#copy++,
      requestTtl: Math.max(60_000, 3 * this.#interval),
      change: (session, change) => this.#change(session, change),
      told: () => changes.told(longestWait),
      streamOf: (session) => new SessionStream({ session, node: this.node, changes, ttl: this.#idle }),
      onStream: (session) => void this.#touchSeat(session),
    });
  }

  /** Makes a copy of a session that another node opened, or that this one released before. */
  #restore(id: string, record: SessionRecord, sender: Sender): SharedSession | undefined {
    // A newer version of the library opened it, in a revision that this version does not know.
    if (!findRevision(record.initialize.protocolVersion)) return undefined;
    const { principal, address, caller } = sender;
    const copy = this.#make(id, caller);
    const way = { link: copy, principal, address, shared: copy.shared };
    try {
      copy.session = openSession(this.#init.core, record.initialize, way);
    } catch {
      // It exceeds the limits of this process. The client opens a new session, and gets the reason then.
      return undefined;
    }
    copy.openedAt = record.changes;
    copy.seat = record.seat;
    this.#keep(copy);
    return copy;
  }

  #keep(copy: SharedSession): void {
    this.#copies.set(copy.id, copy);
    this.#shares.add(copy);
    this.#timer ??= this.#init.core.clock.setTimeout(() => this.#sweep(), this.#interval);
  }

  #used(copy: SharedSession): SharedSession {
    copy.lastUsed = this.#init.core.clock.now();
    const isFirstUse = this.#shares.used(copy);
    this.#shares.makeRoomForGrowth(copy, (victim) => {
      this.#displace(victim).catch((error: unknown) => this.#init.core.report(error, undefined));
    });
    if (isFirstUse || copy.lastUsed - copy.touched >= this.#interval) void this.#touch(copy);
    return copy;
  }

  /** Releases copies until there is memory for one more. Returns false if there is none. */
  async #makeRoom(copy: SharedSession): Promise<boolean> {
    const displacing: Promise<void>[] = [];
    const hasRoom = this.#shares.makeRoomFor(copy, (victim) => displacing.push(this.#displace(victim)));
    await Promise.all(displacing);
    return hasRoom;
  }

  /**
   * Releases the copy of a session, whose memory is needed. An idle session stays in the store. An unused or busy one is
   * deleted there as well.
   */
  async #displace(victim: SharedSession): Promise<void> {
    const isUnused = this.#shares.isUnused(victim);
    const { isBusy } = victim;
    this.#release(victim);
    if (isBusy) return this.delete(victim, displaced);
    if (!isUnused) return;
    // Unless its client has continued on another process.
    const isDeleted = await this.#init.store.compareAndSet(keyOf(victim.id), victim.known, undefined, { ttl: 1 });
    if (!isDeleted) return;
    victim.end(displaced);
    await this.#seats.free(victim);
  }

  /** Ends an unused copy. Its record has expired, unless its client has continued on another process. */
  #endUnused(copy: SharedSession): void {
    this.#release(copy);
    const { core, store } = this.#init;
    const ended = store.get(keyOf(copy.id)).then((text) => text === undefined && copy.end(neverUsed));
    ended.catch((error: unknown) => core.report(error, undefined));
  }

  /** Forgets the copy of this process. */
  #release(copy: SharedSession): void {
    this.#copies.delete(copy.id);
    this.#shares.delete(copy);
  }

  /** Deletes a session from the store, and ends its copies on all nodes. */
  async #endEverywhere(id: string, cause: Error): Promise<void> {
    await this.#init.store.delete(keyOf(id));
    this.#end(id, cause);
    await this.node.announce({ about: "ended", session: id });
  }

  /** Restarts the idle timeout of a session in the store. Ends the copy if the session has ended elsewhere. */
  async #touch(copy: SharedSession): Promise<void> {
    const { core, store } = this.#init;
    const before = copy.touched;
    copy.touched = core.clock.now();
    try {
      const key = keyOf(copy.id);
      for (;;) {
        const text = await store.get(key);
        if (text === undefined) return this.#end(copy.id, new LocalError("closed", "The session has ended."));
        if (await store.compareAndSet(key, text, text, { ttl: this.#idle })) break;
      }
      await this.#touchSeat(copy);
      copy.outgoing.save();
    } catch (error) {
      copy.touched = before;
      core.report(error, undefined);
    }
  }

  /** Renews the seat of a session. A session that has lost its seat to another one ends. Never rejects. */
  async #touchSeat(copy: SharedSession): Promise<void> {
    try {
      // A change of its state extends the session's record between two renewals of its seat.
      if (!(await this.#seats.touch(copy, this.#idle + 2 * this.#interval)))
        await this.#endEverywhere(copy.id, displaced);
    } catch (error) {
      this.#init.core.report(error, undefined);
    }
  }

  async #change(copy: SharedSession, change: StateChange): Promise<void> {
    const key = keyOf(copy.id);
    for (;;) {
      const text = await this.#init.store.get(key);
      if (text === undefined) return;
      const record = JSON.parse(text) as SessionRecord;
      const state = change(record.state);
      // Another process may have subscribed as well, so the copy's own check is not enough.
      try {
        copy.session.checkSubscriptions(state.subscriptions);
      } catch (error) {
        copy.session.restore(record.state);
        throw error;
      }
      const changed = JSON.stringify({ ...record, state });
      if (!(await this.#init.store.compareAndSet(key, text, changed, { ttl: this.#idle }))) continue;
      copy.session.restore(state);
      copy.known = changed;
      // Other nodes need not know this one at once, and it would displace changes in their log.
      if (change === madeReady) return;
      // Before the acknowledgement, so that the owner of the stream knows it before any later change.
      return this.#init.changes.tellSession(copy.id);
    }
  }

  /** Reads a session's record again, if there is a copy of it here, because another node has changed it. */
  async #readAgain(id: string): Promise<void> {
    const copy = this.#copies.get(id);
    const text = copy && (await this.#init.store.get(keyOf(id)));
    if (!copy || text === undefined || text === copy.known) return;
    copy.session.restore((JSON.parse(text) as SessionRecord).state);
    copy.known = text;
  }

  #sweep(): void {
    this.#releaseIdle();
    for (const copy of this.#copies.values()) {
      if (!copy.isBusy) continue;
      void this.#touch(copy);
      copy.renewRequests();
    }
    const again = this.#copies.size > 0;
    this.#timer = again ? this.#init.core.clock.setTimeout(() => this.#sweep(), this.#interval) : undefined;
  }

  /** Releases the copies without a call or stream that were not used for the interval of a renewal. */
  #releaseIdle(): void {
    const now = this.#init.core.clock.now();
    for (const copy of this.#copies.values()) {
      if (!copy.isBusy && now - copy.lastUsed >= this.#interval && !this.#shares.isUnused(copy)) this.#release(copy);
    }
  }

  #end(id: string, cause: Error): void {
    const copy = this.#copies.get(id);
    if (!copy) return;
    this.#release(copy);
    copy.end(cause);
  }

  #take(mail: Mail): void {
    const copy = this.#copies.get(mail.session);
    if (!copy) return;
    if (mail.about === "heard") copy.heardElsewhere(mail.message);
    else if (mail.about === "outbox") copy.outgoing.arrived();
    else if (mail.about === "moved") copy.outgoing.moved();
    else if (mail.about === "free") copy.outgoing.freed();
    else if (mail.about === "carried") this.#init.carried(copy, mail.stream);
  }

  #hear(news: News): void {
    if (news.about === "ended") this.#end(news.session, new LocalError("closed", "The session has ended."));
    const copy = this.#copies.get(news.session);
    if (news.about === "cancelled" && copy) {
      notified(copy.session, notification(Notification.cancelled, news.params));
    }
  }

  get #interval(): number {
    return this.#idle / touchesPerLimit;
  }
}

function keyOf(id: string): string {
  return `session:${id}`;
}
