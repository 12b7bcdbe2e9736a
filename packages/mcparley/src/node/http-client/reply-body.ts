import type { ReplyBody, ReplyReader } from "../../http/client/reply.ts";
import { CollectedBytes } from "../../rpc/collected-bytes.ts";

/** The connection that a body arrives on. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** Closes the connection. */
  cancel(): void;
}

type Part = Awaited<ReturnType<ReplyReader["read"]>>;

/** Number of bytes that wait to be read at which the source is paused. */
const MAX_WAITING_BYTES = 262_144;
/** Number of bytes up to which the parts of a text are joined at its end. */
const JOINED_BYTES = 65_536;

/** The body of a reply. It keeps the parts that have arrived, so a body that has arrived completely is read at once. */
export class ArrivingBody implements ReplyBody, ReplyReader {
  readonly #source: BodySource;
  readonly #length: number;
  #parts: Buffer[] = [];
  /** The start of a long text. The parts follow. */
  #collectedBytes: CollectedBytes | undefined;
  #bytes = 0;
  #isEnded = false;
  #error: unknown;
  /** Whether `text` reads the body, so that all parts are kept. */
  #isCollected = false;
  /** Called when a part, the end or an error arrives. */
  #wake: (() => void) | undefined;

  /** `length` is the announced number of bytes. 0 if it is unknown. */
  constructor(source: BodySource, length: number) {
    this.#source = source;
    this.#length = length;
  }

  /** Adds a part. */
  push(part: Buffer): void {
    if (this.#isEnded) return;
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#isCollected) return this.#collect();
    if (this.#bytes > MAX_WAITING_BYTES) this.#source.pause();
    this.#wake?.();
  }

  /** Ends the body. With an error, reading fails after the parts that have arrived. Later calls do nothing. */
  end(error?: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#error = error;
    this.#wake?.();
  }

  /** Ends the body with an error that reading throws at once. */
  abort(reason: unknown): void {
    this.#drop();
    this.end(reason);
  }

  getReader(): ReplyReader {
    return this;
  }

  async read(): Promise<Part> {
    while (this.#parts.length === 0 && !this.#isEnded) await this.#next();
    const value = this.#parts.shift();
    if (value === undefined) {
      if (this.#error !== undefined) throw this.#error;
      return { done: true };
    }
    this.#bytes -= value.length;
    if (this.#parts.length === 0) this.#source.resume();
    return { done: false, value };
  }

  /** Returns the whole body as text, without a byte order mark. */
  text(): Promise<string> {
    const [only] = this.#parts;
    // Most replies are short and have arrived completely.
    if (!only || this.#parts.length > 1 || !this.#isEnded || this.#error !== undefined) return this.#whenEnded();
    this.#drop();
    return Promise.resolve(decode(only));
  }

  async #whenEnded(): Promise<string> {
    this.#isCollected = true;
    this.#collect();
    this.#source.resume();
    while (!this.#isEnded) await this.#next();
    if (this.#error !== undefined) {
      this.#drop();
      throw this.#error;
    }
    const text = decode(this.#bytesOf(this.#parts));
    this.#drop();
    return text;
  }

  #bytesOf(parts: readonly Buffer[]): Buffer {
    if (this.#collectedBytes) {
      const { buffer, byteOffset, byteLength } = this.#collectedBytes.view;
      return Buffer.from(buffer, byteOffset, byteLength);
    }
    const [first] = parts;
    return parts.length === 1 && first ? first : Buffer.concat(parts);
  }

  /** Moves the parts of a long text to one place. Joined at the end, they would need twice the memory. */
  #collect(): void {
    if (this.#bytes <= JOINED_BYTES) return;
    this.#collectedBytes ??= new CollectedBytes();
    for (const part of this.#parts) this.#collectedBytes.add(part, this.#length);
    this.#parts = [];
  }

  #drop(): void {
    this.#parts = [];
    this.#collectedBytes?.clear();
    this.#collectedBytes = undefined;
  }

  cancel(): Promise<void> {
    if (!this.#isEnded) this.#source.cancel();
    this.abort(undefined);
    return Promise.resolve();
  }

  releaseLock(): void {}

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }
}

function decode(bytes: Buffer): string {
  const text = bytes.toString();
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}
