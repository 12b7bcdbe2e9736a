import type { Clock } from "../../rpc/clock.ts";

/** An exchange that is not answered yet. */
export interface OpenExchange {
  /** When it is to give a sign of life; kept by `OpenExchanges`. */
  due: number;
  /** Gives a sign of life, so that no proxy takes the connection for dead. */
  beat(): void;
  /** Ends it from this side, in an orderly way, where it is a stream without an end of its own. */
  endStream(): void;
}

/**
 * The exchanges of one endpoint that are being answered, each of which gives a sign of life at regular intervals.
 *
 * One timer serves them all: as all wait equally long, they come due in the order in which they are in the set. Most
 * are answered before, and cost an insertion and a removal.
 */
export class OpenExchanges {
  readonly #open = new Set<OpenExchange>();
  readonly #clock: Clock;
  readonly #interval: number;
  #timer: unknown;
  #drained: (() => void)[] = [];
  /** Streams without an end of their own are ended, and no more are opened. */
  isEnding = false;

  constructor(clock: Clock, interval: number) {
    this.#clock = clock;
    this.#interval = interval;
  }

  get size(): number {
    return this.#open.size;
  }

  add(exchange: OpenExchange): void {
    exchange.due = this.#clock.now() + this.#interval;
    this.#open.add(exchange);
    this.#timer ??= this.#clock.setTimeout(() => this.#beat(), this.#interval);
  }

  remove(exchange: OpenExchange): void {
    this.#open.delete(exchange);
    if (this.#open.size > 0 || this.#drained.length === 0) return;
    for (const resolve of this.#drained) resolve();
    this.#drained = [];
  }

  /** Ends the streams among them that have no end of their own; from now on no more of them are to be opened. */
  endStreams(): void {
    this.isEnding = true;
    for (const exchange of this.#open) exchange.endStream();
  }

  /** Settles when none is open. */
  drained(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** Stops the signs of life, as when the endpoint is gone. */
  stop(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #beat(): void {
    const now = this.#clock.now();
    for (const exchange of this.#open) {
      if (exchange.due > now) break;
      // To the end of the set, where it is the last to come due again.
      this.#open.delete(exchange);
      exchange.due = now + this.#interval;
      this.#open.add(exchange);
      exchange.beat();
    }
    const next = this.#open.values().next();
    this.#timer = next.done ? undefined : this.#clock.setTimeout(() => this.#beat(), next.value.due - now);
  }
}
