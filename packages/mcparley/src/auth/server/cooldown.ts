import type { Clock } from "../../rpc/clock.ts";

interface CooldownOptions {
  clock: Clock;
  /** Milliseconds for which a failure is the answer to whoever asks again. */
  pause: number;
}

/**
 * Does one thing at a time for all who ask, and after a failure not again for a while: a service that is down is not
 * helped by a request for each token that somebody shows.
 */
export class Cooldown<T> {
  readonly #options: CooldownOptions;
  #running: Promise<T> | undefined;
  #failed: { error: unknown; until: number } | undefined;

  constructor(options: CooldownOptions) {
    this.#options = options;
  }

  run(work: () => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    if (this.#failed && clock.now() < this.#failed.until) return Promise.reject(this.#failed.error);
    this.#running ??= this.#start(work);
    return this.#running;
  }

  async #start(work: () => Promise<T>): Promise<T> {
    const { clock, pause } = this.#options;
    try {
      const value = await work();
      this.#failed = undefined;
      return value;
    } catch (error) {
      this.#failed = { error, until: clock.now() + pause };
      throw error;
    } finally {
      this.#running = undefined;
    }
  }
}
