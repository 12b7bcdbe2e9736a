import { pause } from "../rpc/abort.ts";
import { type Clock, repeat } from "../rpc/clock.ts";
import { isUnavailable } from "./store-errors.ts";
import type { AppendOptions, LogEntry, Store } from "./store.ts";

/** Number of entries per read. */
const pageSize = 200;
/** Number of attempts to process an entry while a store is unavailable. */
const maxAttempts = 30;
/** Milliseconds between two attempts. */
const retryInterval = 1_000;

interface LogTailInit {
  store: Store;
  /** The name of the log. */
  log: string;
  clock: Clock;
  /** Milliseconds between two reads. */
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
  #reading: Promise<void> | undefined;
  /** Whether entries may have been appended since the current read started. */
  #isBehind = false;
  #stopReads: (() => void) | undefined;
  /** Whether the last read failed. */
  #isFailing = false;
  #isStopped = false;

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
  start(startPosition: string | undefined): Promise<void> {
    this.#starting ??= this.#start(startPosition).catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  async #start(startPosition: string | undefined): Promise<void> {
    const { store, log, clock, interval } = this.#init;
    // Messages before the position is set are ignored. The first `catchUp` reads their entries.
    const onMessage = (): void => void (this.#unsubscribe && this.catchUp());
    const unsubscribe = await store.subscribe(log, onMessage, onMessage);
    if (this.#isStopped) return unsubscribe();
    this.#unsubscribe = unsubscribe;
    this.#position = startPosition;
    // Messages can be lost, so the log is also read at intervals.
    this.#stopReads = repeat(clock, interval, () => void this.catchUp());
    await this.catchUp();
  }

  /** Processes all entries that the log has now. Never rejects. */
  catchUp(): Promise<void> {
    this.#isBehind = true;
    this.#reading ??= this.#read();
    return this.#reading;
  }

  /** Stops reading. An entry that is being processed is finished. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopReads?.();
    await this.#unsubscribe?.().catch(() => {});
  }

  /** Reads until there was no further message during a read. */
  async #read(): Promise<void> {
    const { store, log, report } = this.#init;
    try {
      while (this.#isBehind && !this.#isStopped) {
        this.#isBehind = false;
        for await (const entry of readLog(store, log, this.#position)) {
          this.#position = entry.position;
          await this.#process(entry);
        }
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) report(error);
      this.#isFailing = true;
    }
    // In the same turn as the last check of `#isBehind`, so that a message between the two starts a new read.
    this.#reading = undefined;
  }

  /** Processes one entry. Retries, because an entry that is skipped is lost. */
  async #process(entry: LogEntry): Promise<void> {
    const { take, report, clock } = this.#init;
    for (let attempt = 1; ; attempt++) {
      try {
        return await take(entry);
      } catch (error) {
        const isLast = !isUnavailable(error) || attempt === maxAttempts || this.#isStopped;
        if (isLast || attempt === 1) report(error);
        if (isLast) return;
      }
      await pause(clock, retryInterval);
    }
  }
}

/** Reads the entries of a log after a position, or all of them. */
export async function* readLog(store: Store, log: string, after?: string): AsyncGenerator<LogEntry, void> {
  for (let position = after; ;) {
    const page = await store.readFrom(log, position, pageSize);
    yield* page;
    if (page.length < pageSize) return;
    position = page.at(-1)?.position;
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
