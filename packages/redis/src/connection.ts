/** What a store needs of a client, whichever package it is of. */
export interface Connection {
  /** Whether keys are spread over several servers. */
  readonly isCluster: boolean;
  /**
   * Sends one command about one key, or about none. It is sent once: a command whose reply is lost is not sent again
   * later, and one that was not sent within `within` milliseconds never is.
   */
  send(key: string | undefined, command: readonly string[], within: number): Promise<unknown>;
  /** Begins to receive messages, on a connection of its own. */
  receive(receiver: Receiver): Promise<Messages>;
  /** Closes what was opened here; the client that was given stays as it is. */
  close(): Promise<void>;
}

export interface Receiver {
  message(channel: string, message: string): void;
  /** Called once messages arrive again after they may have been lost. */
  missed(): void;
}

/** A connection that messages arrive by. It connects again by itself, to the same channels. */
export interface Messages {
  subscribe(channel: string): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  close(): Promise<void>;
}
