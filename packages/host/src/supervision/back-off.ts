import { LocalError } from "mcparley";

const firstDelay = 1_000;
const longestDelay = 300_000;
/** Maximum milliseconds that a server can ask to wait with `Retry-After`. */
const longestRequested = 3_600_000;
/**
 * Automatic attempts after the last use. With the delays they take about ten minutes, which is longer than the restart of a
 * machine. An unused server that fails for longer stays closed until its next use.
 */
const maxAutomatic = 8;
/** A connection that was open for this time in milliseconds shows that the server works. */
export const stableTime = 30_000;

/**
 * The delays between the attempts to connect to a server, and the number of automatic attempts.
 *
 * The delays double from 1 second to 5 minutes, and half of each delay is random.
 */
export class BackOff {
  #failures = 0;
  #automaticLeft = 0;

  /** Whether an automatic attempt may follow. */
  get hasAutomatic(): boolean {
    return this.#automaticLeft > 0;
  }

  /** Counts an automatic attempt. */
  takeAutomatic(): void {
    this.#automaticLeft--;
  }

  /** Permits all automatic attempts again, because the server is used. */
  permitAutomatic(): void {
    this.#automaticLeft = maxAutomatic;
  }

  /** Starts with the shortest delay again. Called when the server has worked for a stable time, and by an explicit reconnect. */
  reset(): void {
    this.#failures = 0;
  }

  /** Counts a failure, and returns the milliseconds until the next attempt. */
  countFailure(error: unknown): number {
    const longest = Math.min(longestDelay, firstDelay * 2 ** this.#failures);
    // A higher exponent has no effect, and 2 ** 1024 is infinite.
    this.#failures = Math.min(this.#failures + 1, 30);
    // Half of the delay is random, so that the clients of a restarted server do not all reconnect at once.
    const delay = longest * (0.5 + Math.random() / 2);
    return Math.max(delay, Math.min(longestRequested, retryAfterOf(error)));
  }
}

/** Returns the milliseconds that the server asks to wait, or 0. */
function retryAfterOf(error: unknown): number {
  const data: unknown = error instanceof LocalError ? error.data : undefined;
  if (typeof data !== "object" || data === null || !("retryAfterMs" in data)) return 0;
  const { retryAfterMs } = data;
  return typeof retryAfterMs === "number" && retryAfterMs > 0 ? retryAfterMs : 0;
}
