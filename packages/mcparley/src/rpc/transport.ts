import type { JsonRpcMessage, RequestId } from "./messages.ts";

/** Receives the events of a transport. Passed to `start` once. */
export interface Receiver {
  /**
   * Called for each parsed value, in the order of arrival.
   *
   * The value is not validated. It can be any JSON value; a batch is an array.
   */
  message(value: unknown): void;
  /**
   * Called if a sent request could not be delivered, or if its response is lost, while the transport stays open. Used by
   * transports that send each request separately.
   */
  failed?(id: RequestId, error: Error): void;
  /**
   * Called if a sent request waits for a user, for example for a sign-in. Its time limits are stopped until the returned
   * function is called.
   */
  waits?(id: RequestId): () => void;
  /** Called for input that is not JSON or exceeds a limit. The transport stays open. */
  malformed(error: Error): void;
  /**
   * Called with the error when a separate stream for messages that belong to no request breaks, and with undefined when it
   * is open again. Such messages may be lost in between.
   */
  interrupted?(cause: Error | undefined): void;
  /** Called if the server no longer knows the session. Requests in flight may still be answered; send no new ones. */
  sessionLost?(cause: Error): void;
  /** Called at most once, at the end of the input. Responses can still be sent. */
  ended?(): void;
  /** Called once, when the transport is closed. `cause` is absent after an orderly end. */
  closed(cause?: Error): void;
}

/** Data for the transport of one message, such as HTTP headers. Transports ignore the data that does not concern them. */
export interface Envelope {
  /** HTTP headers to add to the message. Transports other than HTTP ignore them. */
  headers?: Readonly<Record<string, string>>;
  /**
   * Maximum size of the reply in bytes, if it is more than the default limit of the transport. A limit that the user has
   * configured has precedence.
   */
  maxReply?: number;
}

/**
 * Sends and receives JSON-RPC messages. Implement it for a custom transport.
 *
 * A transport over a byte stream should write each message as one line of JSON, as stdio does.
 */
export interface Transport {
  /** The network, for telemetry. Undefined within a process. */
  readonly network?: "tcp" | "pipe" | undefined;
  /** Opens the transport and starts to deliver messages. Rejects if no connection can be made. */
  start(receiver: Receiver): void | Promise<void>;
  /**
   * Sends one message, or several as one batch, after all messages that were sent before.
   *
   * If sending fails, rejects or calls `closed`. Never throws synchronously.
   */
  send(message: JsonRpcMessage | JsonRpcMessage[], envelope?: Envelope): void | Promise<void>;
  /**
   * Called with whether there are subscribers to messages that belong to no request. A transport with a separate stream for
   * them keeps it open as long as there are any.
   */
  needMessages?(isNeeded: boolean): void;
  /**
   * Waits until a request that is sent at once does not wait for others. Rejects if the signal is aborted. Called before a call
   * if many are in flight. For transports that limit the number of requests in flight.
   */
  turn?(signal: AbortSignal | undefined): void | Promise<void>;
  /** Closes the transport and settles when it is closed. A second call does nothing. */
  close(): Promise<void>;
}
