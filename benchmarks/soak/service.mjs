// @ts-check

/** Upper ends of the classes of durations, in milliseconds. The last class has no end. */
const ends = [5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, Infinity];

/** How the server answered calls that it must answer. It keeps classes of durations, so that its memory does not grow with the calls. */
export class Service {
  calls = 0;
  failed = 0;
  /** Calls that took longer than `patience`. */
  slow = 0;
  /** Milliseconds. */
  slowest = 0;
  /** Refusals by HTTP status. @type {Record<string, number>} */
  refused = {};
  /** Milliseconds. */
  patience;
  #classes = ends.map(() => 0);

  /** @param {number} patience Milliseconds within which a call must be answered. */
  constructor(patience) {
    this.patience = patience;
  }

  /** Measures a call that must succeed. @template T @param {Promise<T>} call @returns {Promise<T>} */
  measure(call) {
    const began = performance.now();
    this.calls++;
    call.then(
      () => this.answered(performance.now() - began),
      () => {
        this.failed++;
        this.answered(performance.now() - began);
      },
    );
    return call;
  }

  /** Counts a call that was answered after a number of milliseconds. @param {number} duration */
  answered(duration) {
    const at = ends.findIndex((end) => duration <= end);
    this.#classes[at] = (this.#classes[at] ?? 0) + 1;
    this.slowest = Math.max(this.slowest, duration);
    if (duration > this.patience) this.slow++;
  }

  /** Counts the status of a response if it is a refusal. @param {number} status */
  responded(status) {
    if (status === 404 || status === 408 || status === 413 || status === 429 || status >= 500) {
      this.refused[status] = (this.refused[status] ?? 0) + 1;
    }
  }

  /** Returns an upper bound of a quantile of the durations, in milliseconds. @param {number} share */
  quantile(share) {
    const all = this.#classes.reduce((sum, count) => sum + count, 0);
    let seen = 0;
    for (const [index, count] of this.#classes.entries()) {
      seen += count;
      if (seen >= all * share) return Math.min(ends[index] ?? Infinity, this.slowest);
    }
    return this.slowest;
  }
}
