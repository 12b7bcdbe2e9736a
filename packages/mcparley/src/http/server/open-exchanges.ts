import type { Clock } from "../../rpc/clock.ts";

/** Microtask turns in which a body that is in memory already is read. */
const bufferedTurns = 32;

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
 * that has neither a timer nor other work. A process of Node or Bun shares one timer: see `SharedTimer`.
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

  /** Adds an exchange. No timer is set if it is removed soon, such as a body that is in memory already. */
  addLater(exchange: OpenExchange): void {
    this.open.set(exchange, undefined);
    void this.#startTimer(exchange);
  }

  async #startTimer(exchange: OpenExchange): Promise<void> {
    for (let turn = 0; turn < bufferedTurns && this.open.has(exchange); turn++) await Promise.resolve();
    if (this.open.has(exchange)) this.add(exchange);
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

/**
 * The open exchanges of an endpoint in a process, with one timer for all of them.
 *
 * Their intervals are equal, so the order of the map is the order of their due times. Most exchanges are answered before
 * their first interval ends, and only need an insertion and a removal.
 */
export class SharedTimer extends OpenExchanges {
  #timer: unknown;

  override add(exchange: OpenExchange): void {
    exchange.due = this.clock.now() + this.interval;
    this.open.set(exchange, undefined);
    this.#timer ??= this.clock.setTimeout(() => this.#onTimer(), this.interval);
  }

  override addLater(exchange: OpenExchange): void {
    this.add(exchange);
  }

  override stop(): void {
    this.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #onTimer(): void {
    const now = this.clock.now();
    for (const exchange of this.open.keys()) {
      if (exchange.due > now) break;
      // The exchange moves to the end of the map, because its next due time is the latest.
      this.open.delete(exchange);
      exchange.due = now + this.interval;
      this.open.set(exchange, undefined);
      exchange.onInterval();
    }
    const next = this.open.keys().next();
    this.#timer = next.done ? undefined : this.clock.setTimeout(() => this.#onTimer(), next.value.due - now);
  }
}
