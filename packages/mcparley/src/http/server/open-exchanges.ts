import type { Clock } from "../../rpc/clock.ts";

/** An exchange that is not answered yet. */
export interface OpenExchange {
  /** The time of the next call of `onInterval`. Only `SharedTimer` sets it. */
  due: number;
  /** Called after each interval. A stream sends a keep-alive, so that no proxy closes its connection as idle. */
  onInterval(): void;
  /** Ends a stream gracefully that the server would otherwise keep open. Exchanges that end soon have no such method. */
  endStream?(): void;
}

/**
 * The exchanges of one endpoint that are not answered yet. Calls `onInterval` of each one at regular intervals.
 *
 * Each exchange has a separate timer. Workers end the timers of a request with the request that set them, and end a request
 * that has neither a timer nor other work. A process of Node shares one timer: see `SharedTimer`.
 */
export class OpenExchanges {
  /** The exchanges with their timers. */
  protected readonly open: Map<OpenExchange, unknown> = new Map();
  protected readonly clock: Clock;
  protected readonly interval: number;
  #drainListeners: (() => void)[] = [];
  /** True after `endStreams`. No standalone or listen streams are opened any more. */
  isEnding = false;

  /** `interval` is in milliseconds. */
  constructor(clock: Clock, interval: number) {
    this.clock = clock;
    this.interval = interval;
  }

  get size(): number {
    return this.open.size;
  }

  add(exchange: OpenExchange): void {
    const onTimer = (): void => {
      this.add(exchange);
      exchange.onInterval();
    };
    this.open.set(exchange, this.clock.setTimeout(onTimer, this.interval));
  }

  remove(exchange: OpenExchange): void {
    this.clock.clearTimeout(this.open.get(exchange));
    this.open.delete(exchange);
    if (this.open.size > 0 || this.#drainListeners.length === 0) return;
    for (const resolve of this.#drainListeners) resolve();
    this.#drainListeners = [];
  }

  /** Ends the streams that the server would otherwise keep open. From now on no such stream may be opened. */
  endStreams(): void {
    this.isEnding = true;
    for (const exchange of this.open.keys()) exchange.endStream?.();
  }

  /** Settles when no exchange is open. */
  waitForDrain(): Promise<void> {
    if (this.open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drainListeners.push(resolve));
  }

  /** Stops the timers. Called when the endpoint closes. */
  stop(): void {
    for (const timer of this.open.values()) this.clock.clearTimeout(timer);
  }
}
