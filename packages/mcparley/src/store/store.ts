/** An entry of a log. Pass its position to `readFrom` to continue after it. */
export interface LogEntry {
  /** Opaque. Greater than the position of every earlier entry. */
  readonly position: string;
  /** The appended text. */
  readonly value: string;
}

/** The lifetime of a value in a store. */
export interface Lifetime {
  /** Milliseconds after which the value expires. Every value has a lifetime, so that none is stored forever. */
  ttl: number;
}

/** Options of `compareAndSet` of a store. */
export interface CompareAndSetOptions extends Lifetime {
  /**
   * Whether the new value expires at the same time as the old one, by the clock of the store. `ttl` then applies only if
   * there is no old value. Default: false.
   */
  keepTtl?: boolean;
}

/** Options of an append to a log of a store. */
export interface AppendOptions extends Lifetime {
  /** Maximum number of entries. Older entries are dropped. */
  maxLength: number;
}

/**
 * Stores state that outlives a request: sessions, event logs, subscriptions, tasks, tokens. Implement it for a custom
 * database.
 *
 * Values are strings without lone surrogates. The library gives all keys of a server a common prefix. If the store is
 * unavailable, an operation rejects with `LocalError` `store_unavailable` in bounded time. The operation was then either
 * done completely or not at all.
 */
export interface Store {
  /** Returns the value, or undefined if there is none or it has expired. */
  get(key: string): Promise<string | undefined>;
  /** Sets a value, and replaces an existing one. It expires after the given lifetime. */
  set(key: string, value: string, options: Lifetime): Promise<void>;
  /**
   * Sets the value if the current one is `expected`. An `expected` of undefined means that there is no value. A `value` of
   * undefined deletes. Returns whether the value was set. Of two callers that expect the same value, at most one succeeds.
   */
  compareAndSet(
    key: string,
    expected: string | undefined,
    value: string | undefined,
    options: CompareAndSetOptions,
  ): Promise<boolean>;
  /** Deletes the value. Returns whether there was one. */
  delete(key: string): Promise<boolean>;
  /** Appends an entry to a log and returns its position. The lifetime of the log starts again. */
  append(log: string, value: string, options: AppendOptions): Promise<string>;
  /**
   * Returns at most `limit` entries after a position, the oldest first. An undefined position means the start of the log.
   */
  readFrom(log: string, after: string | undefined, limit: number): Promise<LogEntry[]>;
  /** Sends a message to the current subscribers. The message is not stored. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Calls `listener` with each message, in order, until the returned function is called. `missed` is called if messages may
   * have been lost, for example after a reconnect. The subscriber must then read the state again.
   */
  subscribe(channel: string, listener: (message: string) => void, missed?: () => void): Promise<() => Promise<void>>;
  /** Closes connections and files of the store. */
  close(): Promise<void>;
}
