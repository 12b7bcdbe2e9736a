import { type Clock, systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { AppendOptions, CompareAndSetOptions, Lifetime, LogEntry, Store } from "../../store/store.ts";
import { Outbox, type StoreReply, type StoreRequest, type StoreResult, leaseTime } from "./store-messages.ts";

type Tail<T> = T extends [id: number, ...tail: infer Rest] ? Rest : never;
/** An operation without its number. */
type Operation = Tail<StoreRequest>;

interface Waiting {
  readonly startedAt: number;
  resolve(this: void, result: StoreResult, isLeased: boolean): void;
  reject(this: void, error: Error): void;
}

interface Channel {
  readonly listeners: Set<(message: string) => void>;
  /** Resolves when the primary process sends the messages of the channel. */
  readonly subscription: Promise<void>;
}

/** Milliseconds after which an operation fails. The primary process answers at once, unless it is stopped. */
const timeout = 15_000;

/** Milliseconds since an arbitrary time. Unlike `Date.now`, it does not change when the time of the system is set. */
export const monotonicClock: Clock = { ...systemClock, now: () => performance.now() };

/**
 * The store of a worker, which is in the memory of the primary process.
 *
 * A worker with a lease for a value uses it without a message. All processes see the same order of changes: a change waits
 * until no other worker uses the old value.
 */
export class RemoteStore implements Store {
  readonly #clock: Clock;
  readonly #outbox: Outbox<StoreRequest>;
  readonly #cache = new ReadCache();
  /** By number. The oldest is first. */
  readonly #waiting = new Map<number, Waiting>();
  readonly #channels = new Map<string, Channel>();
  #lastId = 0;
  #timer: unknown;

  /** `send` sends messages to the primary process. */
  constructor(send: (requests: StoreRequest[]) => void, clock: Clock = monotonicClock) {
    this.#outbox = new Outbox(send);
    this.#clock = clock;
  }

  async get(key: string): Promise<string | undefined> {
    const now = this.#clock.now();
    const entry = this.#cache.find(key, now);
    if (entry && now < entry.leaseEnd) return entry.value;
    return this.#request(["get", key, entry !== undefined], (result, isLeased) => {
      const value = result as string | null;
      if (isLeased && entry && value !== null) this.#cache.fill(entry, value, now);
      return value ?? undefined;
    });
  }

  set(key: string, value: string, { ttl }: Lifetime): Promise<void> {
    this.#cache.drop(key);
    return this.#request(["set", key, value, { ttl }], () => {});
  }

  compareAndSet(
    key: string,
    expected: string | undefined,
    value: string | undefined,
    options: CompareAndSetOptions,
  ): Promise<boolean> {
    this.#cache.drop(key);
    return this.#request(["compareAndSet", key, expected ?? null, value ?? null, options], isTrue);
  }

  delete(key: string): Promise<boolean> {
    this.#cache.drop(key);
    return this.#request(["delete", key], isTrue);
  }

  append(log: string, value: string, options: AppendOptions): Promise<string> {
    return this.#request(["append", log, value, options], (position) => position as string);
  }

  readFrom(log: string, position: string | undefined, limit: number): Promise<LogEntry[]> {
    return this.#request(["readFrom", log, position ?? null, limit], (entries) => entries as LogEntry[]);
  }

  publish(channel: string, message: string): Promise<void> {
    return this.#request(["publish", channel, message], () => {});
  }

  async subscribe(name: string, listener: (message: string) => void): Promise<() => Promise<void>> {
    const channel = this.#channels.get(name) ?? {
      listeners: new Set(),
      subscription: this.#request(["subscribe", name], () => {}),
    };
    this.#channels.set(name, channel);
    // A new function for each subscription, so that one listener can subscribe twice.
    const ownListener = (message: string): void => listener(message);
    channel.listeners.add(ownListener);
    const leave = (): void => {
      channel.listeners.delete(ownListener);
      if (channel.listeners.size === 0 && this.#channels.get(name) === channel) this.#channels.delete(name);
    };
    await channel.subscription.catch((error: unknown) => {
      leave();
      throw error;
    });
    return async () => {
      leave();
      if (!this.#channels.has(name)) await this.#request(["unsubscribe", name], () => {});
    };
  }

  /** Does nothing. The store ends with the primary process. */
  async close(): Promise<void> {}

  /** Receives messages of the primary process. */
  receive(replies: readonly StoreReply[]): void {
    for (const reply of replies) this.#receive(reply);
  }

  #receive(reply: StoreReply): void {
    switch (reply[0]) {
      case "message":
        for (const listener of this.#channels.get(reply[1])?.listeners ?? []) listener(reply[2]);
        return;
      case "drop":
        this.#cache.drop(reply[2]);
        this.#outbox.push([reply[1], "dropped"]);
        return;
      default: {
        const [kind, id, result] = reply;
        const waiting = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (kind === "failed") waiting?.reject(new LocalError("store_unavailable", `The store failed: ${result}`));
        else waiting?.resolve(result, kind === "leased");
      }
    }
  }

  #request<T>(operation: Operation, read: (result: StoreResult, isLeased: boolean) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, {
        startedAt: this.#clock.now(),
        resolve: (result, isLeased) => resolve(read(result, isLeased)),
        reject,
      });
      if (this.#timer === undefined) this.#timer = this.#clock.setTimeout(() => this.#failLate(), timeout);
      this.#outbox.push([id, ...operation]);
    });
  }

  /** Fails the operations that have waited too long. */
  #failLate(): void {
    this.#timer = undefined;
    const limit = this.#clock.now() - timeout;
    for (const [id, { startedAt, reject }] of this.#waiting) {
      if (startedAt > limit) break;
      this.#waiting.delete(id);
      const message = `The primary process has not answered for ${timeout / 1_000} seconds, so the store is unavailable.`;
      reject(new LocalError("store_unavailable", message));
    }
    const [oldest] = this.#waiting.values();
    if (!oldest) return;
    this.#timer = this.#clock.setTimeout(() => this.#failLate(), oldest.startedAt + timeout - this.#clock.now());
  }
}

function isTrue(result: StoreResult): boolean {
  return result === true;
}

/** A key that was read, with its value if there is a lease for it. */
interface CachedRead {
  value: string | undefined;
  /** The end of the lease. */
  leaseEnd: number;
}

/** Maximum length of the values that are added within one lease time, in characters. */
const maxCacheLength = 8_388_608;

/**
 * The keys that a worker has read within the last two lease times.
 *
 * A worker asks for a lease when it reads a key again that it has not written since. So a session in use is read once per
 * lease time, and a counter that every process writes is never leased.
 */
class ReadCache {
  #recent = new Map<string, CachedRead>();
  #older = new Map<string, CachedRead>();
  #rotateAt = -Infinity;
  #length = 0;

  /** Returns the entry of a key. Undefined if the key was not read recently. Notes the read. */
  find(key: string, now: number): CachedRead | undefined {
    if (now >= this.#rotateAt || this.#length > maxCacheLength) this.#rotate(now);
    const recent = this.#recent.get(key);
    if (recent) return recent;
    const older = this.#older.get(key);
    this.#recent.set(key, older ?? { value: undefined, leaseEnd: -Infinity });
    this.#length += key.length + (older?.value?.length ?? 0);
    return older;
  }

  /** Stores a value with a lease that starts at `now`. If the key was dropped since, this has no effect. */
  fill(read: CachedRead, value: string, now: number): void {
    this.#length += value.length - (read.value?.length ?? 0);
    read.value = value;
    read.leaseEnd = now + leaseTime;
  }

  drop(key: string): void {
    this.#recent.delete(key);
    this.#older.delete(key);
  }

  #rotate(now: number): void {
    // Both are obsolete if nothing was read for a lease time.
    this.#older = now >= this.#rotateAt + leaseTime ? new Map() : this.#recent;
    this.#recent = new Map();
    this.#length = 0;
    this.#rotateAt = now + leaseTime;
  }
}
