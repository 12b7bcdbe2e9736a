import { pause } from "../../../rpc/abort.ts";
import type { FollowedRequest } from "../../../client/extension.ts";
import { LocalError } from "../../../rpc/errors.ts";

/** So often in a row a look at a task may fail because the server cannot be reached. */
const maxFailures = 5;
/** The pause before the first further try, in milliseconds; it doubles each time. */
const firstPause = 250;

/** How long a task is waited for: the time that is left of its call, and how often its server may be out of reach. */
export class Patience {
  readonly #request: FollowedRequest;
  readonly #taskId: string;
  #endsAt: number;
  #gaveUp = false;

  constructor(request: FollowedRequest, taskId: string) {
    this.#request = request;
    this.#taskId = taskId;
    this.#endsAt = request.clock.now() + request.left;
  }

  /** Cuts a pause to the time that is left. Throws `timeout` where none is. */
  within(ms: number): number {
    const left = this.#endsAt - this.#request.clock.now();
    if (left > 0) return Math.min(ms, left);
    this.#gaveUp = true;
    const message = `The task of ${this.#request.what} was not over within the time limit, and was cancelled.`;
    throw new LocalError("timeout", message, { data: { taskId: this.#taskId } });
  }

  /** Runs what may be repeated, again where the server could not be reached. */
  async keep(run: () => Promise<void>): Promise<void> {
    const { clock, signal } = this.#request;
    for (let failures = 1; ; failures++) {
      try {
        return await run();
      } catch (error) {
        if (!isOutOfReach(error) || signal.aborted) throw error;
        if (failures >= maxFailures) throw this.#lost(error as LocalError);
        await pause(clock, this.within(firstPause * 2 ** failures), signal);
      }
    }
  }

  /** Runs what takes a person's time, for which the clock stands still. */
  async pausing<T>(run: () => Promise<T>): Promise<T> {
    const { clock } = this.#request;
    const since = clock.now();
    try {
      return await run();
    } catch (error) {
      this.#gaveUp = true;
      throw error;
    } finally {
      this.#endsAt += clock.now() - since;
    }
  }

  /** Whether an error says that the caller has given up, rather than that the task is over or out of reach. */
  isOver(error: unknown): boolean {
    return this.#gaveUp || (this.#request.signal.aborted && !(error instanceof LocalError && error.code === "closed"));
  }

  #lost(error: LocalError): LocalError {
    const message = `The task ${this.#taskId} of ${this.#request.what} cannot be followed any more; it goes on. ${error.message}`;
    return new LocalError(error.code, message, { cause: error, data: { taskId: this.#taskId } });
  }
}

function isOutOfReach(error: unknown): boolean {
  return error instanceof LocalError && /^(timeout|closed|exited|unreachable|http|session_lost)$/.test(error.code);
}
