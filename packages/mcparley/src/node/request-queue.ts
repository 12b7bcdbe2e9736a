/** A running request that counts against the limit. */
interface Place {
  /** The number of rounds that had passed when the request started. */
  readonly round: number;
}

/** Number of rounds after which a running request is slow. */
const SLOW_ROUNDS = 5;

interface Waiting {
  admit(): void;
  isGone: boolean;
}

/**
 * Limits the requests to one origin that run at the same time. Further requests wait.
 *
 * A burst of fast requests then needs few connections. A slow request no longer counts against the limit. Slow requests and
 * open streams therefore never block others for long, even if they wait for each other. While requests wait, the queue
 * checks the running ones in rounds. If none has finished in a round, all of them are slow.
 */
export class RequestQueue {
  readonly #max: number;
  readonly #roundMs: number;
  readonly #running = new Set<Place>();
  #finished = 0;
  #round = 0;
  #waiting: Waiting[] = [];
  /** The index of the first waiting request. */
  #first = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(max: number, roundMs: number) {
    this.#max = max;
    this.#roundMs = roundMs;
  }

  get isEmpty(): boolean {
    return this.#running.size === 0 && this.#first === this.#waiting.length;
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
      this.#timer ??= this.#watch();
    });
  }

  /** Frees a place. */
  leave(place: Place): void {
    this.#finished++;
    this.#running.delete(place);
    if (this.#timer !== undefined) this.#admitWaiting();
  }

  #admit(): Place {
    const place = { round: this.#round };
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

  /** Starts a round. */
  #watch(): NodeJS.Timeout {
    const before = this.#finished;
    const timer = setTimeout(() => {
      // If this process was busy, it first reads the responses that have arrived in the meantime.
      setImmediate(() => {
        if (this.#timer === timer) this.#endRound(this.#finished === before);
      });
    }, this.#roundMs);
    return timer;
  }

  #endRound(isStalled: boolean): void {
    this.#round++;
    for (const place of this.#running) {
      if (!isStalled && this.#round - place.round <= SLOW_ROUNDS) break;
      this.#running.delete(place);
    }
    this.#timer = this.#watch();
    this.#admitWaiting();
  }
}
