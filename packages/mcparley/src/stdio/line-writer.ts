import { LocalError } from "../rpc/errors.ts";
import { encodeLarge, endOfSlice } from "../rpc/encode-large.ts";
import { type JsonRpcMessage, encode } from "../rpc/messages.ts";

/** The part of `Writable` that the writer uses. */
interface Output {
  write(text: string, done?: (error?: Error | null) => void): boolean;
  once(event: "drain", listener: () => void): unknown;
  readonly writableLength: number;
}

/** Default of `maxUnreadBytes`: 64 MiB. */
export const DEFAULT_MAX_UNREAD_BYTES = 67_108_864;

/** Bytes of memory that a queued message needs in addition to its text, so that many short messages count as well. */
const MESSAGE_BYTES = 512;

/**
 * Number of queued characters from which on messages are written before the end of the turn. Longer text is written in
 * slices, because Node copies each text that it writes, into up to three bytes for each character.
 */
const FULL_CHARS = 262_144;

/**
 * Writes messages as lines. All messages of one turn of the event loop are written at once.
 *
 * While the stream is full, messages are queued and `send` returns a promise that settles when the stream has drained.
 */
export class LineWriter {
  readonly #output: Output;
  readonly #maxUnread: number;
  readonly #onStuck: (error: LocalError) => void;
  /** The text that is not written: lines, or parts of them. */
  #parts: string[] = [];
  #chars = 0;
  /** The characters of `#parts` that were queued before the stream was full: at most one large message. They are not limited. */
  #acceptedChars = 0;
  #isScheduled = false;
  #draining: Promise<void> | undefined;
  #endCause: Error | undefined;
  #settleDraining: (() => void) | undefined;

  /** If the peer leaves more than `maxUnread` bytes unread, `onStuck` is called and the writer ends. */
  constructor(output: Output, maxUnread: number, onStuck: (error: LocalError) => void) {
    this.#output = output;
    this.#maxUnread = maxUnread;
    this.#onStuck = onStuck;
  }

  send(message: JsonRpcMessage | JsonRpcMessage[]): void | Promise<void> {
    if (this.#endCause) return Promise.reject(this.#endCause);
    try {
      const large = Array.isArray(message) ? undefined : encodeLarge(message);
      if (large) for (const part of large) this.#add(part);
      this.#add(large ? "\n" : `${encodeAll(message)}\n`);
    } catch (error) {
      return Promise.reject(error);
    }
    if (this.#draining) return this.#wait();
    if (this.#chars >= FULL_CHARS) this.#write();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      // A tick runs after the promises of this turn have settled, so that their responses share one write.
      process.nextTick(() => {
        this.#isScheduled = false;
        if (!this.#draining) this.#write();
      });
    }
    return this.#draining;
  }

  /** Settles when the operating system has received all earlier messages, or the writer has ended. */
  async flush(): Promise<void> {
    while (!this.#endCause && this.#chars > 0) {
      if (this.#draining) await this.#draining;
      else this.#write();
    }
    // Writes finish in order, so this one finishes last. On a broken stream it finishes with an error.
    if (!this.#endCause) await new Promise<void>((resolve) => this.#output.write("", () => resolve()));
  }

  /** Drops the queued messages and rejects later ones. */
  end(cause: Error): void {
    this.#endCause ??= cause;
    this.#parts = [];
    this.#chars = this.#acceptedChars = 0;
    this.#settleDraining?.();
  }

  #add(part: string): void {
    this.#parts.push(part);
    this.#chars += part.length;
    if (!this.#draining) this.#acceptedChars += part.length;
  }

  #wait(): void | Promise<void> {
    const unread = this.#chars - this.#acceptedChars + this.#parts.length * MESSAGE_BYTES + this.#output.writableLength;
    if (unread <= this.#maxUnread) return this.#draining;
    const text = `The peer does not read. ${unread} bytes are unread, and maxUnreadBytes is ${this.#maxUnread}.`;
    const error = new LocalError("closed", text);
    this.end(error);
    this.#onStuck(error);
    return Promise.reject(error);
  }

  #write(): void {
    while (this.#chars > 0) {
      if (this.#output.write(this.#take()) || this.#endCause) continue;
      this.#draining = new Promise<void>((resolve) => {
        this.#settleDraining = resolve;
        this.#output.once("drain", resolve);
      }).then(() => {
        this.#draining = undefined;
        this.#settleDraining = undefined;
        this.#write();
      });
      return;
    }
  }

  #take(): string {
    const text = this.#chars <= FULL_CHARS ? this.#takeAll() : this.#takeSlice();
    this.#chars -= text.length;
    this.#acceptedChars = Math.max(0, this.#acceptedChars - text.length);
    return text;
  }

  #takeAll(): string {
    const parts = this.#parts;
    this.#parts = [];
    return parts.length === 1 ? parts[0]! : parts.join("");
  }

  #takeSlice(): string {
    const parts = this.#parts;
    let text = "";
    let count = 0;
    while (text.length + parts[count]!.length <= FULL_CHARS) text += parts[count++];
    parts.splice(0, count);
    const [next = ""] = parts;
    const end = endOfSlice(next, FULL_CHARS - text.length);
    parts[0] = next.slice(end);
    return text + next.slice(0, end);
  }
}

function encodeAll(message: JsonRpcMessage | JsonRpcMessage[]): string {
  return Array.isArray(message) ? `[${message.map(encode).join(",")}]` : encode(message);
}
