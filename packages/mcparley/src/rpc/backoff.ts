import { pause } from "./abort.ts";
import type { Clock } from "./clock.ts";
import { LocalError } from "./errors.ts";
import { isObject } from "./messages.ts";

const firstDelay = 500;
const longestDelay = 30_000;
const maxAttempts = 10;
/** Maximum milliseconds that a server can ask the client to wait. */
const longestRequested = 3_600_000;
/** Milliseconds after which an open stream counts as progress. Proxies close streams after 5 seconds and more. */
const steadyMs = 2_000;

/**
 * The delays and the number of attempts to open a stream or a connection again. All streams of a client use it.
 *
 * There are ten attempts, with delays that double from half a second to 30 seconds. Progress restores all attempts: a
 * message, or a stream that was open for two seconds.
 */
export class Backoff {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #attempts = 0;
  #waiting: Promise<void> | undefined;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Whether no attempt is left. */
  get isSpent(): boolean {
    return this.#attempts >= maxAttempts && !this.#waiting;
  }

  /** Restores all attempts. Called after a message. */
  reset(): void {
    this.#attempts = 0;
  }

  /** Restores all tries if a stream was open for long enough. Called with its duration in milliseconds when it ends. */
  wasOpen(ms: number): void {
    if (ms >= steadyMs) this.reset();
  }

  /**
   * Waits for the next attempt, for at least the milliseconds that the peer asks for. Callers at the same time share one
   * delay, which counts as one attempt. Rejects if the signal is aborted.
   */
  wait(requestedMs?: number): Promise<void> {
    this.#waiting ??= this.#wait(requestedMs).finally(() => {
      this.#waiting = undefined;
    });
    return this.#waiting;
  }

  #wait(requestedMs = 0): Promise<void> {
    const longest = Math.min(longestDelay, firstDelay * 2 ** this.#attempts++);
    // Half of the delay is random, so that the clients of a restarted server do not all reconnect at once.
    const ownDelay = longest * (0.5 + Math.random() / 2);
    const requestedDelay = Math.min(longestRequested, requestedMs) * (1 + Math.random() / 10);
    return pause(this.#clock, Math.max(ownDelay, requestedDelay), this.#signal);
  }
}

/** Returns the milliseconds that a server asks to wait in an error response (`Retry-After`), if it does. */
export function retryAfterOf(error: unknown): number | undefined {
  if (!(error instanceof LocalError) || !isObject(error.data)) return undefined;
  const { retryAfterMs } = error.data;
  return typeof retryAfterMs === "number" ? retryAfterMs : undefined;
}
