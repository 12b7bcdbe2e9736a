import type { Clock } from "../../rpc/clock.ts";

interface AnswerCacheOptions {
  /** The most answers that are kept; beyond that the one that was asked for the longest ago goes. */
  max: number;
  clock: Clock;
}

/** An answer, and the time until which it may be given again. */
export interface Answer<T> {
  value: T;
  /** Milliseconds since 1970. */
  until: number;
}

/** Answers of another server, asked once for all who want the same at the same time, and kept as long as each says. */
export class AnswerCache<T> {
  readonly #options: AnswerCacheOptions;
  readonly #kept = new Map<string, Answer<T>>();
  readonly #asking = new Map<string, Promise<Answer<T>>>();

  constructor(options: AnswerCacheOptions) {
    this.#options = options;
  }

  /** What is kept for the key, or what `ask` gives. A rejection is for those who wait; it is not kept. */
  async get(key: string, ask: () => Promise<Answer<T>>): Promise<T> {
    const kept = this.#kept.get(key);
    if (kept && this.#options.clock.now() < kept.until) {
      this.#keep(key, kept);
      return kept.value;
    }
    let asking = this.#asking.get(key);
    if (!asking) {
      asking = ask().finally(() => this.#asking.delete(key));
      this.#asking.set(key, asking);
      this.#keep(key, await asking);
    }
    return (await asking).value;
  }

  /** Puts an answer at the end, which is the last to go. */
  #keep(key: string, answer: Answer<T>): void {
    this.#kept.delete(key);
    if (this.#options.clock.now() >= answer.until) return;
    this.#kept.set(key, answer);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#options.max && oldest !== undefined) this.#kept.delete(oldest);
  }
}
