import type { Readable, Writable } from "node:stream";
import { settlesWithin } from "../rpc/abort.ts";
import { type Clock, checkTime, systemClock } from "../rpc/clock.ts";
import { LocalError } from "../rpc/errors.ts";
import type { JsonRpcMessage } from "../rpc/messages.ts";
import type { Envelope, Receiver, Transport } from "../rpc/transport.ts";
import { DEFAULT_MAX_UNREAD_BYTES, LineWriter } from "./line-writer.ts";
import { LineLimit, LineReader, jsonLines } from "./lines.ts";

/** Options of `streamTransport`. */
export interface StreamTransportOptions {
  /**
   * Maximum size of a line in bytes. A longer line is dropped and reported. Default: 16 MiB, or more for the reply to
   * `resources/read`.
   */
  maxLineBytes?: number;
  /**
   * Maximum number of bytes that wait for the peer to read, without the message that is being sent. With more, the transport
   * closes. Default: 64 MiB.
   */
  maxUnreadBytes?: number;
  /** Whether the output stays open when the transport closes. Default: false. */
  keepOutput?: boolean;
  /** Milliseconds that `close` waits for the peer to read the messages that were sent before. Default: 2,000. */
  closeTimeout?: number;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

/**
 * Returns a transport over two byte streams, such as two pipes or a socket, with one line of JSON for each message
 * (2026-07-28, basic/transports/stdio).
 *
 * `start` takes ownership of the streams; they are closed with the transport. An error of a stream closes the transport
 * and is never thrown. `send` returns a promise while the peer reads slower than this side sends. A server on a `node:net`
 * socket needs `allowHalfOpen: true`, because otherwise Node closes the socket before the calls in flight are answered.
 *
 * @example
 * ```ts
 * import { createServer as createSocketServer } from "node:net";
 * import { createServer } from "mcparley/server";
 * import { streamTransport } from "mcparley/stdio";
 *
 * const server = createServer({ name: "hello", version: "1.0.0" });
 * createSocketServer({ allowHalfOpen: true }, (socket) => {
 *   void server.attach(streamTransport(socket, socket));
 * }).listen(4000, "127.0.0.1");
 * ```
 */
export function streamTransport(input: Readable, output: Writable, options: StreamTransportOptions = {}): Transport {
  return new StreamTransport(input, output, options);
}

/** The implementation of `streamTransport`. */
export class StreamTransport implements Transport {
  /** Settles at the end of the input. */
  readonly inputEnd: Promise<void>;
  /** Settles when both streams are closed. */
  readonly end: Promise<void>;
  #settleInputEnd!: () => void;
  #settleEnd!: () => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #options: StreamTransportOptions;
  readonly #writer: LineWriter;
  readonly #limit: LineLimit;
  #receiver: Receiver | undefined;
  #isInputOver = false;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(input: Readable, output: Writable, options: StreamTransportOptions) {
    this.#input = input;
    this.#output = output;
    checkTime("closeTimeout", options.closeTimeout);
    this.#options = options;
    this.inputEnd = new Promise((resolve) => {
      this.#settleInputEnd = resolve;
    });
    this.end = new Promise((resolve) => {
      this.#settleEnd = resolve;
    });
    this.#limit = new LineLimit(options.maxLineBytes);
    const maxUnread = options.maxUnreadBytes ?? DEFAULT_MAX_UNREAD_BYTES;
    this.#writer = new LineWriter(output, maxUnread, (error) => this.#destroy(error));
  }

  get network(): "pipe" {
    return "pipe";
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    // These listeners are never removed, because an unhandled error after the end would end the process.
    this.#input.on("error", (error) => this.#destroy(broken(error)));
    this.#output.on("error", (error) => this.#destroy(broken(error)));
    this.#output.on("close", () => this.#destroy(undefined));
    if (this.#isClosed || this.#input.readableEnded || this.#input.destroyed || this.#output.destroyed) {
      queueMicrotask(() => this.#destroy(undefined));
      return;
    }
    const sink = jsonLines(receiver, this.#limit, () => !this.#isClosed);
    const reader = new LineReader(this.#limit, sink);
    const end = (): void => {
      if (this.#isInputOver) return;
      this.#isInputOver = true;
      reader.end();
      if (this.#isClosed || this.#closing) return;
      if (receiver.ended) receiver.ended();
      else void this.close();
      this.#settleInputEnd();
    };
    this.#input.on("data", (chunk: Uint8Array | string) =>
      reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk),
    );
    this.#input.once("end", end);
    // A destroyed stream emits `close` without `end`.
    this.#input.once("close", end);
  }

  send(message: JsonRpcMessage | JsonRpcMessage[], envelope?: Envelope): void | Promise<void> {
    this.#limit.noteSent(message, envelope);
    return this.#writer.send(message);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { closeTimeout = 2_000, clock = systemClock } = this.#options;
    if (!this.#isClosed) await settlesWithin(this.#finishOutput(), closeTimeout, clock);
    this.#destroy(undefined);
  }

  async #finishOutput(): Promise<void> {
    await this.#writer.flush();
    this.#writer.end(new LocalError("closed", "The connection is closing."));
    if (this.#options.keepOutput || this.#isClosed) return;
    await new Promise<void>((resolve) => {
      this.#output.once("close", resolve);
      this.#output.end(resolve);
    });
  }

  /** Closes both streams at once, and notifies the receiver. */
  #destroy(cause: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#writer.end(new LocalError("closed", "The connection is closed.", { cause }));
    this.#input.destroy();
    if (!this.#options.keepOutput) this.#output.destroy();
    this.#receiver?.closed(cause);
    this.#settleEnd();
  }
}

function broken(cause: Error & { code?: string }): LocalError {
  return new LocalError("closed", `The connection failed: ${cause.code ?? cause.message}.`, { cause });
}
