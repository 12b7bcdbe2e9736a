import type { Clock } from "./clock.ts";
import { pause } from "./abort.ts";

const firstDelay = 500;
const longestDelay = 30_000;
const maxTries = 10;

/**
 * The delay before a retry. All streams of a client share one, so that ten streams that break together are reopened
 * together and count as one try.
 */
export class Backoff {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #tries = 0;
  #waiting: Promise<void> | undefined;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Whether all tries are used. */
  get isSpent(): boolean {
    return this.#tries >= maxTries && !this.#waiting;
  }

  /** Restores all tries. Called after a success. */
  reset(): void {
    this.#tries = 0;
  }

  /** Waits for the next try. Rejects if the client is closed. */
  wait(): Promise<void> {
    this.#waiting ??= this.#wait().finally(() => {
      this.#waiting = undefined;
    });
    return this.#waiting;
  }

  #wait(): Promise<void> {
    const longest = Math.min(longestDelay, firstDelay * 2 ** this.#tries++);
    // Half of the delay is random, so that the clients of a restarted server do not all reconnect at once.
    return pause(this.#clock, longest * (0.5 + Math.random() / 2), this.#signal);
  }
}
