import { pause } from "../../rpc/abort.ts";
import type { Clock } from "../../rpc/clock.ts";

const MAX_TRIES = 6;
const FIRST_DELAY = 1_000;
const LONGEST_DELAY = 30_000;
/** A server may ask to be asked often, but not this client to be busy with nothing else. */
const SHORTEST_RETRY = 500;

/**
 * How often the streams of one connection may be opened again without any progress: one budget for all of them, so
 * that those which break together come back together and count once.
 */
export class ReconnectBudget {
  #tries = 0;
  #waiting = 0;

  /** Something arrived that was worth the connection: the budget is whole again. */
  progress(): void {
    this.#tries = 0;
  }

  /**
   * Waits for the next try: as long as the server said, or else longer each time. Gives false at once where the budget
   * is spent; rejects when the signal is aborted.
   */
  async wait(clock: Clock, retryMs: number | undefined, signal: AbortSignal): Promise<boolean> {
    if (this.#waiting === 0) {
      if (this.#tries >= MAX_TRIES) return false;
      this.#tries++;
    }
    this.#waiting++;
    try {
      await pause(clock, this.#delay(retryMs), signal);
      return true;
    } finally {
      this.#waiting--;
    }
  }

  #delay(retryMs: number | undefined): number {
    // A server's wish is a minimum (2025-11-25, transports); a little by chance keeps many clients apart.
    if (retryMs !== undefined) return Math.max(retryMs, SHORTEST_RETRY) * (1 + Math.random() / 10);
    const longest = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (this.#tries - 1));
    return longest * (0.5 + Math.random() / 2);
  }
}
