/** An entry of a log, with the position from which to continue. */
export interface LogEntry {
  /** Opaque. Greater than the positions of all entries before it, compared as strings. */
  readonly position: string;
  readonly value: string;
}

export interface Lifetime {
  /** Milliseconds after which the value expires. Everything in a store expires, so that nothing stays forever. */
  ttl: number;
}

export interface AppendOptions extends Lifetime {
  /** Maximum number of entries. Older ones are dropped. */
  maxLength: number;
}

/**
 * Keeps state that outlives a request or is shared between processes, such as sessions, event logs and tasks. Pass it to
 * `createServer({ store })`.
 *
 * Keys and values are strings without lone surrogates. If the store is unavailable, an operation rejects with the `LocalError`
 * `store_unavailable` in bounded time. It was then done completely or not at all.
 */
export interface Store {
  /** Returns the value, or undefined if there is none or it has expired. */
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, options: Lifetime): Promise<void>;
  /**
   * Sets the value if the current one is `expected`; undefined means no value. A `value` of undefined deletes the key. Returns
   * whether the value was set. Two callers that expect the same value never both succeed.
   */
  compareAndSet(
    key: string,
    expected: string | undefined,
    value: string | undefined,
    options: Lifetime,
  ): Promise<boolean>;
  /** Returns whether there was a value. */
  delete(key: string): Promise<boolean>;
  /** Appends an entry to a log and returns its position. The log's lifetime starts again. */
  append(log: string, value: string, options: AppendOptions): Promise<string>;
  /** Returns the entries after a position, or from the start if it is undefined. At most `limit`, the oldest first. */
  readFrom(log: string, after: string | undefined, limit: number): Promise<LogEntry[]>;
  /** Sends a message to the current subscribers. It is not kept. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Calls `listener` for each message, in order, until the returned function is called. `missed` is called if messages may have
   * been lost, such as after a broken connection; the subscriber must then read the state again.
   */
  subscribe(channel: string, listener: (message: string) => void, missed?: () => void): Promise<() => Promise<void>>;
  /** Releases the connections and files of the store. */
  close(): Promise<void>;
}
