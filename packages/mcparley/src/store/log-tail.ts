import type { Clock } from "../rpc/clock.ts";
import { isUnavailable } from "./reaching.ts";
import type { AppendOptions, LogEntry, Store } from "./store.ts";

/** Entries that are read at a time. */
const pageSize = 200;
/** How often, and after how many milliseconds each time, an entry is taken that needs a store which is out of reach. */
const maxTries = 30;
const retryInterval = 1_000;

export interface LogTailInit {
  store: Store;
  log: string;
  clock: Clock;
  /** Milliseconds between two looks that nobody asked for, lest a message that was lost is never made up for. */
  interval: number;
  /**
   * Called for each entry, one after the other. Where it throws `store_unavailable` it is called again with the same entry,
   * for half a minute at least; what else it throws is reported, and the next entry is taken.
   */
  take: (entry: LogEntry) => void | Promise<void>;
  report: (error: unknown) => void;
}

/**
 * Follows a log that others append to with `tell`: each entry is taken once, in order.
 *
 * The entries are what counts, and the messages that are published with them only say that it is time to look: one that is
 * lost delays an entry and loses none. While the store is out of reach it goes on looking, and says so once.
 */
export class LogTail {
  readonly #init: LogTailInit;
  #position: string | undefined;
  #unsubscribe: (() => Promise<void>) | undefined;
  #starting: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #timer: unknown;
  #failing = false;
  #stopped = false;

  constructor(init: LogTailInit) {
    this.#init = init;
  }

  /** The position of the entry that was taken last. */
  get position(): string | undefined {
    return this.#position;
  }

  /**
   * Begins after a position, or with the oldest entry; where it has begun already it goes on as it is. Rejects where the
   * store is out of reach, and can be begun again then.
   */
  start(after: string | undefined): Promise<void> {
    this.#starting ??= this.#start(after).catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  async #start(after: string | undefined): Promise<void> {
    const { store, log } = this.#init;
    // What is said before it is known where to begin is looked for right after that.
    const look = (): void => void (this.#unsubscribe && this.look());
    const unsubscribe = await store.subscribe(log, look, look);
    if (this.#stopped) return unsubscribe();
    this.#unsubscribe = unsubscribe;
    this.#position = after;
    this.#lookLater();
    await this.look();
  }

  /** Takes all that there is by now. Never rejects. */
  look(): Promise<void> {
    this.#again = true;
    this.#looking ??= this.#lookUntilDone().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async stop(): Promise<void> {
    const { clock } = this.#init;
    this.#stopped = true;
    if (this.#timer !== undefined) clock.clearTimeout(this.#timer);
    await this.#unsubscribe?.().catch(() => {});
  }

  async #lookUntilDone(): Promise<void> {
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        await this.#takeAll();
      }
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#init.report(error);
      this.#failing = true;
    }
  }

  async #takeAll(): Promise<void> {
    const { store, log } = this.#init;
    for (;;) {
      const entries = await store.readFrom(log, this.#position, pageSize);
      for (const entry of entries) {
        this.#position = entry.position;
        await this.#takeOne(entry);
      }
      if (entries.length < pageSize) return;
    }
  }

  /** The log can be read again and the entry is not: to go on without it is to lose it. */
  async #takeOne(entry: LogEntry): Promise<void> {
    const { take, report, clock } = this.#init;
    for (let tries = 1; ; tries++) {
      try {
        return await take(entry);
      } catch (error) {
        const isLast = !isUnavailable(error) || tries === maxTries || this.#stopped;
        if (isLast || tries === 1) report(error);
        if (isLast) return;
      }
      await new Promise<void>((resolve) => clock.setTimeout(resolve, retryInterval));
    }
  }

  #lookLater(): void {
    const { clock, interval } = this.#init;
    this.#timer = clock.setTimeout(() => {
      this.#lookLater();
      void this.look();
    }, interval);
  }
}

/** Appends to a log that others follow. Settles once the entry is in it, whether or not anyone could be told. */
export async function tell(store: Store, log: string, value: string, options: AppendOptions): Promise<string> {
  const position = await store.append(log, value, options);
  await store.publish(log, "").catch(() => {});
  return position;
}
