import { Backoff } from "../rpc/backoff.ts";
import { type Clock, wakefulClock } from "../rpc/clock.ts";

/** A process that runs for this many milliseconds has not failed to start. */
const RECOVERED_MS = 30_000;

/**
 * Delays the start of a program whose process ended soon after each of its last starts. The first restart is immediate, so
 * that a single crash delays no call.
 */
export class Restarts {
  readonly #clock: Clock;
  #cancelling = new AbortController();
  #backoff: Backoff;
  #startedAt = 0;
  #failures = 0;

  constructor(clock: Clock = wakefulClock) {
    this.#clock = clock;
    this.#backoff = new Backoff(clock, this.#cancelling.signal);
  }

  /** Waits until the program may be started. Undefined if that is now. */
  wait(): Promise<void> | undefined {
    return this.#failures > 1 ? this.#backoff.wait() : undefined;
  }

  /** Rejects all waits. */
  cancel(): void {
    this.#cancelling.abort();
    this.#cancelling = new AbortController();
    this.#backoff = new Backoff(this.#clock, this.#cancelling.signal);
  }

  started(): void {
    this.#startedAt = this.#clock.now();
  }

  /** Records that the process ended by itself. Returns a sentence for its error, or an empty text. */
  ended(): string {
    if (this.#clock.now() - this.#startedAt >= RECOVERED_MS) {
      this.#failures = 0;
      this.#backoff.reset();
    }
    this.#failures++;
    if (this.#failures === 1) return "";
    return ` It ended soon after each of its last ${this.#failures} starts, so the next start is delayed.`;
  }
}
