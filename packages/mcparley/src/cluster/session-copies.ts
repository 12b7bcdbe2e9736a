import type { Clock } from "../rpc/clock.ts";
import type { SessionOptions } from "../http/server/options.ts";
import { SessionShares } from "../http/server/sessions/session-shares.ts";
import type { SharedSession } from "./shared-session.ts";

interface SessionCopiesInit {
  clock: Clock;
  /** The store limits the number of sessions, so `max` is ignored here. */
  options: SessionOptions;
  /** Milliseconds after which an idle copy is released, and between two renewals of a busy one. */
  interval: number;
  /** Called with a released copy whose client sent nothing after `initialize`. */
  onUnused: (copy: SharedSession) => void;
  /** Called at each interval with each copy that has a call in flight or an open stream. */
  onBusy: (copy: SharedSession) => void;
}

/**
 * The copies of sessions in this process, and the memory that they use. A released copy can be restored from the store.
 */
export class SessionCopies {
  /** The shares of the callers in the memory of this process. */
  readonly shares: SessionShares<SharedSession>;
  readonly #init: SessionCopiesInit;
  readonly #copies = new Map<string, SharedSession>();
  #timer: unknown;

  constructor(init: SessionCopiesInit) {
    this.#init = init;
    this.shares = new SessionShares({
      clock: init.clock,
      options: { ...init.options, max: Infinity },
      onUnused: (copy) => {
        this.release(copy);
        init.onUnused(copy);
      },
    });
  }

  get size(): number {
    return this.#copies.size;
  }

  get(id: string): SharedSession | undefined {
    return this.#copies.get(id);
  }

  /** Adds the copy of a session that was just opened. */
  open(copy: SharedSession): void {
    this.shares.open(copy);
    this.#add(copy);
  }

  /** Adds the copy of a session that exists in the store. */
  restore(copy: SharedSession): void {
    this.shares.add(copy);
    this.#add(copy);
  }

  #add(copy: SharedSession): void {
    this.#copies.set(copy.id, copy);
    this.#timer ??= this.#init.clock.setTimeout(() => this.#sweep(), this.#init.interval);
  }

  /** Notes a use of a copy, which may displace others. Returns true if the session must be renewed in the store. */
  use(copy: SharedSession, displace: (victim: SharedSession) => void): boolean {
    copy.lastUsed = this.#init.clock.now();
    const isFirstUse = this.shares.noteUse(copy);
    this.shares.makeRoomForGrowth(copy, displace);
    return isFirstUse || copy.lastUsed - copy.renewedAt >= this.#init.interval;
  }

  /** Removes a copy. Its session continues in the store. */
  release(copy: SharedSession): void {
    this.#copies.delete(copy.id);
    this.shares.delete(copy);
  }

  /** Removes and returns all copies, and stops the sweeps. */
  clear(): SharedSession[] {
    if (this.#timer !== undefined) this.#init.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.shares.stop();
    const copies = [...this.#copies.values()];
    this.#copies.clear();
    return copies;
  }

  #sweep(): void {
    const { clock, interval, onBusy } = this.#init;
    const now = clock.now();
    for (const copy of this.#copies.values()) {
      if (copy.isBusy) onBusy(copy);
      else if (now - copy.lastUsed >= interval && !this.shares.isUnused(copy)) this.release(copy);
    }
    const isNeeded = this.#copies.size > 0;
    this.#timer = isNeeded ? clock.setTimeout(() => this.#sweep(), interval) : undefined;
  }
}
