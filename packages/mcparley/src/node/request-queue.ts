/** A request that counts against the limit. */
interface Place {
  since: number;
}

interface Waiting {
  admit(): void;
  isGone: boolean;
}

/**
 * Limits the requests to one origin that run at the same time. Further requests wait.
 *
 * A burst of requests needs few connections, because each is answered quickly. A request that takes longer no longer
 * counts, so slow requests and open streams never keep others waiting, also if they wait for each other.
 */
export class RequestQueue {
  readonly #max: number;
  readonly #burstMs: number;
  readonly #running = new Set<Place>();
  #waiting: Waiting[] = [];
  /** The index of the first waiting request. */
  #first = 0;
  #timer: NodeJS.Timeout | undefined;

  /** A request counts for at most `burstMs` milliseconds. */
  constructor(max: number, burstMs: number) {
    this.#max = max;
    this.#burstMs = burstMs;
  }

  get isEmpty(): boolean {
    return this.#running.size === 0 && this.#waiting.length === 0;
  }

  /** Returns a place, or a promise of one. Rejects with the reason of the signal if it is aborted before. */
  enter(signal: AbortSignal | null | undefined): Place | Promise<Place> {
    if (this.#running.size < this.#max) return this.#admit();
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        waiting.isGone = true;
        reject(signal?.reason as Error);
      };
      const waiting: Waiting = {
        isGone: false,
        admit: () => {
          signal?.removeEventListener("abort", abort);
          resolve(this.#admit());
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiting.push(waiting);
      this.#timer ??= setTimeout(() => this.#forgetSlow(), this.#burstMs);
    });
  }

  /** Frees a place. */
  leave(place: Place): void {
    if (this.#running.delete(place)) this.#admitWaiting();
  }

  #admit(): Place {
    const place = { since: performance.now() };
    this.#running.add(place);
    return place;
  }

  #admitWaiting(): void {
    while (this.#running.size < this.#max && this.#first < this.#waiting.length) {
      const waiting = this.#waiting[this.#first++];
      if (waiting?.isGone === false) waiting.admit();
    }
    if (this.#first < this.#waiting.length) return;
    this.#waiting = [];
    this.#first = 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #forgetSlow(): void {
    this.#timer = setTimeout(() => this.#forgetSlow(), this.#burstMs);
    const latest = performance.now() - this.#burstMs;
    for (const place of this.#running) {
      if (place.since > latest) break;
      this.#running.delete(place);
    }
    this.#admitWaiting();
  }
}
