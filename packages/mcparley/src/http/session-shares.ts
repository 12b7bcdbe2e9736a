import type { Clock } from "../jsonrpc/clock.ts";
import { LocalError } from "../jsonrpc/errors.ts";
import { Shares } from "../server/shares.ts";
import type { SessionOptions } from "./options.ts";

/** Busy sessions that are passed over in the search for an idle one. A limit, so that a full table costs the same always. */
const maxLooks = 64;

/** One for all, because the stack of an error costs as much as the rest of ending a session. */
export const displaced: LocalError = new LocalError(
  "closed",
  "The session gave way to another, because the server is full.",
);
export const neverUsed: LocalError = new LocalError("closed", "The client sent nothing after it opened the session.");

/** A session as an item of a table that its callers share. */
export interface Seat {
  /** The caller that opened the session; see `callerKey`. */
  readonly caller: string;
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
  /** A call of it is in flight, or a stream of it is open. */
  readonly isBusy: boolean;
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
 * All operations take constant time, also at a full table.
 */
export class SessionShares<S extends Seat> {
  readonly max: number;
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
  #timer: unknown;

  constructor({ clock, options, onUnused }: SharesInit<S>) {
    const { max = 10_000, handshake = 30_000 } = options;
    this.max = max;
    this.handshake = handshake;
    this.#clock = clock;
    this.#onUnused = onUnused;
  }

  get isFull(): boolean {
    return this.#anonymous.size + this.#principals.size >= this.max;
  }

  /** Whether a caller can open a session now. */
  hasRoomFor(caller: string): boolean {
    return !this.isFull || this.toDisplace(caller) !== undefined;
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
  }

  /** Notes that a session was used. Returns true for its first use. */
  used(session: S): boolean {
    this.#of(session.caller).touch(session.caller, session);
    if (!this.#waiting.delete(session)) return false;
    this.#unused.delete(session.caller, session);
    return true;
  }

  isUnused(session: S): boolean {
    return this.#waiting.has(session);
  }

  delete(session: S): void {
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

/** The longest idle session of a caller that is not busy. A busy one is in use now, so it becomes the last. */
function idleIn<S extends Seat>(shares: Shares<S>, caller: string): S | undefined {
  let looks = Math.min(maxLooks, shares.count(caller));
  for (const session of shares.of(caller)) {
    if (!session.isBusy) return session;
    shares.touch(caller, session);
    if (--looks <= 0) return undefined;
  }
  return undefined;
}
