import type { Clock } from "../../packages/mcparley/src/rpc/clock.ts";
import { flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";

interface Timer {
  at: number;
  fn: () => void;
}

/** A clock that advances from timer to timer, so that a test does not depend on the length of a pause. */
export class SteppedClock implements Clock {
  #now = Date.parse("2026-11-22T00:00:00Z");
  readonly #timers = new Set<Timer>();
  readonly #peers = new Set<Timer>();

  /** The same clock for the peer, whose timers are not counted. */
  readonly peer: Clock = {
    now: () => this.#now,
    setTimeout: (fn, ms) => this.#set(this.#peers, fn, ms),
    clearTimeout: (handle) => void this.#peers.delete(handle as Timer),
  };

  now(): number {
    return this.#now;
  }

  setTimeout(fn: () => void, ms: number): unknown {
    return this.#set(this.#timers, fn, ms);
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as Timer);
  }

  /** The number of timers of the client that are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Runs the next timer, or advances to `end` if no timer expires before. Returns whether there was a timer. */
  step(end = Infinity): boolean {
    let next: Timer | undefined;
    for (const timer of [...this.#timers, ...this.#peers]) if (!next || timer.at < next.at) next = timer;
    if (!next || next.at > end) {
      if (Number.isFinite(end)) this.#now = Math.max(this.#now, end);
      return false;
    }
    this.#timers.delete(next);
    this.#peers.delete(next);
    this.#now = next.at;
    next.fn();
    return true;
  }

  /** Advances by `ms` milliseconds, from timer to timer. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await flushPromises();
    while (this.step(end)) await flushPromises();
  }

  #set(timers: Set<Timer>, fn: () => void, ms: number): Timer {
    const timer = { at: this.#now + Math.max(0, ms), fn };
    timers.add(timer);
    return timer;
  }
}

/** How an operation ended, and after how much simulated time. */
export type Settled<T> = { value: T; ms: number } | { error: unknown; ms: number };

/** The limits of one operation: simulated milliseconds, and timers. The longest default of the client is 30 minutes. */
const longest = 2 * 60 * 60_000;
const mostTimers = 3_000;

/** Advances the clock from timer to timer until the promise settles. Throws if it never does. */
export async function drive<T>(clock: SteppedClock, what: string, running: Promise<T>): Promise<Settled<T>> {
  const began = clock.now();
  let end: Settled<T> | undefined;
  const ms = (): number => clock.now() - began;
  running.then(
    (value) => (end = { value, ms: ms() }),
    (error: unknown) => (end = { error, ms: ms() }),
  );
  for (let timers = 0; timers < mostTimers; timers++) {
    await flushPromises();
    if (end) return end;
    if (!clock.step()) throw new Error(`${what} never settles: no timer is set, and nothing is in flight.`);
    if (ms() > longest) break;
  }
  throw new Error(`${what} did not settle within ${Math.round(ms() / 1000)} s of simulated time.`);
}
