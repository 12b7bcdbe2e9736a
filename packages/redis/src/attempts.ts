import { type Clock, LocalError } from "mcparley";
import { isRefusal, unavailable } from "./errors.ts";

/** Milliseconds before the second try; each further one waits twice as long, up to `longestPause`. */
const firstPause = 20;
const longestPause = 250;

export interface Attempt {
  /** Milliseconds that are left for it. */
  within: number;
  /** Whether an earlier one may have been carried out without its reply having arrived. */
  again: boolean;
}

/** Tries operations again for as long as what stands in their way may pass, within a limit for each. */
export class Attempts {
  readonly #limit: number;
  readonly #clock: Clock;
  #closed = false;

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Rejects with `store_unavailable` once the limit is over or the server refuses, and with `closed` after `close`. */
  async run<T>(operation: string, attempt: (attempt: Attempt) => Promise<T>): Promise<T> {
    const end = this.#clock.now() + this.#limit;
    let failure: unknown;
    for (let pause = firstPause, again = false; ; pause = Math.min(longestPause, 2 * pause), again = true) {
      if (this.#closed) throw new LocalError("closed", "The store was closed.");
      const within = end - this.#clock.now();
      if (within <= 0) throw unavailable(operation, failure, this.#limit);
      try {
        return await this.#within(within, attempt({ within, again }));
      } catch (error) {
        if (isRefusal(error)) throw unavailable(operation, error, this.#limit);
        // What stood in the way says more than that the time is over.
        failure = error ?? failure;
      }
      await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, Math.min(pause, end - this.#clock.now())));
    }
  }

  close(): void {
    this.#closed = true;
  }

  /** Rejects with undefined once the time is over. */
  #within<T>(ms: number, work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimeout(() => reject(undefined), ms);
      work.then(resolve, reject).finally(() => this.#clock.clearTimeout(timer));
    });
  }
}
