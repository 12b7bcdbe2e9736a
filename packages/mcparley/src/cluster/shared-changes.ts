import { pause } from "../rpc/abort.ts";
import { encode } from "../rpc/messages.ts";
import { type Change, keyOf, toNotification } from "../server/core/changes.ts";
import type { ServerCore } from "../server/core/server-core.ts";
import { ChangeVersions } from "./change-versions.ts";
import { LogTail, appendAndNotify, readLog } from "../store/log-tail.ts";
import type { LogEntry, Store } from "../store/store.ts";

/** Maximum number of changes that wait while the store is unavailable. Of several changes of the same thing, one waits. */
const maxWaiting = 1_000;
const retryInterval = 1_000;
/** Milliseconds without the store after which replies in sessions no longer wait until changes are in the log. */
export const maxFlushWait = 30_000;
/** Milliseconds between two reads of the log without a notification. */
const pollInterval = 5_000;
const logName = "changes";
/** Milliseconds for which changes are stored for clients without a stream, and the maximum number of changes. */
const retention = { ttl: 86_400_000, maxLength: 10_000 };

/** A change with its position in the server's change log, which all processes share. */
export interface LoggedChange {
  readonly change: Change;
  readonly position: string;
  /** The notification of the change, encoded once for all clients of this process. */
  readonly json: string;
}

/** An entry of the log: a change, or the session whose state changed, or neither. */
interface Entry {
  /** The process that wrote the entry. */
  from: string;
  change?: Change;
  /** The version of the content after the change, if the server has versions. */
  version?: string | undefined;
  session?: string;
}

/** A change that is not in the log yet. */
interface WaitingChange {
  readonly change: Change;
  readonly version: string | undefined;
}

type OnChange = (change: LoggedChange) => void;
type OnSessionChange = (session: string) => Promise<void>;

/**
 * The changes of a server in all processes that use its store: one log, in one order.
 *
 * Streams of `subscriptions/listen` receive the changes of their own process at once, and those of other processes when the
 * log delivers them. Sessions follow only the log, so that a session can continue at its position on any process.
 */
export class SharedChanges {
  readonly #core: ServerCore;
  readonly #store: Store;
  /** Marks the entries of this process. */
  readonly #self: string = crypto.randomUUID();
  readonly #tail: LogTail;
  readonly #followers = new Set<OnChange>();
  readonly #sessionFollowers = new Set<OnSessionChange>();
  /** The changes that are not in the log yet, by key. */
  readonly #waiting = new Map<string, WaitingChange>();
  readonly #versions: ChangeVersions;
  /** Settles when the current attempt to append the waiting changes, or the pause after it, ends. Undefined if none wait. */
  #round: Promise<void> | undefined;
  /** Number of attempts that have begun. */
  #startedRounds = 0;
  /** The last attempt that appended all changes that waited when it began. */
  #lastSuccess = 0;
  /** Time of the first failure of the store. Undefined while the store works. */
  #failingSince: number | undefined;
  #joining: Promise<void> | undefined;
  #isStopped = false;

  constructor(core: ServerCore, store: Store) {
    this.#core = core;
    this.#store = store;
    this.#versions = new ChangeVersions(core.clock, (change, version) => this.#enqueue({ change, version }));
    this.#tail = new LogTail({
      store,
      log: logName,
      clock: core.clock,
      interval: pollInterval,
      take: (entry) => this.#receive(entry),
      report: (error) => core.report(error, undefined),
    });
  }

  /** The position of the last change that this process has read. */
  get position(): string | undefined {
    return this.#tail.position;
  }

  /** Starts to follow the log, once. Rejects if the store is unavailable. */
  join(): Promise<void> {
    this.#joining ??= this.#join().catch((error: unknown) => {
      this.#joining = undefined;
      throw error;
    });
    return this.#joining;
  }

  /** Sends a change to the other processes. If the store is unavailable, retries until it works again. */
  send(change: Change): void {
    const version = this.#core.definition.changeVersion?.(change);
    if (version === undefined) this.#enqueue({ change, version });
    else this.#versions.noteChange(change, version);
  }

  #enqueue(waiting: WaitingChange): void {
    const key = keyOf(waiting.change);
    this.#waiting.delete(key);
    this.#waiting.set(key, waiting);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > maxWaiting && oldest !== undefined) this.#waiting.delete(oldest);
    if (!this.#round) void this.#appendUntilDone();
  }

  /** Whether all changes sent so far are in the log. */
  get isFlushed(): boolean {
    return this.#waiting.size === 0 || !this.#round;
  }

  /**
   * Resolves when the changes sent so far are in the log, so that they outlive this process, or when the store has been
   * unavailable for `maxWait` milliseconds. Changes that still wait then are sent later.
   */
  async waitUntilFlushed(maxWait = 0): Promise<void> {
    const { clock } = this.#core;
    const nextRound = this.#startedRounds + 1;
    const mayWait = (): boolean => this.#failingSince === undefined || clock.now() - this.#failingSince < maxWait;
    while (!this.isFlushed && this.#lastSuccess < nextRound && mayWait()) await this.#round;
  }

  /** Calls `onChange` for each change from now on, until the returned function is called. */
  follow(onChange: OnChange): () => void {
    this.#followers.add(onChange);
    return () => this.#followers.delete(onChange);
  }

  /**
   * Notifies the other processes that the state of a session changed. The entry has its position among the changes, so each
   * process reads the new state before it reads any later change.
   */
  async sendSessionChange(session: string): Promise<void> {
    await appendAndNotify(this.#store, logName, { value: this.#entry({ session }), ...retention });
  }

  /** Calls `onChange` for each session that another process changed, and awaits it, until the returned function is called. */
  followSessions(onChange: OnSessionChange): () => void {
    this.#sessionFollowers.add(onChange);
    return () => this.#sessionFollowers.delete(onChange);
  }

  /**
   * Returns the changes after a position, up to the last change that this process has read. Of several changes of the same
   * thing, returns the last one.
   */
  async readSince(start: string | undefined): Promise<LoggedChange[]> {
    const last = this.position;
    const changes = new Map<string, LoggedChange>();
    if (last === undefined || start === last) return [];
    for await (const entry of readLog(this.#store, logName, start)) {
      const { position } = entry;
      if (position > last) break;
      const { change, version } = parseEntry(entry);
      if (change && !this.#versions.isRepeated(change, version, position)) {
        const key = keyOf(change);
        changes.delete(key);
        changes.set(key, loggedChange(change, position));
      }
    }
    return [...changes.values()];
  }

  async stop(): Promise<void> {
    this.#versions.stop();
    await this.waitUntilFlushed();
    this.#isStopped = true;
    await this.#tail.stop();
  }

  async #join(): Promise<void> {
    // The position of an entry without content is the current end of the log.
    const end = await this.#store.append(logName, this.#entry({}), retention);
    await this.#tail.start(end);
  }

  async #receive(entry: LogEntry): Promise<void> {
    const { from: writer, change, version, session } = parseEntry(entry);
    const isOwn = writer === this.#self;
    if (change) {
      if (!this.#versions.noteEntry(change, version, entry.position)) return;
      const sharedChange = loggedChange(change, entry.position);
      for (const onChange of this.#followers) onChange(sharedChange);
      if (!isOwn && !this.#versions.isDelivered(change, version)) this.#core.changes.deliver(change);
    } else if (session !== undefined && !isOwn) {
      for (const onChange of this.#sessionFollowers) await onChange(session);
    }
  }

  async #appendUntilDone(): Promise<void> {
    const { clock } = this.#core;
    while (this.#waiting.size > 0 && !this.#isStopped) {
      this.#round = this.#appendAll(++this.#startedRounds).then(
        () => void (this.#failingSince = undefined),
        (error: unknown) => {
          if (this.#failingSince === undefined) this.#core.report(error, undefined);
          this.#failingSince ??= clock.now();
        },
      );
      await this.#round;
      if (this.#failingSince === undefined) continue;
      this.#round = pause(clock, retryInterval);
      await this.#round;
    }
    this.#round = undefined;
  }

  /** Appends all waiting changes concurrently, because a process that ends loses those that still wait. */
  async #appendAll(round: number): Promise<void> {
    const appending = [...this.#waiting].map(async ([key, waiting]) => {
      await this.#store.append(logName, this.#entry({ ...waiting }), retention);
      if (this.#waiting.get(key) === waiting) this.#waiting.delete(key);
    });
    const outcomes = await Promise.allSettled(appending);
    if (outcomes.some(({ status }) => status === "fulfilled")) void this.#store.publish(logName, "").catch(() => {});
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    this.#lastSuccess = round;
  }

  #entry(content: Omit<Entry, "from">): string {
    return JSON.stringify({ from: this.#self, ...content });
  }
}

/** Parses an entry. Only processes of the server write entries, so they are not checked. */
function parseEntry({ value }: LogEntry): Entry {
  return JSON.parse(value);
}

/** Returns a change with its position. Its notification is encoded when the first client needs it. */
function loggedChange(change: Change, position: string): LoggedChange {
  let json: string | undefined;
  return {
    change,
    position,
    get json() {
      return (json ??= encode(toNotification(change)));
    },
  };
}
