import type { Clock } from "mcparley";
import type { ListKind } from "mcparley/client";

/** Minimum milliseconds between the starts of two requests for a list. */
const minInterval = 1_000;
/** Changes in a row after which the interval doubles with each further one. */
const freeChanges = 5;
/** Maximum milliseconds between the starts of two requests for a list that changes all the time. */
const maxInterval = 30_000;

/** One list: when it was read last, and whether it has changed since. */
interface Refreshing {
  startedAt: number;
  /** The number of requests that followed each other without a quiet time. */
  streak: number;
  isReading: boolean;
  hasChanged: boolean;
  timer: unknown;
}

/**
 * Reads lists again after changes. A flood of changes leads to at most one request at a time for each list, and to one in a
 * second, later in 30 seconds. The last change is always followed by a request.
 */
export class ListRefresh {
  readonly #clock: Clock;
  readonly #read: (kind: ListKind) => Promise<void>;
  readonly #lists = new Map<ListKind, Refreshing>();
  #isClosed = false;

  /** `read` reads one list. It must not reject. */
  constructor(clock: Clock, read: (kind: ListKind) => Promise<void>) {
    this.#clock = clock;
    this.#read = read;
  }

  /** Reads a list again, now or later. */
  scheduleRead(kind: ListKind): void {
    const list = this.#lists.get(kind) ?? {
      startedAt: -Infinity,
      streak: 0,
      isReading: false,
      hasChanged: false,
      timer: undefined,
    };
    this.#lists.set(kind, list);
    list.hasChanged = true;
    this.#schedule(kind, list);
  }

  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#lists.values()) this.#clock.clearTimeout(timer);
  }

  #schedule(kind: ListKind, list: Refreshing): void {
    if (this.#isClosed || list.isReading || list.timer !== undefined || !list.hasChanged) return;
    const sinceLast = this.#clock.now() - list.startedAt;
    // A clock that was set back must not delay the request.
    const interval = sinceLast < 0 ? Infinity : sinceLast;
    if (interval > 2 * intervalOf(list.streak)) list.streak = 0;
    const wait = intervalOf(list.streak) - interval;
    if (wait <= 0) return void this.#start(kind, list);
    list.timer = this.#clock.setTimeout(() => {
      list.timer = undefined;
      void this.#start(kind, list);
    }, wait);
  }

  async #start(kind: ListKind, list: Refreshing): Promise<void> {
    list.startedAt = this.#clock.now();
    list.streak++;
    list.isReading = true;
    list.hasChanged = false;
    await this.#read(kind);
    list.isReading = false;
    this.#schedule(kind, list);
  }
}

function intervalOf(streak: number): number {
  return Math.min(maxInterval, minInterval * 2 ** Math.max(0, streak - freeChanges));
}
