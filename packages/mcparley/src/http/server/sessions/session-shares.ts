import type { Clock } from "../../../rpc/clock.ts";
import { LocalError } from "../../../rpc/errors.ts";
import type { RequestId } from "../../../rpc/messages.ts";
import { Shares } from "../../../server/shares.ts";
import type { SessionOptions } from "../options.ts";
import { HttpRefusal } from "../refusal.ts";

/** The default of `sessions.max`. */
export const defaultMaxSessions = 10_000;

/** Busy sessions that are passed over in the search for an idle one. A limit, so that a full table costs the same always. */
const maxLooks = 64;

/** One for all, because the stack of an error costs as much as the rest of ending a session. */
export const displaced: LocalError = new LocalError(
  "closed",
  "The session gave way to another, because the server is full.",
);
export const neverUsed: LocalError = new LocalError("closed", "The client sent nothing after it opened the session.");

/** The refusal of a new session. `retryAfter` is in seconds. */
export function tableIsFull(retryAfter: number, id?: RequestId): HttpRefusal {
  const message = "The server has as many sessions as it allows (sessions.max, sessions.totalSize). Try again later.";
  return new HttpRefusal(503, message, { headers: { "retry-after": String(retryAfter) }, id });
}

/** A session as an item of a table that its callers share. */
export interface Seat {
  /** The caller that opened the session; see `callerKey`. */
  readonly caller: string;
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
  /** A call of it is in flight, or a stream of it is open. */
  readonly isBusy: boolean;
  /** Characters that it keeps of its client now. */
  readonly keptSize: number;
  /** Characters that the table counts for it; only the table sets this. */
  countedSize: number;
  /** Whether it was used since it took its place in the order; only the table sets this. */
  wasUsed: boolean;
}

interface SharesInit<S> {
  clock: Clock;
  options: SessionOptions;
  /** Called with a session that sent nothing within the limit after it was opened. */
  onUnused: (session: S) => void;
}

/**
 * The sessions of one table by caller. It says which session gives way if the table is full, and ends those that were
 * opened and never used.
 *
 * All operations take constant time on average, also at a full table.
 */
export class SessionShares<S extends Seat> {
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
   * Lets sessions give way until a new one has room. `displace` must delete its session from the table. Returns false if
   * there is no room and none may give way.
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
   * Lets sessions give way if one that is used keeps more than before, and all together keep too much: those of its own
   * caller or of callers with more sessions, and then the session itself.
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
    // Its place in the order changes when a session has to give way: a change for each request would leave garbage.
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
   * Returns the session that gives way to a new one of a caller; undefined if none may. In this order:
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
 * The longest idle session of a caller that is not busy. One that was used since it took its place becomes the last, and
 * so does a busy one, which is in use now. The first kind costs as much as the use did, so only the second is limited.
 */
function idleIn<S extends Seat>(shares: Shares<S>, caller: string): S | undefined {
  let looks = Math.min(maxLooks, shares.count(caller));
  for (const session of shares.of(caller)) {
    const { isBusy } = session;
    if (!isBusy && (!session.wasUsed || shares.count(caller) === 1)) return session;
    session.wasUsed = false;
    shares.touch(caller, session);
    if (isBusy && --looks <= 0) return undefined;
  }
  return undefined;
}
