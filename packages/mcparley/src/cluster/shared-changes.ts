import { encode } from "../rpc/messages.ts";
import { type Change, keyOf, toNotification } from "../server/changes.ts";
import type { ServerCore } from "../server/core.ts";
import { LogTail, tell } from "../store/log-tail.ts";
import type { LogEntry, Store } from "../store/store.ts";

/** Maximum number of changes that wait while the store is unavailable. Of several changes of the same thing, one waits. */
const maxWaiting = 1_000;
const retryInterval = 1_000;
/** Milliseconds without the store after which replies in sessions no longer wait until changes are in the log. */
export const longestWait = 30_000;
const lookInterval = 5_000;
const pageSize = 500;
const logName = "changes";
/** How long, and how many, changes are kept for clients that are away. */
const kept = { ttl: 86_400_000, maxLength: 10_000 };

/** A change with its position among all changes of the server, in whichever process it happened. */
export interface PlacedChange {
  readonly change: Change;
  readonly position: string;
  /** The notification of it, serialised once for all clients of this process. */
  readonly json: string;
}

export type TakeChange = (placed: PlacedChange) => void;
export type TakeSession = (session: string) => Promise<void>;

/**
 * The changes of a server in all processes that use its store. They are in one log, in one order.
 *
 * Streams of `subscriptions/listen` receive the changes of their own process at once, and those of other processes as they
 * arrive. Sessions follow only the log, so that a session can continue at its position on any process.
 */
export class SharedChanges {
  readonly #core: ServerCore;
  readonly #store: Store;
  /** Marks the entries of this process. */
  readonly #self: string = crypto.randomUUID();
  readonly #tail: LogTail;
  readonly #followers = new Set<TakeChange>();
  readonly #sessionFollowers = new Set<TakeSession>();
  readonly #waiting = new Map<string, Change>();
  /** The round that appends the waiting changes. One runs at a time. */
  #round: Promise<void> | undefined;
  #begun = 0;
  /** The last round that appended all changes that waited when it began. */
  #done = 0;
  /** Time of the first failure of the store. Undefined while the store works. */
  #failingSince: number | undefined;
  #joined: Promise<void> | undefined;
  #stopped = false;

  constructor(core: ServerCore, store: Store) {
    this.#core = core;
    this.#store = store;
    this.#tail = new LogTail({
      store,
      log: logName,
      clock: core.clock,
      interval: lookInterval,
      take: (entry) => this.#take(entry),
      report: (error) => core.report(error, undefined),
    });
  }

  /** The position of the last change that this process has read. */
  get position(): string | undefined {
    return this.#tail.position;
  }

  /** Starts to follow the log, once. Rejects if the store is unavailable. */
  join(): Promise<void> {
    this.#joined ??= this.#join().catch((error: unknown) => {
      this.#joined = undefined;
      throw error;
    });
    return this.#joined;
  }

  /** Sends a change to the other processes. If the store is unavailable, retries until it works again. */
  tell(change: Change): void {
    const key = keyOf(change);
    this.#waiting.delete(key);
    this.#waiting.set(key, change);
    if (this.#waiting.size > maxWaiting) this.#waiting.delete(this.#waiting.keys().next().value!);
    if (!this.#round) void this.#send();
  }

  /**
   * Resolves when the changes sent so far are in the log, so that they outlive this process, or when the store has been
   * unavailable for `patience` milliseconds. Changes that still wait then are sent later.
   */
  async told(patience = 0): Promise<void> {
    const { clock } = this.#core;
    const needed = this.#begun + 1;
    const isPatient = (): boolean => this.#failingSince === undefined || clock.now() - this.#failingSince < patience;
    while (this.#round && this.#waiting.size > 0 && this.#done < needed && isPatient()) await this.#round;
  }

  /** Calls `take` for each change from now on, until the returned function is called. */
  follow(take: TakeChange): () => void {
    this.#followers.add(take);
    return () => this.#followers.delete(take);
  }

  /**
   * Tells the other processes that the state of a session changed. The entry has its place among the changes, so each
   * process reads the new state before it reads a change that came after it.
   */
  async tellSession(session: string): Promise<void> {
    await tell(this.#store, logName, { value: JSON.stringify({ from: this.#self, session }), ...kept });
  }

  /** Calls `take` for each session that another process changed, and waits for it, until the returned function is called. */
  followSessions(take: TakeSession): () => void {
    this.#sessionFollowers.add(take);
    return () => this.#sessionFollowers.delete(take);
  }

  /** Returns the changes after a position that this process has read; of several changes of the same thing, the last. */
  async since(after: string | undefined): Promise<PlacedChange[]> {
    const last = this.position;
    const changes = new Map<string, PlacedChange>();
    if (last === undefined || after === last) return [];
    for (let from = after; ;) {
      const entries = await this.#store.readFrom(logName, from, pageSize);
      for (const entry of entries) {
        const placed = entry.position > last ? undefined : read(entry);
        if (!placed) continue;
        const key = keyOf(placed.change);
        changes.delete(key);
        changes.set(key, placed);
      }
      from = entries.at(-1)?.position;
      if (entries.length < pageSize || from === undefined || from >= last) return [...changes.values()];
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#tail.stop();
  }

  async #join(): Promise<void> {
    // An entry without content, because its position is where the log ends now.
    const now = await this.#store.append(logName, JSON.stringify({ from: this.#self }), kept);
    await this.#tail.start(now);
  }

  async #take(entry: LogEntry): Promise<void> {
    const placed = read(entry);
    if (!placed) return this.#takeSession(entry);
    for (const take of this.#followers) take(placed);
    if (placed.from !== this.#self) this.#core.changes.tell(placed.change);
  }

  async #takeSession({ value }: LogEntry): Promise<void> {
    const { from, session } = JSON.parse(value) as { from: string; session?: string };
    if (from === this.#self || session === undefined) return;
    for (const take of this.#sessionFollowers) await take(session);
  }

  async #send(): Promise<void> {
    const { clock } = this.#core;
    while (this.#waiting.size > 0 && !this.#stopped) {
      this.#round = this.#sendAll(++this.#begun).then(
        () => void (this.#failingSince = undefined),
        (error: unknown) => {
          if (this.#failingSince === undefined) this.#core.report(error, undefined);
          this.#failingSince ??= clock.now();
        },
      );
      await this.#round;
      if (this.#failingSince === undefined) continue;
      this.#round = new Promise<void>((resolve) => clock.setTimeout(resolve, retryInterval));
      await this.#round;
    }
    this.#round = undefined;
  }

  /** Appends all waiting changes concurrently, because a process that ends loses those that still wait. */
  async #sendAll(round: number): Promise<void> {
    const appended = await Promise.allSettled([...this.#waiting].map((waiting) => this.#append(waiting)));
    if (appended.some(({ status }) => status === "fulfilled")) void this.#store.publish(logName, "").catch(() => {});
    for (const outcome of appended) if (outcome.status === "rejected") throw outcome.reason;
    this.#done = round;
  }

  async #append([key, change]: [string, Change]): Promise<void> {
    await this.#store.append(logName, JSON.stringify({ from: this.#self, change }), kept);
    if (this.#waiting.get(key) === change) this.#waiting.delete(key);
  }
}

/** Reads an entry of the log. Returns undefined for an entry that is no change. */
function read({ position, value }: LogEntry): (PlacedChange & { from: string }) | undefined {
  const { from, change } = JSON.parse(value) as { from: string; change?: Change };
  if (!change) return undefined;
  let json: string | undefined;
  return {
    from,
    change,
    position,
    get json() {
      return (json ??= encode(toNotification(change)));
    },
  };
}
