import { LocalError } from "../rpc/errors.ts";
import { principalKey } from "../server/dispatch/context.ts";
import { notified, openSession } from "../server/protocol/legacy.ts";
import type { ServerCore } from "../server/dispatch/core.ts";
import { notification } from "../rpc/messages.ts";
import { Notification } from "../mcp/methods.ts";
import { findRevision } from "../mcp/revisions/revisions.ts";
import type { Store } from "../store/store.ts";
import type { Sender } from "../http/server/endpoint-context.ts";
import type { SessionOptions } from "../http/server/options.ts";
import { SessionShares, displaced, neverUsed, tableIsFull } from "../http/server/sessions/session-shares.ts";
import type { SessionTable } from "../http/server/sessions/sessions.ts";
import { ClusterNode, type Mail, type News } from "./cluster-node.ts";
import { type SessionRecord, type StateChange, initialRecord, madeReady } from "./session-record.ts";
import { SessionStream } from "./session-stream.ts";
import { type SharedChanges, longestWait } from "./shared-changes.ts";
import { SharedSession } from "./shared-session.ts";

/** How often, within an idle limit, the store is told that a session is in use. */
const touchesPerLimit = 30;

export interface SharedSessionsInit {
  core: ServerCore;
  store: Store;
  changes: SharedChanges;
  options: SessionOptions;
  /** Called when another node carries an answer of a session. */
  carried: (session: SharedSession, stream: string) => void;
}

/**
 * The legacy sessions that all endpoints share that share a store: any of them serves any request of any session.
 *
 * The store says what sessions there are, and each request looks there first, so that one that has ended has ended
 * everywhere at once. What is in this process is a copy, and is let go where nothing of the session goes on here.
 */
export class SharedSessions implements SessionTable {
  readonly node: ClusterNode;
  readonly #init: SharedSessionsInit;
  readonly #copies = new Map<string, SharedSession>();
  readonly #idle: number;
  readonly #shares: SessionShares<SharedSession>;
  readonly #unfollow: () => void;
  #copy = 0;
  #timer: unknown;

  constructor(init: SharedSessionsInit) {
    this.#init = init;
    const { core, options } = init;
    this.#idle = options.idle ?? 1_800_000;
    this.#shares = new SessionShares({ clock: core.clock, options, onUnused: (copy) => this.#endUnused(copy) });
    this.node = new ClusterNode(init.core, init.store, {
      mail: (mail) => this.#take(mail),
      news: (news) => this.#hear(news),
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
    copy.openedAt = this.#init.changes.position;
    const record = initialRecord(session, principalKey(session.principal), copy.openedAt);
    const text = JSON.stringify(record);
    // The first use extends it. So an unused session ends though its process dies.
    const ttl = Math.min(this.#shares.handshake, this.#idle);
    await this.#init.store.set(this.#keyOf(copy.id), text, { ttl });
    copy.known = text;
    copy.touched = this.#init.core.clock.now();
    await this.#makeRoom(copy);
    this.#keep(copy);
    this.#shares.open(copy);
  }

  async find(id: string, sender: Sender): Promise<SharedSession | undefined> {
    const { principal } = sender;
    await this.#join();
    const text = await this.#init.store.get(this.#keyOf(id));
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

  delete(copy: SharedSession, cause: Error): Promise<void> {
    return this.#delete(copy, cause);
  }

  async #delete(copy: SharedSession, cause: Error): Promise<void> {
    const { id } = copy;
    await this.#init.store.delete(this.#keyOf(id));
    this.#end(id, cause);
    copy.end(cause);
    await this.node.announce({ about: "ended", session: id });
  }

  /** Ends what goes on in this process. The sessions stay where they are, for the other nodes. */
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
      change: (session, change) => this.#change(session, change),
      told: () => changes.told(longestWait),
      streamOf: (session) => new SessionStream({ session, node: this.node, changes, ttl: this.#idle }),
    });
  }

  /** Takes up a session that another node opened, or this one before it let it go. */
  #restore(id: string, record: SessionRecord, sender: Sender): SharedSession | undefined {
    // Opened by a newer version of the library, in a revision that this one has not got.
    if (!findRevision(record.initialize.protocolVersion)) return undefined;
    const { principal, address, caller } = sender;
    const copy = this.#make(id, caller);
    const way = { link: copy, principal, address, shared: copy.shared };
    try {
      copy.session = openSession(this.#init.core, record.initialize, way);
    } catch {
      // Larger than the limits of this process. The client opens a new session, and is told so there.
      return undefined;
    }
    copy.openedAt = record.changes;
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

  /**
   * Lets sessions give way if the table is full. An idle one stays in the store, and only its copy here is released;
   * others are deleted from the store as well.
   */
  async #makeRoom(copy: SharedSession): Promise<void> {
    const displacing: Promise<void>[] = [];
    const hasRoom = this.#shares.makeRoomFor(copy, (victim) => displacing.push(this.#displace(victim)));
    await Promise.all(displacing);
    if (hasRoom) return;
    await this.#delete(copy, displaced);
    throw tableIsFull(this.retryAfter);
  }

  /** Releases the copy of a session at once, and then deletes its record unless the session is idle. */
  async #displace(victim: SharedSession): Promise<void> {
    const isUnused = this.#shares.isUnused(victim);
    const { isBusy } = victim;
    this.#release(victim);
    if (isBusy) return this.#delete(victim, displaced);
    if (!isUnused) return;
    // Unless its client has gone on with another process.
    const isDeleted = await this.#init.store.compareAndSet(this.#keyOf(victim.id), victim.known, undefined, { ttl: 1 });
    if (isDeleted) victim.end(displaced);
  }

  /** Ends a copy of which nothing was heard. Its record has expired, unless its client has gone on with another process. */
  #endUnused(copy: SharedSession): void {
    this.#release(copy);
    const { core, store } = this.#init;
    const ended = store.get(this.#keyOf(copy.id)).then((text) => text === undefined && copy.end(neverUsed));
    ended.catch((error: unknown) => core.report(error, undefined));
  }

  /** Releases the copy of this process. */
  #release(copy: SharedSession): void {
    this.#copies.delete(copy.id);
    this.#shares.delete(copy);
  }

  /** Starts the session's idle time anew. One that has ended elsewhere ends here. */
  async #touch(copy: SharedSession): Promise<void> {
    const { core, store } = this.#init;
    const before = copy.touched;
    copy.touched = core.clock.now();
    try {
      const key = this.#keyOf(copy.id);
      for (;;) {
        const text = await store.get(key);
        if (text === undefined) return this.#end(copy.id, new LocalError("closed", "The session has ended."));
        if (await store.compareAndSet(key, text, text, { ttl: this.#idle })) break;
      }
      copy.outgoing.save();
    } catch (error) {
      copy.touched = before;
      core.report(error, undefined);
    }
  }

  async #change(copy: SharedSession, change: StateChange): Promise<void> {
    const key = this.#keyOf(copy.id);
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
      // Nobody else acts on this one; it would only take the place of changes in their log.
      if (change === madeReady) return;
      // Before it is acknowledged: whoever has the session's stream is to know of it before anything changes after that.
      return this.#init.changes.tellSession(copy.id);
    }
  }

  /** Takes up what another node was told of a session, where there is a copy of it here. */
  async #readAgain(id: string): Promise<void> {
    const copy = this.#copies.get(id);
    const text = copy && (await this.#init.store.get(this.#keyOf(id)));
    if (!copy || text === undefined || text === copy.known) return;
    copy.session.restore((JSON.parse(text) as SessionRecord).state);
    copy.known = text;
  }

  #sweep(): void {
    this.#letGo(this.#interval);
    for (const copy of this.#copies.values()) if (copy.isBusy) void this.#touch(copy);
    const again = this.#copies.size > 0;
    this.#timer = again ? this.#init.core.clock.setTimeout(() => this.#sweep(), this.#interval) : undefined;
  }

  /** Lets go the copies in which nothing goes on, once they have not been used for so many milliseconds. */
  #letGo(unused: number): void {
    const now = this.#init.core.clock.now();
    for (const copy of this.#copies.values()) {
      if (!copy.isBusy && now - copy.lastUsed >= unused && !this.#shares.isUnused(copy)) this.#release(copy);
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
    if (news.about === "ended") this.#end(news.session, new LocalError("closed", "The client ended its session."));
    const copy = this.#copies.get(news.session);
    if (news.about === "cancelled" && copy) {
      notified(copy.session, notification(Notification.cancelled, news.params));
    }
  }

  get #interval(): number {
    return this.#idle / touchesPerLimit;
  }

  #keyOf(id: string): string {
    return `session:${id}`;
  }
}
