/** The members used of a client of the package `redis`, from `createClient`, `createSentinel` or `createCluster`. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  sendCommand(...args: never[]): Promise<unknown>;
  duplicate(): unknown;
}

/** The members used of a client of the package `ioredis`: a `Redis`, with or without Sentinel, or a `Redis.Cluster`. */
export interface IoredisClient {
  readonly status: string;
  call(...args: never[]): Promise<unknown>;
  duplicate(): unknown;
}

/** A client of either package. The types are structural, so that neither package has to be installed. */
export type RedisClient = NodeRedisClient | IoredisClient;

/** The operations that a store needs of a client, independent of the client's package. */
export interface Connection {
  /** Whether keys are spread over several servers. */
  readonly isCluster: boolean;
  /**
   * Sends one command, which concerns one key or no key. The command is never resent if its reply is lost. It is dropped
   * if it cannot be sent within `timeLeft` milliseconds.
   */
  send(key: string | undefined, command: readonly string[], timeLeft: number): Promise<unknown>;
  /** Opens a separate connection that receives messages. */
  receive(receiver: Receiver): Promise<Messages>;
  /** Closes the connections opened here. The caller's client stays open. */
  close(): Promise<void>;
}

/** The listeners of a connection that receives messages. */
export interface Receiver {
  message(channel: string, message: string): void;
  /** Called after a reconnect, when messages arrive again. Messages sent before it may have been lost. */
  onMissed(): void;
}

/** A connection that receives messages. It reconnects automatically and subscribes to the same channels again. */
export interface Messages {
  subscribe(channel: string): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  close(): Promise<void>;
}
