import { encode } from "../rpc/messages.ts";
import { type Change, type Elsewhere, keyOf, toNotification } from "../server/changes.ts";
import type { ServerCore } from "../server/dispatch/core.ts";
import { LogTail, tell } from "../store/log-tail.ts";
import { reaching } from "../store/reaching.ts";
import type { LogEntry, Store } from "../store/store.ts";

/** The most changes that wait while the store is out of reach; of the same thing one waits. */
const maxWaiting = 1_000;
const retryInterval = 1_000;
/** Milliseconds without the store after which answers in sessions wait no longer for what was told to be in its log. */
export const longestWait = 30_000;
const lookInterval = 5_000;
const pageSize = 500;
/** How long, and how many, changes are kept for clients that are away. */
const kept = { ttl: 86_400_000, maxLength: 10_000 };

/** A change in its place among all those of the server, whichever process it happened in. */
export interface PlacedChange {
  readonly change: Change;
  readonly position: string;
  /** The notification of it, serialised once for all whom this process tells. */
  readonly json: string;
}

export type TakeChange = (placed: PlacedChange) => void;
export type TakeSession = (session: string) => Promise<void>;

/**
 * The changes of a server in all processes that share a store: they are in one log, in one order.
 *
 * What is told by itself (open streams of `subscriptions/listen`) hears of this process's changes at once, and of others' as
 * they come. Sessions follow the log alone, so that each can go on where it stopped, in whichever process that was.
 */
export class SharedChanges implements Elsewhere {
  readonly #core: ServerCore;
  readonly #store: Store;
  readonly #log: string;
  readonly #self: string = crypto.randomUUID();
  readonly #tail: LogTail;
  readonly #followers = new Set<TakeChange>();
  readonly #sessionFollowers = new Set<TakeSession>();
  readonly #waiting = new Map<string, Change>();
  /** What is told at once, one such round after the other. */
  #round: Promise<void> | undefined;
  #begun = 0;
  /** When the store was first seen to be out of reach; undefined while it is not. */
  #failingSince: number | undefined;
  /** The last round in which all got into the log that waited when it began. */
  #done = 0;
  #joined: Promise<void> | undefined;
  #users = 0;
  #stopped = false;

  constructor(core: ServerCore, store: Store) {
    this.#core = core;
    this.#store = store;
    this.#log = `mcparley:changes:${core.info.name}`;
    this.#tail = new LogTail({
      store,
      log: this.#log,
      clock: core.clock,
      interval: lookInterval,
      take: (entry) => this.#take(entry),
      report: (error) => core.report(error, undefined),
    });
  }

  /** Whether nobody uses it any more. */
  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Notes that an endpoint uses it, until the function it gives is called. The last one to go ends it. */
  use(): () => Promise<void> {
    this.#users++;
    this.#core.changes.elsewhere = this;
    return async () => {
      if (--this.#users === 0) await this.#stop();
    };
  }

  /** The position of the last change that this process knows of. */
  get position(): string | undefined {
    return this.#tail.position;
  }

  /** Begins to hear of changes, once. Rejects where the store is out of reach. */
  join(): Promise<void> {
    this.#joined ??= this.#join().catch((error: unknown) => {
      this.#joined = undefined;
      throw error;
    });
    return this.#joined;
  }

  /** Tells the other processes of a change; where the store is out of reach, once it is there again. */
  tell(change: Change): void {
    const key = keyOf(change);
    this.#waiting.delete(key);
    this.#waiting.set(key, change);
    if (this.#waiting.size > maxWaiting) this.#waiting.delete(this.#waiting.keys().next().value!);
    if (!this.#round) void this.#send();
  }

  /**
   * Settles once what this process told until now is in the log, so that it does not end with this process; or else once the
   * store has been out of reach for `patience` milliseconds. What waits is told once it is there again.
   */
  async told(patience = 0): Promise<void> {
    const { clock } = this.#core;
    const needed = this.#begun + 1;
    const isPatient = (): boolean => this.#failingSince === undefined || clock.now() - this.#failingSince < patience;
    while (this.#round && this.#waiting.size > 0 && this.#done < needed && isPatient()) await this.#round;
  }

  /** Calls `take` for each change that comes from now on, until the function it gives is called. */
  follow(take: TakeChange): () => void {
    this.#followers.add(take);
    return () => this.#followers.delete(take);
  }

  /**
   * Tells the other processes that a session wants to hear of something else from now on. It has its place among the changes, so
   * that each process knows of it before it hears of a change that comes after it.
   */
  async tellSession(session: string): Promise<void> {
    await tell(this.#store, this.#log, JSON.stringify({ from: this.#self, session }), kept);
  }

  /** Calls `take` for the sessions of which other processes tell that, and waits for it, until the function it gives is called. */
  followSessions(take: TakeSession): () => void {
    this.#sessionFollowers.add(take);
    return () => this.#sessionFollowers.delete(take);
  }

  /** The changes after a position, as far as this process has heard of them; of the same thing the last one. */
  async since(after: string | undefined): Promise<PlacedChange[]> {
    const last = this.position;
    const changes = new Map<string, PlacedChange>();
    if (last === undefined || after === last) return [];
    for (let from = after; ;) {
      const entries = await this.#store.readFrom(this.#log, from, pageSize);
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

  async #stop(): Promise<void> {
    this.#stopped = true;
    if (this.#core.changes.elsewhere === this) this.#core.changes.elsewhere = undefined;
    await this.#tail.stop();
  }

  async #join(): Promise<void> {
    // An entry that says nothing, to know where the log is now.
    const now = await this.#store.append(this.#log, JSON.stringify({ from: this.#self }), kept);
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

  /** At the same time, since a process that ends takes along what still waits for its turn. */
  async #sendAll(round: number): Promise<void> {
    const appended = await Promise.allSettled([...this.#waiting].map((waiting) => this.#append(waiting)));
    if (appended.some(({ status }) => status === "fulfilled")) void this.#store.publish(this.#log, "").catch(() => {});
    for (const outcome of appended) if (outcome.status === "rejected") throw outcome.reason;
    this.#done = round;
  }

  async #append([key, change]: [string, Change]): Promise<void> {
    await this.#store.append(this.#log, JSON.stringify({ from: this.#self, change }), kept);
    if (this.#waiting.get(key) === change) this.#waiting.delete(key);
  }
}

/** Reads an entry of the log; undefined for one that says nothing. */
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

const shared = new WeakMap<ServerCore, SharedChanges>();

/**
 * The changes that a server shares through a store: the same for all its endpoints in this process. `stop` says that one
 * does not use them any more.
 */
export function useChanges(core: ServerCore, store: Store): { changes: SharedChanges; stop: () => Promise<void> } {
  const found = shared.get(core);
  const changes = found && !found.isStopped ? found : new SharedChanges(core, reaching(store));
  shared.set(core, changes);
  return { changes, stop: changes.use() };
}
