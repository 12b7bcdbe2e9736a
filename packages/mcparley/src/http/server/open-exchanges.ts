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
 * Whether all exchanges share one timer, or each one has its own.
 *
 * Workers end the timers of a request with the request that set them, and end a request that has neither a timer nor other
 * work. A shared timer would stop with the first request.
 */
export type Timers = "shared" | "separate";

/**
 * The exchanges of one endpoint that are not answered yet. Calls `onInterval` of each one at regular intervals.
 *
 * A shared timer is possible because the intervals are equal: the order of the map is the order of the due times. Most
 * exchanges are answered before their first interval ends, and only need an insertion and a removal.
 */
export class OpenExchanges {
  readonly timers: Timers;
  /** The exchanges, with their separate timers. */
  readonly #open = new Map<OpenExchange, unknown>();
  readonly #clock: Clock;
  readonly #interval: number;
  /** The shared timer. */
  #timer: unknown;
  #drained: (() => void)[] = [];
  /** True after `endStreams`. No standalone or listen streams are opened any more. */
  isEnding = false;

  /** `interval` is in milliseconds. */
  constructor(clock: Clock, interval: number, timers: Timers) {
    this.#clock = clock;
    this.#interval = interval;
    this.timers = timers;
  }

  get size(): number {
    return this.#open.size;
  }

  add(exchange: OpenExchange): void {
    exchange.due = this.#clock.now() + this.#interval;
    if (this.timers === "separate") return this.#start(exchange);
    this.#open.set(exchange, undefined);
    this.#timer ??= this.#clock.setTimeout(() => this.#onTimer(), this.#interval);
  }

  remove(exchange: OpenExchange): void {
    if (this.timers === "separate") this.#clock.clearTimeout(this.#open.get(exchange));
    this.#open.delete(exchange);
    if (this.#open.size > 0 || this.#drained.length === 0) return;
    for (const resolve of this.#drained) resolve();
    this.#drained = [];
  }

  /** Ends the streams that the server would otherwise keep open. From now on no such stream may be opened. */
  endStreams(): void {
    this.isEnding = true;
    for (const exchange of this.#open.keys()) exchange.endStream?.();
  }

  /** Settles when no exchange is open. */
  drained(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** Stops the timers. Called when the endpoint closes. */
  stop(): void {
    for (const timer of [this.#timer, ...this.#open.values()]) {
      if (timer !== undefined) this.#clock.clearTimeout(timer);
    }
    this.#timer = undefined;
  }

  /** Starts the separate timer of an exchange. */
  #start(exchange: OpenExchange): void {
    const onTimer = (): void => {
      this.#start(exchange);
      exchange.onInterval();
    };
    this.#open.set(exchange, this.#clock.setTimeout(onTimer, this.#interval));
  }

  /** Calls the exchanges that are due, and restarts the shared timer. */
  #onTimer(): void {
    const now = this.#clock.now();
    for (const exchange of this.#open.keys()) {
      if (exchange.due > now) break;
      // The exchange moves to the end of the map, because its next due time is the latest.
      this.#open.delete(exchange);
      exchange.due = now + this.#interval;
      this.#open.set(exchange, undefined);
      exchange.onInterval();
    }
    const next = this.#open.keys().next();
    this.#timer = next.done ? undefined : this.#clock.setTimeout(() => this.#onTimer(), next.value.due - now);
  }
}
