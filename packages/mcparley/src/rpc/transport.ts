import type { JsonRpcMessage, RequestId } from "./messages.ts";

/** What a transport tells its owner. The owner gives it once, to `start`. */
export interface Receiver {
  /**
   * Called for each parsed value, strictly in the order of arrival.
   *
   * The value is not checked: it may be anything that JSON can say, an array where the peer sent a batch.
   */
  message(value: unknown): void;
  /**
   * Called for a request of this side that could not be delivered, or whose answer is lost, while the transport goes on:
   * for transports that carry each request by itself.
   */
  failed?(id: RequestId, error: Error): void;
  /**
   * Called for a request of this side that waits for a person, such as one who signs in: its clocks stand still until the
   * function that it returns is called.
   */
  waits?(id: RequestId): () => void;
  /** Called for what the peer sent that is not JSON, or is over a limit; the transport stays open. */
  malformed(error: Error): void;
  /** Called at most once, when nothing more will arrive though answers can still be sent: the end of a byte stream. */
  ended?(): void;
  /** Called once, when nothing more can arrive or be sent; `cause` is absent after an orderly end. */
  closed(cause?: Error): void;
}

/** What goes beside a message where the transport has an envelope for it, as HTTP has headers; others ignore it. */
export interface Envelope {
  headers?: Readonly<Record<string, string>>;
}

/**
 * Moves JSON-RPC messages between two sides and knows nothing about MCP: the seam for transports of one's own.
 *
 * A transport over a byte stream should frame messages as lines of JSON, as stdio does.
 */
export interface Transport {
  /** What the messages travel over; undefined within a process. For those who watch over calls. */
  readonly network?: "tcp" | "pipe" | undefined;
  /** Opens the transport and begins to deliver. Rejects where no connection can be made. */
  start(receiver: Receiver): void | Promise<void>;
  /**
   * Sends one message, or several as one batch, after all those sent before it.
   *
   * Rejects, or calls `closed`, when it cannot be sent; it never throws into the caller's stack.
   */
  send(message: JsonRpcMessage | JsonRpcMessage[], envelope?: Envelope): void | Promise<void>;
  /** Ends the transport in an orderly way and settles when it has ended. A second call does nothing. */
  close(): Promise<void>;
}
