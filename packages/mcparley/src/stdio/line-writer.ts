import { LocalError } from "../rpc/errors.ts";
import { type JsonRpcMessage, encode } from "../rpc/messages.ts";

/** What the writer needs of a stream; every `Writable` has it. */
export interface Output {
  write(text: string, done?: (error?: Error | null) => void): boolean;
  once(event: "drain", listener: () => void): unknown;
  readonly writableLength: number;
}

/** The bytes that may wait for a peer that does not read, unless an option says otherwise: 64 MiB. */
export const DEFAULT_MAX_UNREAD_BYTES = 67_108_864;

/** From here on, what is gathered is written without waiting for the turn to end. */
const GATHERED_CHARS = 262_144;

/**
 * Writes messages as lines, all those of one turn of the event loop with one write.
 *
 * While the stream asks to wait, messages are gathered here and `send` gives a promise that settles when it has drained.
 */
export class LineWriter {
  readonly #output: Output;
  readonly #maxUnread: number;
  readonly #onStuck: (error: LocalError) => void;
  #lines: string[] = [];
  #chars = 0;
  #isScheduled = false;
  #drained: Promise<void> | undefined;
  #ended: Error | undefined;
  #settleDrained: (() => void) | undefined;

  /** `onStuck` is told, and nothing more is taken, when the peer leaves more than `maxUnread` bytes unread. */
  constructor(output: Output, maxUnread: number, onStuck: (error: LocalError) => void) {
    this.#output = output;
    this.#maxUnread = maxUnread;
    this.#onStuck = onStuck;
  }

  send(message: JsonRpcMessage | JsonRpcMessage[]): void | Promise<void> {
    if (this.#ended) return Promise.reject(this.#ended);
    let line: string;
    try {
      line = Array.isArray(message) ? `[${message.map(encode).join(",")}]\n` : `${encode(message)}\n`;
    } catch (error) {
      return Promise.reject(error);
    }
    this.#lines.push(line);
    this.#chars += line.length;
    if (this.#drained) return this.#wait();
    if (this.#chars >= GATHERED_CHARS) this.#write();
    else this.#schedule();
    return this.#drained;
  }

  /** Settles when all that was sent before has been handed to the system, or cannot be any more. */
  async flush(): Promise<void> {
    while (!this.#ended && this.#chars > 0) {
      if (this.#drained) await this.#drained;
      else this.#write();
    }
    // Writes finish in order, so that this one finishes after all before it; a broken stream finishes it with an error.
    if (!this.#ended) await new Promise<void>((resolve) => this.#output.write("", () => resolve()));
  }

  /** Takes nothing more; what waits is dropped. */
  end(cause: Error): void {
    this.#ended ??= cause;
    this.#lines = [];
    this.#chars = 0;
    this.#settleDrained?.();
  }

  #wait(): void | Promise<void> {
    const unread = this.#chars + this.#output.writableLength;
    if (unread <= this.#maxUnread) return this.#drained;
    const text = `The peer does not read: ${unread} bytes wait for it, more than the ${this.#maxUnread} of maxUnreadBytes.`;
    const error = new LocalError("closed", text);
    this.end(error);
    this.#onStuck(error);
    return Promise.reject(error);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // A tick runs after all promises of this turn have settled, so that answers which become ready together leave together.
    process.nextTick(() => {
      this.#isScheduled = false;
      if (!this.#drained) this.#write();
    });
  }

  #write(): void {
    if (this.#chars === 0) return;
    const text = this.#lines.length === 1 ? (this.#lines[0] as string) : this.#lines.join("");
    this.#lines = [];
    this.#chars = 0;
    if (this.#output.write(text) || this.#ended) return;
    this.#drained = new Promise<void>((resolve) => {
      this.#settleDrained = resolve;
      this.#output.once("drain", resolve);
    }).then(() => {
      this.#drained = undefined;
      this.#settleDrained = undefined;
      this.#write();
    });
  }
}
