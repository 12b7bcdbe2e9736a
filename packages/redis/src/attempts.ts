import { type Clock, LocalError } from "mcparley";
import { isRefusal, unavailable } from "./errors.ts";

/** Milliseconds before the second attempt. The pause doubles for each further attempt, up to `longestPause`. */
const firstPause = 20;
const longestPause = 250;

export interface Attempt {
  /** Milliseconds left for this attempt. */
  within: number;
  /** Whether an earlier attempt may have taken effect although its reply was lost. */
  again: boolean;
}

/** Retries operations after transient failures, until the time limit of the operation. */
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
        // On a timeout (undefined), keep the previous failure: it is a more useful cause.
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
