import type { Clock } from "../../../rpc/clock.ts";
import { LocalError } from "../../../rpc/errors.ts";
import type { RequestId } from "../../../rpc/messages.ts";
import { Shares } from "../../../server/shares.ts";
import type { SessionOptions } from "../options.ts";
import { HttpRefusal } from "../refusal.ts";

/** The default of `sessions.max`. */
export const defaultMaxSessions = 10_000;

/** Maximum number of busy sessions that a search for an idle one skips. It keeps the search in a full table short. */
const maxSkipped = 64;

/** Shared by all sessions: making a stack takes as long as the rest of ending a session. */
export const displaced: LocalError = new LocalError(
  "closed",
  "The session was closed to make room for another: the server reached its session limit.",
);
export const neverUsed: LocalError = new LocalError("closed", "The client sent nothing after it opened the session.");

/** The refusal of a new session. `retryAfter` is in seconds. */
export function tableIsFull(retryAfter: number, id?: RequestId): HttpRefusal {
  const message = "The server has reached its session limit (sessions.max, sessions.totalSize). Try again later.";
  return new HttpRefusal(503, message, { headers: { "retry-after": String(retryAfter) }, id });
}

/** A session of a table, with the facts by which `SessionShares` orders it. */
export interface TableSession {
  /** The caller that opened the session; see `callerKey`. */
  readonly caller: string;
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
  /** Whether a call of the session is in flight or a stream of it is open. */
  readonly isBusy: boolean;
  /** Number of characters that the session stores for its client now. */
  readonly keptSize: number;
  /** Number of characters that the table counts for the session. Only the table sets it. */
  countedSize: number;
  /** Whether the session was used since its position in the order was set. Only the table sets it. */
  wasUsed: boolean;
}

interface SharesInit<S> {
  clock: Clock;
  options: SessionOptions;
  /** Called with a session that sent nothing within the limit after it was opened. */
  onUnused: (session: S) => void;
}

/**
 * The sessions of one table by caller. Chooses the session to displace if the table is full, and ends sessions that were
 * opened and never used.
 *
 * All operations take constant time on average, also at a full table.
 */
export class SessionShares<S extends TableSession> {
  readonly #max: number;
  readonly #totalSize: number;
  /** Milliseconds until an unused session ends. */
  readonly handshake: number;
  readonly #clock: Clock;
  readonly #onUnused: (session: S) => void;
  /** The sessions of anonymous callers, by network, and those of principals; the longest idle first. */
  readonly #anonymous = new Shares<S>();
  readonly #principals = new Shares<S>();
  /** The sessions that sent nothing after `initialize`, by caller and in the order in which they were opened. */
  readonly #unused = new Shares<S>();
  readonly #waiting = new Set<S>();
  /** Characters that are counted for all sessions. */
  #size = 0;
  #timer: unknown;

  constructor({ clock, options, onUnused }: SharesInit<S>) {
    const { max = defaultMaxSessions, totalSize = 67_108_864, handshake = 30_000 } = options;
    this.#max = max;
    this.#totalSize = totalSize;
    this.handshake = handshake;
    this.#clock = clock;
    this.#onUnused = onUnused;
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
   * Displaces sessions if a session has grown and the total size is over its limit. Displaces sessions of the same caller
   * or of callers with more sessions first, and then the session itself.
   */
  makeRoomForGrowth(session: S, displace: (victim: S) => void): void {
    while (this.#size > this.#totalSize) {
      const victim = this.toDisplace(session.caller) ?? session;
      const isFair = victim.caller === session.caller || this.#countOf(victim.caller) > this.#countOf(session.caller);
      displace(isFair ? victim : session);
      if (!isFair || victim === session) return;
    }
  }

  #countOf(caller: string): number {
    return this.#of(caller).count(caller);
  }

  #isFull(more: number): boolean {
    return this.#anonymous.size + this.#principals.size >= this.#max || this.#size + more > this.#totalSize;
  }

  /** Adds a session that was just opened. */
  open(session: S): void {
    this.add(session);
    this.#unused.add(session.caller, session);
    this.#waiting.add(session);
    this.#timer ??= this.#clock.setTimeout(() => this.#endUnused(), this.handshake);
  }

  /** Adds a session that was used before. */
  add(session: S): void {
    this.#of(session.caller).add(session.caller, session);
    this.#count(session, session.keptSize);
  }

  /** Notes that a session was used. Returns true for its first use. A session that is no longer in the table is ignored. */
  used(session: S): boolean {
    if (!this.#of(session.caller).has(session.caller, session)) return false;
    this.#count(session, session.keptSize);
    // The order is updated only when a session must be displaced. An update for each request would create garbage.
    session.wasUsed = true;
    if (!this.#waiting.delete(session)) return false;
    session.wasUsed = false;
    this.#of(session.caller).touch(session.caller, session);
    this.#unused.delete(session.caller, session);
    return true;
  }

  isUnused(session: S): boolean {
    return this.#waiting.has(session);
  }

  delete(session: S): void {
    this.#count(session, 0);
    this.#of(session.caller).delete(session.caller, session);
    if (this.#waiting.delete(session)) this.#unused.delete(session.caller, session);
  }

  stop(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Returns the session to displace for a new one of a caller, or undefined if there is none. In this order:
   *
   * 1. an unused session, the oldest of the caller that has the most of them;
   * 2. the longest idle session of the network that has the most anonymous sessions, unless it is busy;
   * 3. the longest idle session of the principal that has the most, and
   * 4. a busy session of the network that has the most, each only if that has more than the new caller would have.
   *
   * Only callers that hold at least as many sessions as the new one are considered, so a flood displaces its own.
   */
  toDisplace(caller: string): S | undefined {
    const count = this.#of(caller).count(caller);
    const holders = (shares: Shares<S>): string[] =>
      [...new Set([shares.largest ?? caller, caller])].filter((holder) => this.#of(holder).count(holder) >= count);
    for (const holder of holders(this.#unused)) {
      for (const oldest of this.#unused.of(holder)) return oldest;
    }
    for (const holder of holders(this.#anonymous)) {
      const idle = idleIn(this.#anonymous, holder);
      if (idle) return idle;
    }
    for (const shares of [this.#principals, this.#anonymous]) {
      const { largest } = shares;
      if (largest === undefined || shares.count(largest) <= count + 1) continue;
      const [first] = shares.of(largest);
      return idleIn(shares, largest) ?? first;
    }
    return undefined;
  }

  #count(session: S, size: number): void {
    this.#size += size - session.countedSize;
    session.countedSize = size;
  }

  #of(caller: string): Shares<S> {
    // The key of a principal is a JSON array.
    return caller.startsWith("[") ? this.#principals : this.#anonymous;
  }

  #endUnused(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (const session of this.#waiting) {
      const left = session.lastUsed + this.handshake - now;
      if (left > 0) {
        this.#timer = this.#clock.setTimeout(() => this.#endUnused(), left);
        return;
      }
      this.delete(session);
      this.#onUnused(session);
    }
  }
}

/**
 * Returns the longest idle session of a caller. Skips busy sessions and sessions that were used since their position was
 * set, and moves them to the end of the order. Only the number of skipped busy sessions is limited, because each use of a
 * session causes at most one skip.
 */
function idleIn<S extends TableSession>(shares: Shares<S>, caller: string): S | undefined {
  let skips = Math.min(maxSkipped, shares.count(caller));
  for (const session of shares.of(caller)) {
    const { isBusy } = session;
    if (!isBusy && (!session.wasUsed || shares.count(caller) === 1)) return session;
    session.wasUsed = false;
    shares.touch(caller, session);
    if (isBusy && --skips <= 0) return undefined;
  }
  return undefined;
}
