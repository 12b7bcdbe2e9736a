import { type FSWatcher, watch } from "node:fs";
import { type Clock, repeat } from "../rpc/clock.ts";
import { LocalError } from "../rpc/errors.ts";
import { Tables } from "../store/tables.ts";
import { type Change, apply, readLine, restore, snapshot, writeLine } from "./store-entry.ts";
import type { StoreLog } from "./store-log.ts";

/** A change to write, and the functions that settle its promise. */
interface Writing {
  change: Change;
  resolve(outcome: unknown): void;
  reject(error: Error): void;
}

interface SharedLogOptions {
  clock: Clock;
  /** Maximum size of the file in bytes. */
  maxBytes: number;
  /** Rewrites the file after each change that can replace or delete values, so that they are removed. */
  erase?: boolean;
}

/** A file is rewritten when it has this size in bytes and twice its initial size. */
const rewriteSize = 1_048_576;
/** Milliseconds between checks for messages of other processes, if the system reports no change of the file. */
const pollInterval = 500;

/**
 * The state that results from the lines of a log. All processes that read the log have the same state.
 *
 * A change is appended and then read back. Its position among the changes of other processes decides its outcome, so no
 * lock is needed that a crashed process could leave behind. Only one round of writing and reading runs at a time. Changes
 * that arrive during a round are written in the next round with one write.
 */
export class SharedLog {
  readonly #log: StoreLog;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #erase: boolean;
  readonly #writer = crypto.randomUUID();
  readonly #channels = new Map<string, Set<(message: string) => void>>();
  #tables = new Tables(Infinity);
  #queue: Writing[] = [];
  #readers: (() => void)[] = [];
  /** Changes that were appended but not read back yet, by their numbers. */
  readonly #open = new Map<number, Writing>();
  #number = 0;
  #rewriteAt = rewriteSize;
  #running: Promise<void> | undefined;
  /** The error of the current round. */
  #failure: Error | undefined;
  #isClosed = false;
  #watcher: FSWatcher | undefined;
  #stopPolling: (() => void) | undefined;

  constructor(log: StoreLog, { clock, maxBytes, erase = false }: SharedLogOptions) {
    this.#log = log;
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#erase = erase;
  }

  write(change: Change): Promise<unknown> {
    return this.#enter((resolve, reject) => this.#queue.push({ change, resolve, reject }));
  }

  /** Calls `from` with the state after all changes that were written before, and resolves with its result. */
  read<T>(readState: (tables: Tables) => T): Promise<T> {
    return this.#enter((resolve, reject) => {
      this.#readers.push(() => (this.#failure ? reject(this.#failure) : resolve(readState(this.#tables))));
    });
  }

  async subscribe(channel: string, listener: (message: string) => void): Promise<() => Promise<void>> {
    // A new function for each subscription, so that one listener can subscribe twice.
    const ownListener = (message: string): void => listener(message);
    // Earlier messages are read first, and not delivered.
    await this.read(() => {
      this.#channels.set(channel, (this.#channels.get(channel) ?? new Set()).add(ownListener));
    });
    this.#watch();
    return async () => {
      const listeners = this.#channels.get(channel);
      listeners?.delete(ownListener);
      if (listeners?.size === 0) this.#channels.delete(channel);
      if (this.#channels.size === 0) this.#stopWatching();
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#channels.clear();
    this.#stopWatching();
    await this.#running;
    await this.#log.close();
  }

  /** Adds an operation to the next round. `put` stores the functions that settle its promise. */
  #enter<T>(put: (resolve: (value: T) => void, reject: (error: Error) => void) => void): Promise<T> {
    if (this.#isClosed) return Promise.reject(new LocalError("closed", "The store was closed."));
    const result = new Promise<T>(put);
    this.#running ??= this.#run();
    return result;
  }

  async #run(): Promise<void> {
    // Waits one turn, so that all operations of this turn are in one round.
    await Promise.resolve();
    while (this.#queue.length > 0 || this.#readers.length > 0) await this.#round();
    // Set in the same turn as the last check of the queue, so that no operation is added to a finished run.
    this.#running = undefined;
  }

  async #round(): Promise<void> {
    const batch = this.#queue.splice(0);
    const readers = this.#readers.splice(0);
    this.#failure = undefined;
    try {
      const mustWrite = batch.length > 0;
      if (await this.#log.open(mustWrite)) this.#reset();
      await this.#catchUp(mustWrite);
      if (batch.length > 0) await this.#append(batch);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const message = `The store in ${JSON.stringify(this.#log.folder)} cannot be used: ${why}`;
      const code = cause instanceof LocalError ? cause.code : "store_unavailable";
      this.#failure = new LocalError(code, message, { cause });
      // Changes that were written before the failure count.
      await this.#catchUp(false).catch(() => {});
      for (const writing of [...this.#open.values(), ...batch]) writing.reject(this.#failure);
      this.#open.clear();
    }
    for (const reader of readers) reader();
  }

  async #append(batch: readonly Writing[]): Promise<void> {
    if (this.#log.size > this.#maxBytes) {
      const why = `it has more than ${this.#maxBytes} bytes. Set a higher maxBytes, or shorter lifetimes of values.`;
      throw new LocalError("too_large", why);
    }
    for (const writing of batch) this.#open.set(this.#number++, writing);
    // Changes after a seal are ignored, and are written again to the next file.
    while (this.#open.size > 0) {
      const lines = [...this.#open].map(([number, { change }]) => writeLine({ ...change, id: [this.#writer, number] }));
      const durable = [...this.#open.values()].some(({ change }) => change.op !== "publish");
      await this.#log.append(lines, durable);
      await this.#catchUp(true);
    }
    if (this.#log.size >= this.#rewriteAt || (this.#erase && batch.some(({ change }) => mayReplace(change)))) {
      await this.#log.append([writeLine({ op: "seal" })], true);
      await this.#catchUp(false);
    }
  }

  /** Reads all lines, and continues with the next file after a seal. Only writing requires that this file can be created. */
  async #catchUp(mustWrite: boolean): Promise<void> {
    for (;;) {
      let isSealed = false;
      await this.#log.read((text) => {
        isSealed = !this.#applyLine(text);
        return !isSealed;
      });
      if (!isSealed) return;
      const tables = this.#tables;
      if (!(await this.#log.advance(() => snapshot(tables, this.#clock.now()), mustWrite))) return;
      this.#reset();
    }
  }

  /** Resets the state, because a file is read from its start. */
  #reset(): void {
    this.#tables = new Tables(Infinity);
    this.#rewriteAt = rewriteSize;
  }

  /** Applies a line. Returns false for a seal. */
  #applyLine(text: string): boolean {
    const line = readLine(text);
    if (!line) return true;
    if (line.op === "seal") return false;
    if (line.op === "value" || line.op === "log") {
      restore(this.#tables, line);
      this.#rewriteAt = Math.max(this.#rewriteAt, 2 * this.#log.size);
      return true;
    }
    const outcome = apply(this.#tables, line);
    if (line.op === "publish") {
      for (const listener of this.#channels.get(line.channel) ?? []) queueMicrotask(() => listener(line.message));
    }
    const [writer, number] = line.id;
    const writing = writer === this.#writer ? this.#open.get(number) : undefined;
    if (writing) this.#open.delete(number);
    writing?.resolve(outcome);
    return true;
  }

  /** Reads the messages of other processes as long as there are subscribers. */
  #watch(): void {
    if (this.#stopPolling || this.#isClosed) return;
    const poll = (): void => void this.read(() => {}).catch(() => {});
    try {
      this.#watcher = watch(this.#log.folder, { persistent: false }, poll);
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch {
      // The system cannot watch more files. The timer below is enough.
    }
    this.#stopPolling = repeat(this.#clock, pollInterval, poll);
  }

  #stopWatching(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#stopPolling?.();
    this.#stopPolling = undefined;
  }
}

function mayReplace(change: Change): boolean {
  return change.op === "set" || change.op === "delete" || (change.op === "compare" && change.expected !== undefined);
}
