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
  /** The request that is running. It never rejects. */
  reading: Promise<void> | undefined;
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
      reading: undefined,
      hasChanged: false,
      timer: undefined,
    };
    this.#lists.set(kind, list);
    list.hasChanged = true;
    this.#schedule(kind, list);
  }

  /** Whether a list is being read, or has changed since it was read. */
  get isBehind(): boolean {
    return [...this.#lists.values()].some(({ reading, hasChanged }) => reading !== undefined || hasChanged);
  }

  /** Resolves when all changes so far were read. A request that would wait for its time is sent at once. */
  async readChanges(): Promise<void> {
    const lists = [...this.#lists].map(async ([kind, list]) => {
      // A change during a request needs another one.
      if (list.hasChanged) await list.reading;
      if (list.hasChanged && !list.reading && !this.#isClosed) this.#start(kind, list);
      await list.reading;
    });
    await Promise.all(lists);
  }

  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#lists.values()) this.#clock.clearTimeout(timer);
  }

  #schedule(kind: ListKind, list: Refreshing): void {
    if (this.#isClosed || list.reading || list.timer !== undefined || !list.hasChanged) return;
    const sinceLast = this.#clock.now() - list.startedAt;
    // A clock that was set back must not delay the request.
    const interval = sinceLast < 0 ? Infinity : sinceLast;
    if (interval > 2 * intervalOf(list.streak)) list.streak = 0;
    const wait = intervalOf(list.streak) - interval;
    if (wait <= 0) this.#start(kind, list);
    else list.timer = this.#clock.setTimeout(() => this.#start(kind, list), wait);
  }

  #start(kind: ListKind, list: Refreshing): void {
    this.#clock.clearTimeout(list.timer);
    list.timer = undefined;
    list.startedAt = this.#clock.now();
    list.streak++;
    list.hasChanged = false;
    list.reading = this.#read(kind).then(() => {
      list.reading = undefined;
      this.#schedule(kind, list);
    });
  }
}

function intervalOf(streak: number): number {
  return Math.min(maxInterval, minInterval * 2 ** Math.max(0, streak - freeChanges));
}
