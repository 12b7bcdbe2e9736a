import type { SteppedClock } from "../stepped-clock.ts";

/**
 * The fate of the body of a response: all of it arrives, it arrives slowly, nothing of it arrives, or its connection is
 * reset or closed: an event stream after its first event, JSON in the middle.
 */
export type Shape = "whole" | "slow" | "lost" | "reset" | "ended";

/** Milliseconds between two parts of a slow body. */
const partMs = 10_000;

/** The body of one response, which a peer writes. */
export class Feed {
  readonly body: ReadableStream<Uint8Array>;
  isOpen = true;
  shape: Shape;
  readonly #clock: SteppedClock;
  readonly #signal: AbortSignal | undefined;
  readonly #onClosed: () => void;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #parts: (string | undefined)[] = [];
  #timer: unknown;

  constructor(
    clock: SteppedClock,
    { signal, shape, onClosed }: { signal: AbortSignal | undefined; shape: Shape; onClosed: () => void },
  ) {
    this.#clock = clock;
    this.#signal = signal;
    this.shape = shape;
    this.#onClosed = onClosed;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#controller = controller),
      cancel: () => this.#closed(),
    });
    signal?.addEventListener("abort", this.#abort);
  }

  /** Writes an event of a stream. */
  event(event: string): void {
    if (!this.isOpen) return;
    if (this.shape === "slow") return this.#slowly(event);
    if (this.shape === "lost") return this.end();
    this.#enqueue(event);
    if (this.shape === "reset") this.reset();
    else if (this.shape === "ended") this.end();
  }

  /** Writes a whole document and ends. */
  document(text: string): void {
    if (!this.isOpen) return;
    if (this.shape === "reset") {
      this.#enqueue(text.slice(0, text.length / 2));
      return this.reset();
    }
    if (this.shape === "slow") this.#slowly(text);
    else if (this.shape !== "lost") this.#enqueue(text);
    this.end();
  }

  end(): void {
    if (this.#parts.length > 0) return void this.#parts.push(undefined);
    if (!this.isOpen) return;
    this.#controller.close();
    this.#closed();
  }

  /** Resets the connection. Data that the reader has not read is lost. */
  reset(): void {
    // The reader first reads the data that has arrived.
    setImmediate(() => this.#fail(connectionReset()));
  }

  #fail(error: unknown): void {
    if (!this.isOpen) return;
    this.#controller.error(error);
    this.#closed();
  }

  readonly #abort = (): void => this.#fail(this.#signal?.reason);

  #enqueue(text: string): void {
    this.#controller.enqueue(new TextEncoder().encode(text));
  }

  #slowly(text: string): void {
    const third = Math.ceil(text.length / 3);
    this.#parts.push(text.slice(0, third), text.slice(third, 2 * third), text.slice(2 * third));
    if (this.#timer === undefined) this.#next();
  }

  #next(): void {
    this.#timer = this.#clock.peer.setTimeout(() => {
      this.#timer = undefined;
      this.#enqueue(this.#parts.shift() ?? "");
      if (this.#parts.length === 0) return;
      if (this.#parts[0] !== undefined) return this.#next();
      this.#parts = [];
      this.end();
    }, partMs);
  }

  #closed(): void {
    this.isOpen = false;
    this.#parts = [];
    if (this.#timer !== undefined) this.#clock.peer.clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#onClosed();
  }
}

/** The error with which `fetch` of Node reports a connection that was reset. */
export function connectionReset(): TypeError {
  return new TypeError("fetch failed", { cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }) });
}

/** The error with which `fetch` of Node reports a port on which nothing listens. */
export function connectionRefused(): TypeError {
  const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:80"), { code: "ECONNREFUSED" });
  return new TypeError("fetch failed", { cause });
}
