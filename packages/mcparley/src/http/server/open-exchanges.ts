import type { Clock } from "../../rpc/clock.ts";

/** An exchange that is not answered yet. */
export interface OpenExchange {
  /** The time of the next call of `onInterval`. Only `OpenExchanges` sets it. */
  due: number;
  /** Called after each interval. A stream sends a keep-alive, so that no proxy closes its connection as idle. */
  onInterval(): void;
  /** Ends a stream gracefully that the server would otherwise keep open. Exchanges that end soon have no such method. */
  endStream?(): void;
}

/**
 * The exchanges of one endpoint that are not answered yet. Calls `onInterval` of each one at regular intervals.
 *
 * One timer serves all exchanges: their intervals are equal, so the order of the set is the order of their due times. Most
 * exchanges are answered before their first interval ends, and only need an insertion and a removal.
 */
export class OpenExchanges {
  readonly #open = new Set<OpenExchange>();
  readonly #clock: Clock;
  readonly #interval: number;
  #timer: unknown;
  #drained: (() => void)[] = [];
  /** True after `endStreams`. No standalone or listen streams are opened any more. */
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
    this.#timer ??= this.#clock.setTimeout(() => this.#onTimer(), this.#interval);
  }

  remove(exchange: OpenExchange): void {
    this.#open.delete(exchange);
    if (this.#open.size > 0 || this.#drained.length === 0) return;
    for (const resolve of this.#drained) resolve();
    this.#drained = [];
  }

  /** Ends the streams that the server would otherwise keep open. From now on no such stream may be opened. */
  endStreams(): void {
    this.isEnding = true;
    for (const exchange of this.#open) exchange.endStream?.();
  }

  /** Settles when no exchange is open. */
  drained(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** Stops the timer. Called when the endpoint closes. */
  stop(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #onTimer(): void {
    const now = this.#clock.now();
    for (const exchange of this.#open) {
      if (exchange.due > now) break;
      // The exchange moves to the end of the set, because its next due time is the latest.
      this.#open.delete(exchange);
      exchange.due = now + this.#interval;
      this.#open.add(exchange);
      exchange.onInterval();
    }
    const next = this.#open.values().next();
    this.#timer = next.done ? undefined : this.#clock.setTimeout(() => this.#onTimer(), next.value.due - now);
  }
}
