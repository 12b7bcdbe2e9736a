import { pause } from "../rpc/abort.ts";
import type { Clock } from "../rpc/clock.ts";
import { isUnavailable } from "./store-errors.ts";
import type { AppendOptions, LogEntry, Store } from "./store.ts";

/** Number of entries per read. */
const pageSize = 200;
/** Number of attempts to process an entry while a store is unavailable. */
const maxTries = 30;
/** Milliseconds between two attempts. */
const retryInterval = 1_000;

interface LogTailInit {
  store: Store;
  log: string;
  clock: Clock;
  /** Milliseconds between two reads. Needed because messages can be lost. */
  interval: number;
  /**
   * Called for each entry, one after the other. If it throws `store_unavailable`, it is called again with the same entry for
   * at least half a minute. Other errors are reported, and the next entry follows.
   */
  take: (entry: LogEntry) => void | Promise<void>;
  report: (error: unknown) => void;
}

/**
 * Follows a log to which other processes append with `appendAndNotify`. Each entry is processed once, in order.
 *
 * The messages that are published with the entries only trigger a read. A lost message delays an entry, but no entry is
 * lost. While the store is unavailable, reads are retried, and the failure is reported once.
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

  /** The position of the last processed entry. */
  get position(): string | undefined {
    return this.#position;
  }

  /**
   * Starts after a position, or with the oldest entry. Does nothing if it has started already. Rejects if the store is
   * unavailable, and can then be called again.
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
    // Messages before the start position is set are ignored; `look` below reads their entries.
    const look = (): void => void (this.#unsubscribe && this.look());
    const unsubscribe = await store.subscribe(log, look, look);
    if (this.#stopped) return unsubscribe();
    this.#unsubscribe = unsubscribe;
    this.#position = after;
    this.#lookLater();
    await this.look();
  }

  /** Processes all entries that the log has now. Never rejects. */
  look(): Promise<void> {
    this.#again = true;
    this.#looking ??= this.#lookUntilDone().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Stops reading. Entries that are being processed are finished. */
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

  /** Processes one entry. Retries, because an entry that is skipped is lost. */
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
      await pause(clock, retryInterval);
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

/** Appends to a log and notifies the processes that follow it. Resolves when the entry is stored, even if the notification fails. */
export async function appendAndNotify(
  store: Store,
  log: string,
  { value, ...options }: AppendOptions & { value: string },
): Promise<string> {
  const position = await store.append(log, value, options);
  await store.publish(log, "").catch(() => {});
  return position;
}
