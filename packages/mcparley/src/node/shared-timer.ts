import { type OpenExchange, OpenExchanges } from "../http/server/open-exchanges.ts";

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
