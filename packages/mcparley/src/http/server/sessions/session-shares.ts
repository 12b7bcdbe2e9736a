import type { Clock } from "../../../rpc/clock.ts";
import { LocalError } from "../../../rpc/errors.ts";
import type { RequestId } from "../../../rpc/messages.ts";
import type { SessionOptions } from "../options.ts";
import { HttpRefusal } from "../refusal.ts";
import { Place, Queue, type Ranked, Ranking } from "./ranked-queues.ts";

/** The default of `sessions.max`. */
export const defaultMaxSessions = 10_000;

/** Milliseconds for which a session is a newcomer after it was opened, and after whose last message it is idle. */
const idleAfter = 10_000;

/** Shared by all sessions: making a stack takes as long as the rest of ending a session. */
export const displacedError: LocalError = new LocalError(
  "closed",
  "The session was closed to make room for another: the server reached its session limit.",
);
export const neverUsedError: LocalError = new LocalError(
  "closed",
  "The client sent nothing after it opened the session.",
);

/** The refusal of a new session. `retryAfter` is in seconds. */
export function tableIsFull(retryAfter: number, id?: RequestId): HttpRefusal {
  const message = "The server has reached its session limit (sessions.max, sessions.totalSize). Try again later.";
  return new HttpRefusal(503, message, { headers: { "retry-after": String(retryAfter) }, id });
}

/** A session of a table, with the facts by which `SessionShares` orders it. */
export interface TableSession {
  /** The caller that opened the session; see `callerKey`. */
  readonly caller: string;
  /** Time at which the session was opened, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Time of the last message of the client, or of the end of the last call or stream, in milliseconds since the epoch. */
  readonly lastUsed: number;
  /** Whether a call of the session is in flight or a stream of it is open. */
  readonly isBusy: boolean;
  /** Number of characters that the session stores for its client now. */
  readonly keptSize: number;
  /** The entry of the session in its table. Only the table sets it. */
  entry: TableEntry | undefined;
}

interface SharesInit<S> {
  clock: Clock;
  options: SessionOptions;
  /** Called with a session that sent nothing within the limit after it was opened. */
  onUnused: (session: S) => void;
  /** Set if the table has only some of the sessions: the number of all sessions, and of those of a caller. */
  sample?: { total: number; countOf: (caller: string) => number };
}

/** Sessions of one caller in one state. */
class CallerQueue extends Queue<TableEntry> implements Ranked {
  index = -1;
  readonly share: Share;

  constructor(share: Share) {
    super();
    this.share = share;
  }
}

/** The sessions of one caller, by state. The longest unused is the first of each queue. */
class Share {
  readonly caller: string;
  /** Number of sessions. */
  count = 0;
  readonly idle: CallerQueue = new CallerQueue(this);
  readonly newcomers: CallerQueue = new CallerQueue(this);
  readonly active: CallerQueue = new CallerQueue(this);

  constructor(caller: string) {
    this.caller = caller;
  }
}

/** A session in a table. */
export class TableEntry {
  readonly session: TableSession;
  readonly share: Share;
  /** The place in the queue of its caller and state. */
  readonly ofCaller: Place<TableEntry> = new Place<TableEntry>(this);
  /** The place among the sessions of all callers that are not idle. */
  readonly ofAll: Place<TableEntry> = new Place<TableEntry>(this);
  /** Number of characters that the table counts for the session. */
  countedSize = 0;
  /** Time of the last use by which the table orders the session. */
  usedAt: number;
  readonly #table: { noteUse(session: TableSession): boolean };

  constructor(session: TableSession, share: Share, table: { noteUse(session: TableSession): boolean }) {
    this.session = session;
    this.share = share;
    this.usedAt = session.lastUsed;
    this.#table = table;
  }

  /** Notes that the session was used until now, because its last call or stream has ended. */
  endUse(): void {
    this.#table.noteUse(this.session);
  }
}

/**
 * The sessions of one table by caller. Chooses the session to displace if the table is full, and ends sessions that were
 * opened and never used.
 *
 * Each session is in one state. It is `idle` if it is not busy and was not used for more than 10 s. It is a newcomer if it
 * was opened at most 10 s ago and is not busy. Otherwise it is active. The states that change with time alone are updated
 * when a session must be displaced. An operation takes logarithmic time on average, also at a full table.
 */
export class SessionShares<S extends TableSession> {
  readonly #init: SharesInit<S>;
  readonly #max: number;
  readonly #totalSize: number;
  /** Milliseconds until an unused session ends. */
  readonly handshake: number;
  readonly #shares = new Map<string, Share>();
  /** The callers with idle sessions, newcomers and active sessions. The first caller of each loses a session first. */
  readonly #idle = new Ranking<CallerQueue>((a, b) => isBefore(a, b, a.share.count - b.share.count));
  readonly #newcomers = new Ranking<CallerQueue>((a, b) => isBefore(a, b, a.size - b.size));
  readonly #active = new Ranking<CallerQueue>((a, b) => a.share.count > b.share.count);
  /** The sessions that are not idle, the longest unused first. */
  readonly #recent = new Queue<TableEntry>();
  /** The newcomers in the order in which they were opened. */
  readonly #young = new Set<TableEntry>();
  /** The sessions that sent nothing after `initialize`, in the order in which they were opened. */
  readonly #waiting = new Set<S>();
  #count = 0;
  /** Characters that are counted for all sessions. */
  #size = 0;
  #timer: unknown;

  constructor(init: SharesInit<S>) {
    const { max = defaultMaxSessions, totalSize = 67_108_864, handshake = 30_000 } = init.options;
    this.#init = init;
    this.#max = max;
    this.#totalSize = totalSize;
    this.handshake = handshake;
  }

  /** Whether a caller can open a session now. */
  hasRoomFor(caller: string): boolean {
    return !this.#isFull(0) || this.toDisplace(caller) !== undefined;
  }

  /**
   * Displaces sessions until a new one has room. `displace` must delete its session from the table. Returns false if there
   * is no room and no session may be displaced.
   */
  makeRoomFor(session: S, displace: (victim: S) => void): boolean {
    while (this.#isFull(session.keptSize)) {
      const victim = this.toDisplace(session.caller);
      if (!victim) return false;
      displace(victim);
    }
    return true;
  }

  /**
   * Displaces sessions if a session has grown and the total size is over its limit. If no other session may be displaced,
   * displaces the session itself.
   */
  makeRoomForGrowth(session: S, displace: (victim: S) => void): void {
    while (this.#size > this.#totalSize) {
      const victim = this.toDisplace(session.caller) ?? session;
      displace(victim);
      if (victim === session) return;
    }
  }

  /** Number of sessions of a caller. */
  countOf(caller: string): number {
    return this.#init.sample?.countOf(caller) ?? this.#shares.get(caller)?.count ?? 0;
  }

  #isFull(more: number): boolean {
    return this.#count >= this.#max || this.#size + more > this.#totalSize;
  }

  /** Adds a session that was just opened. */
  open(session: S): void {
    this.add(session);
    this.#waiting.add(session);
    this.#timer ??= this.#init.clock.setTimeout(() => this.#endUnused(), this.handshake);
  }

  /** Adds a session that was used before. Sessions are added in the order of their last use. */
  add(session: S): void {
    const { caller } = session;
    let share = this.#shares.get(caller);
    if (!share) this.#shares.set(caller, (share = new Share(caller)));
    const entry = new TableEntry(session, share, this);
    session.entry = entry;
    this.#count++;
    this.#setCount(share, this.#init.sample?.countOf(caller) ?? share.count + 1);
    this.#countSize(entry, session.keptSize);
    this.#recent.append(entry.ofAll);
    const isNewcomer = !isOlder(session.startedAt, this.#init.clock.now());
    if (isNewcomer) this.#young.add(entry);
    this.#move(entry, isNewcomer ? share.newcomers : share.active);
  }

  /** Notes that a session was used. Returns true for its first use. A session that is no longer in the table is ignored. */
  noteUse(session: S): boolean {
    const { entry } = session;
    if (!entry) return false;
    this.#countSize(entry, session.keptSize);
    const { share } = entry;
    entry.usedAt = this.#init.clock.now();
    this.#recent.append(entry.ofAll);
    const isNewcomer = !isOlder(session.startedAt, entry.usedAt);
    if (!isNewcomer && entry.ofCaller.queue === share.newcomers) this.#young.delete(entry);
    this.#move(entry, isNewcomer ? share.newcomers : share.active);
    return this.#waiting.delete(session);
  }

  isUnused(session: S): boolean {
    return this.#waiting.has(session);
  }

  delete(session: S): void {
    const { entry } = session;
    if (!entry) return;
    session.entry = undefined;
    this.#countSize(entry, 0);
    const { share } = entry;
    this.#move(entry, undefined);
    entry.ofAll.queue?.remove(entry.ofAll);
    this.#young.delete(entry);
    this.#waiting.delete(session);
    this.#count--;
    this.#setCount(share, share.count - 1);
    if (share.count === 0) this.#shares.delete(share.caller);
  }

  stop(): void {
    if (this.#timer !== undefined) this.#init.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Returns the session to displace for a new one of a caller, or undefined if there is none. In this order:
   *
   * 1. the longest idle session of the callers that have the most sessions;
   * 2. the longest unused newcomer of the callers that have the most newcomers;
   * 3. the longest unused session of a caller that has more than half of all sessions.
   *
   * A caller loses a session only if it then has at least as many as the new caller, or to a session of its own.
   */
  toDisplace(caller: string): S | undefined {
    const idle = this.idleToDisplace(caller);
    if (idle) return idle;
    const callerShare = this.#shares.get(caller);
    for (;;) {
      const { first } = this.#newcomers;
      const entry = (first && this.#mayLose(first.share, caller) ? first : callerShare?.newcomers)?.first?.item;
      if (!entry) break;
      if (!entry.session.isBusy) return entry.session as S;
      this.#move(entry, entry.share.active);
    }
    const largest = this.#active.first;
    if (!largest || 2 * largest.share.count <= (this.#init.sample?.total ?? this.#count)) return undefined;
    return largest.share.count > this.countOf(caller) + 1 ? (largest.first?.item.session as S) : undefined;
  }

  /** Returns the idle session to displace for a new one of a caller, or undefined if there is none. */
  idleToDisplace(caller: string): S | undefined {
    this.#updateStates();
    const { first } = this.#idle;
    const queue = first && this.#mayLose(first.share, caller) ? first : this.#shares.get(caller)?.idle;
    return queue?.first?.item.session as S | undefined;
  }

  /** Moves the sessions whose state has changed with time. Each use of a session causes at most one move. */
  #updateStates(): void {
    const now = this.#init.clock.now();
    for (let entry = this.#recent.first?.item; entry && isOlder(entry.usedAt, now); entry = this.#recent.first?.item) {
      const { isBusy } = entry.session;
      this.#young.delete(entry);
      if (isBusy) {
        entry.usedAt = now;
        this.#recent.append(entry.ofAll);
      } else this.#recent.remove(entry.ofAll);
      this.#move(entry, isBusy ? entry.share.active : entry.share.idle);
    }
    for (const entry of this.#young) {
      if (!isOlder(entry.session.startedAt, now)) break;
      this.#young.delete(entry);
      this.#move(entry, entry.share.active);
    }
  }

  /** Whether a caller may lose a session to a new one of another caller. */
  #mayLose(share: Share, caller: string): boolean {
    if (share.caller === caller) return true;
    const reserve = isPrincipal(share.caller) && !isPrincipal(caller) ? 1 : 0;
    return share.count > this.countOf(caller) + reserve;
  }

  /** Moves a session to the end of a queue of its caller, or out of its queue. */
  #move(entry: TableEntry, target: CallerQueue | undefined): void {
    const source = entry.ofCaller.queue as CallerQueue | undefined;
    if (target) target.append(entry.ofCaller);
    else source?.remove(entry.ofCaller);
    if (source && source !== target) this.#rank(source);
    // The order of the callers with active sessions depends only on the number of their sessions.
    if (target && (source !== target || target !== target.share.active)) this.#rank(target);
  }

  #setCount(share: Share, count: number): void {
    share.count = count;
    for (const queue of [share.idle, share.newcomers, share.active]) this.#rank(queue);
  }

  #rank(queue: CallerQueue): void {
    const { share } = queue;
    const ranking = queue === share.idle ? this.#idle : queue === share.newcomers ? this.#newcomers : this.#active;
    if (queue.size > 0) ranking.update(queue);
    else ranking.remove(queue);
  }

  #countSize(entry: TableEntry, size: number): void {
    this.#size += size - entry.countedSize;
    entry.countedSize = size;
  }

  #endUnused(): void {
    this.#timer = undefined;
    const now = this.#init.clock.now();
    for (const session of this.#waiting) {
      const remainingMs = session.lastUsed + this.handshake - now;
      if (remainingMs > 0) {
        this.#timer = this.#init.clock.setTimeout(() => this.#endUnused(), remainingMs);
        return;
      }
      this.delete(session);
      this.#init.onUnused(session);
    }
  }
}

/** Whether a time is more than 10 s ago. */
function isOlder(time: number, now: number): boolean {
  return now - time > idleAfter;
}

/** Whether a caller is a principal. The key of a principal is a JSON array. */
function isPrincipal(caller: string): boolean {
  return caller.startsWith("[");
}

/** Whether the first session of a queue is displaced before that of another, whose caller has `more` fewer. */
function isBefore(a: CallerQueue, b: CallerQueue, more: number): boolean {
  if (more !== 0) return more > 0;
  const [isA, isB] = [isPrincipal(a.share.caller), isPrincipal(b.share.caller)];
  if (isA !== isB) return isB;
  return (a.first?.item.usedAt ?? 0) < (b.first?.item.usedAt ?? 0);
}
