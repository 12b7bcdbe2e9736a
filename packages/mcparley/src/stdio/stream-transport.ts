import type { Readable, Writable } from "node:stream";
import { type Clock, systemClock } from "../rpc/clock.ts";
import { LocalError } from "../rpc/errors.ts";
import type { JsonRpcMessage } from "../rpc/messages.ts";
import type { Receiver, Transport } from "../rpc/transport.ts";
import { DEFAULT_MAX_LINE_BYTES, jsonLines } from "./json-lines.ts";
import { DEFAULT_MAX_UNREAD_BYTES, LineWriter } from "./line-writer.ts";
import { lineReader } from "./lines.ts";
import { within } from "./within.ts";

/** Options of `streamTransport`. */
export interface StreamTransportOptions {
  /** Bytes of one line. A longer one is dropped and reported; the stream goes on. 16 MiB. */
  maxLineBytes?: number;
  /** Bytes that may wait for a peer that does not read; with more, the transport closes. 64 MiB. */
  maxUnreadBytes?: number;
  /** Leave the output open when the transport closes, for a stream that outlives it. False unless given. */
  keepOutput?: boolean;
  /** Milliseconds that `close` waits for the peer to take what was sent before. 2,000. */
  closeTimeout?: number;
  clock?: Clock;
}

/**
 * Makes a transport of two byte streams, such as the two ends of a pipe or both sides of one socket, that carries each
 * message as a line of JSON (2026-07-28, basic/transports/stdio).
 *
 * The transport owns the streams from `start` on and closes them with itself. A broken stream closes it and never
 * throws. Sending gives a promise while the peer is slower than the sender. A server on a `node:net` socket needs
 * `allowHalfOpen: true`, or else Node closes the socket before the calls in flight are answered.
 */
export function streamTransport(input: Readable, output: Writable, options: StreamTransportOptions = {}): Transport {
  return new StreamTransport(input, output, options);
}

class StreamTransport implements Transport {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #options: StreamTransportOptions;
  readonly #writer: LineWriter;
  #receiver: Receiver | undefined;
  #isInputOver = false;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(input: Readable, output: Writable, options: StreamTransportOptions) {
    this.#input = input;
    this.#output = output;
    this.#options = options;
    const maxUnread = options.maxUnreadBytes ?? DEFAULT_MAX_UNREAD_BYTES;
    this.#writer = new LineWriter(output, maxUnread, (error) => this.#shut(error));
  }

  get network(): "pipe" {
    return "pipe";
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    // Both stay for as long as the streams do: an error that comes after the end must not end the process.
    this.#input.on("error", (error) => this.#shut(broken(error)));
    this.#output.on("error", (error) => this.#shut(broken(error)));
    this.#output.on("close", () => this.#shut(undefined));
    if (this.#isClosed || this.#input.readableEnded || this.#input.destroyed || this.#output.destroyed) {
      queueMicrotask(() => this.#shut(undefined));
      return;
    }
    this.#listen(receiver);
  }

  send(message: JsonRpcMessage | JsonRpcMessage[]): void | Promise<void> {
    return this.#writer.send(message);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #listen(receiver: Receiver): void {
    const limit = this.#options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
    const reader = lineReader(
      limit,
      jsonLines(
        whileOpen(receiver, () => !this.#isClosed),
        limit,
      ),
    );
    const end = (): void => {
      if (this.#isInputOver) return;
      this.#isInputOver = true;
      reader.end();
      this.#endOfInput();
    };
    this.#input.on("data", (chunk: Uint8Array | string) =>
      reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk),
    );
    this.#input.once("end", end);
    // A stream that is destroyed from outside closes without an end.
    this.#input.once("close", end);
  }

  #endOfInput(): void {
    if (this.#isClosed || this.#closing) return;
    if (this.#receiver?.ended) this.#receiver.ended();
    else void this.close();
  }

  async #close(): Promise<void> {
    const { closeTimeout = 2_000, clock = systemClock } = this.#options;
    if (!this.#isClosed) await within(this.#finishOutput(), closeTimeout, clock);
    this.#shut(undefined);
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

  #shut(cause: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#writer.end(new LocalError("closed", "The connection is closed.", { cause }));
    this.#input.destroy();
    if (!this.#options.keepOutput) this.#output.destroy();
    this.#receiver?.closed(cause);
  }
}

function whileOpen(receiver: Receiver, isOpen: () => boolean): Receiver {
  return {
    message: (value) => {
      if (isOpen()) receiver.message(value);
    },
    malformed: (error) => {
      if (isOpen()) receiver.malformed(error);
    },
    failed: (id, error) => {
      if (isOpen()) receiver.failed?.(id, error);
    },
    closed: () => {},
  };
}

function broken(cause: Error & { code?: string }): LocalError {
  return new LocalError("closed", `The connection broke: ${cause.code ?? cause.message}.`, { cause });
}
