import { onAbort } from "../../rpc/abort.ts";
import { LocalError } from "../../rpc/errors.ts";

/** Limits of a queue. */
export interface QueueLimits {
  /** Maximum number of requests at the same time, without slow ones. */
  burst: number;
  /** Maximum number of requests at the same time, with slow ones. */
  connections: number;
  /** Milliseconds of a round. */
  roundMs: number;
  /** Maximum milliseconds that a request waits. It is checked at the end of each round. */
  waitMs: number;
}

/** A running request. */
export interface Place {
  /** The number of rounds that had passed when the request started. */
  readonly round: number;
}

/** Number of rounds after which a running request is slow. */
const SLOW_ROUNDS = 5;

interface Waiting {
  /** The number of rounds that had passed when it began to wait. */
  readonly round: number;
  /** Called when there is room. */
  readonly admit: () => void;
  readonly reject: (error: Error) => void;
  isGone: boolean;
}

/**
 * Limits the requests to one origin that run at the same time. Further requests wait.
 *
 * A burst of fast requests then needs few connections. A slow request no longer counts against the first limit. Slow requests
 * and open streams therefore do not block others for long, even if they wait for each other. While requests wait, the queue
 * checks the running ones in rounds. If none has finished in a round, all of them are slow.
 */
export class RequestQueue {
  readonly #origin: string;
  readonly #limits: QueueLimits;
  /** The running requests that are not slow. */
  readonly #fast = new Set<Place>();
  #running = 0;
  /** Number of requests that have waited with `turn` and have not entered yet. They have room until the event loop goes on. */
  #grantCount = 0;
  #finishCount = 0;
  #round = 0;
  #waiting: Waiting[] = [];
  /** The index of the first waiting request. */
  #first = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `origin` is named in errors. */
  constructor(origin: string, limits: QueueLimits) {
    this.#origin = origin;
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#running === 0 && this.#first === this.#waiting.length;
  }

  /**
   * Waits until a request that enters at once does not wait. Waiting here needs less memory, because the request is made later.
   * Rejects like `enter`.
   */
  turn(signal: AbortSignal | undefined): Promise<void> {
    if (!this.#hasRoom || this.#first < this.#waiting.length) return this.#wait(signal, () => this.#grant());
    this.#grant();
    return Promise.resolve();
  }

  #grant(): void {
    if (this.#grantCount++ > 0) return;
    setImmediate(() => {
      this.#grantCount = 0;
      this.#admitWaiting();
    });
  }

  /**
   * Returns a place, or a promise of one. `waits` is called if the request must wait, and the function that it returns when
   * the request no longer waits.
   *
   * Rejects with the reason of the signal if it is aborted before, and with `LocalError` `unreachable` after the maximum time.
   */
  enter(signal: AbortSignal | null | undefined, waits?: () => () => void): Place | Promise<Place> {
    if (this.#grantCount > 0) {
      this.#grantCount--;
      return this.#admit();
    }
    if (this.#hasRoom) return this.#admit();
    const resume = waits?.();
    const waitingPlace = this.#wait(signal, () => this.#admit());
    return resume ? waitingPlace.finally(resume) : waitingPlace;
  }

  /** Calls `admit` when there is room. */
  #wait<T>(signal: AbortSignal | null | undefined, admit: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const stop = signal
        ? onAbort(signal, () => {
            waiting.isGone = true;
            reject(signal.reason as Error);
          })
        : undefined;
      const waiting: Waiting = {
        round: this.#round,
        isGone: false,
        admit: () => {
          stop?.();
          resolve(admit());
        },
        reject: (error) => {
          stop?.();
          reject(error);
        },
      };
      this.#waiting.push(waiting);
      this.#timer ??= this.#watch();
    });
  }

  /** Frees a place. */
  leave(place: Place): void {
    this.#finishCount++;
    this.#running--;
    this.#fast.delete(place);
    if (this.#timer !== undefined) this.#admitWaiting();
  }

  get #hasRoom(): boolean {
    const { burst, connections } = this.#limits;
    return this.#fast.size + this.#grantCount < burst && this.#running + this.#grantCount < connections;
  }

  #admit(): Place {
    const place = { round: this.#round };
    this.#fast.add(place);
    this.#running++;
    return place;
  }

  #admitWaiting(): void {
    while (this.#hasRoom && this.#first < this.#waiting.length) {
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
    const finishedBefore = this.#finishCount;
    const timer = setTimeout(() => {
      // If this process was busy, it first reads the responses that have arrived in the meantime.
      setImmediate(() => {
        if (this.#timer === timer) this.#endRound(this.#finishCount === finishedBefore);
      });
    }, this.#limits.roundMs);
    return timer;
  }

  #endRound(isStalled: boolean): void {
    this.#round++;
    for (const place of this.#fast) {
      if (!isStalled && this.#round - place.round <= SLOW_ROUNDS) break;
      this.#fast.delete(place);
    }
    this.#rejectOld();
    this.#timer = this.#watch();
    this.#admitWaiting();
  }

  #rejectOld(): void {
    const { roundMs, waitMs, connections } = this.#limits;
    const last = this.#round - Math.ceil(waitMs / roundMs);
    for (let entry = this.#waiting[this.#first]; entry && entry.round <= last; entry = this.#waiting[++this.#first]) {
      if (entry.isGone) continue;
      const message =
        `No connection to ${this.#origin} was free within ${waitMs} ms: ${connections} requests wait for replies. ` +
        "Send fewer requests at the same time, or raise connection.maxConnections or connection.maxWaitMs of the target.";
      entry.reject(new LocalError("unreachable", message, { data: { origin: this.#origin, waitMs } }));
    }
  }
}
