import type { Clock } from "./clock.ts";
import { pause } from "./abort.ts";

const firstDelay = 500;
const longestDelay = 30_000;
const maxTries = 10;

/**
 * How long to wait before something that broke is tried again: one budget for all that a client has to reopen, so that
 * ten streams which break together come back together, in one try.
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

  /** Whether tries are left. */
  get isSpent(): boolean {
    return this.#tries >= maxTries && !this.#waiting;
  }

  /** Something came through: the budget is whole again. */
  reset(): void {
    this.#tries = 0;
  }

  /** Waits for the next try. Rejects when the client is closed. */
  wait(): Promise<void> {
    this.#waiting ??= this.#wait().finally(() => {
      this.#waiting = undefined;
    });
    return this.#waiting;
  }

  #wait(): Promise<void> {
    const longest = Math.min(longestDelay, firstDelay * 2 ** this.#tries++);
    // Half of it by chance, so that the clients of a server that was restarted do not all come back at once.
    return pause(this.#clock, longest * (0.5 + Math.random() / 2), this.#signal);
  }
}
