/** An entry of a log, with the position that reading on from it needs. */
export interface LogEntry {
  /** Opaque, and greater than that of every entry before it. */
  readonly position: string;
  readonly value: string;
}

export interface Lifetime {
  /** Milliseconds after which the value is gone. Everything in a store has an end, so that nothing is left behind. */
  ttl: number;
}

export interface AppendOptions extends Lifetime {
  /** The most entries that are kept; older ones are dropped. */
  maxLength: number;
}

/**
 * Where state lives that outlasts a request: sessions, event logs, subscriptions, tasks, tokens.
 *
 * Values are strings, without lone surrogates. Keys are the caller's to choose, apart from each other by a prefix of its
 * own. Where the store is out of reach an operation rejects with the `LocalError` `store_unavailable`, in bounded time; it
 * was then done or not, and never in part.
 */
export interface Store {
  /** The value, or undefined where there is none or it has expired. */
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, options: Lifetime): Promise<void>;
  /**
   * Sets the value only where the present one is `expected`, undefined meaning none; a `value` of undefined deletes.
   * Returns whether it did. Two callers that expect the same never both succeed.
   */
  compareAndSet(
    key: string,
    expected: string | undefined,
    value: string | undefined,
    options: Lifetime,
  ): Promise<boolean>;
  /** Returns whether there was a value. */
  delete(key: string): Promise<boolean>;
  /** Adds an entry to the end of a log and gives its position. The log's lifetime starts anew. */
  append(log: string, value: string, options: AppendOptions): Promise<string>;
  /** The entries after a position, or from the start where it is undefined; at most `limit`, the oldest first. */
  readFrom(log: string, after: string | undefined, limit: number): Promise<LogEntry[]>;
  /** Hands a message to everyone who is subscribed now; nobody hears of it later. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Calls `listener` for each message, in order, until the function it gives is called. `missed` is called where messages
   * may have been lost, as after a connection broke: whoever depends on them looks again at what they were about.
   */
  subscribe(channel: string, listener: (message: string) => void, missed?: () => void): Promise<() => Promise<void>>;
  /** Lets go of what the store holds open. */
  close(): Promise<void>;
}
