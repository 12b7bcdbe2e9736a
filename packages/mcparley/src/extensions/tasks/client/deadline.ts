import type { FollowedCall } from "../../../client/extension.ts";
import { type Linked, abortedError, link, pause, unlessAborted } from "../../../rpc/abort.ts";
import { startLimit } from "../../../rpc/clock.ts";
import { LocalError, ProtocolError, RpcErrorCode } from "../../../rpc/errors.ts";
import { isObject } from "../../../rpc/messages.ts";

/** Maximum number of failures in a row. With the pauses between them, a server may be unavailable for about a minute. */
const maxFailures = 8;
/** Milliseconds before the first repetition. The pause doubles with each further one. */
const firstPause = 500;
/** Maximum pause in milliseconds, even if the server asks for a longer pause. */
const longestPause = 30_000;

/** The time limit of a followed task, and the retries of its requests. */
export class TaskDeadline {
  readonly #request: FollowedCall;
  readonly #taskId: string;
  readonly #linkedSignal: Linked;
  #remainingTime: number;
  #resumedAt = 0;
  #timer: unknown;
  #hasFailed = false;
  #isLate = false;

  constructor(request: FollowedCall, taskId: string) {
    this.#request = request;
    this.#taskId = taskId;
    this.#linkedSignal = link(request.signal);
    this.#remainingTime = request.left;
    this.#resume();
  }

  /** Aborted when the call is cancelled, when its time limit has passed, or when the client is closed. */
  get signal(): AbortSignal {
    return this.#linkedSignal.signal;
  }

  /** Whether the caller no longer needs the task. False if the client was closed: a later process can follow the task. */
  get isAbandoned(): boolean {
    const { aborted, reason } = this.#request.signal;
    const isClosed = aborted && reason instanceof LocalError && reason.code === "closed";
    return !isClosed && (aborted || this.#isLate || this.#hasFailed);
  }

  /** Runs an action that is safe to repeat. Repeats it up to 7 times, after errors that `isRetryable` accepts. */
  async retry<T>(run: () => Promise<T>, isRetryable: (error: unknown) => boolean): Promise<T> {
    const { clock } = this.#request;
    for (let failures = 1; ; failures++) {
      try {
        return await run();
      } catch (error) {
        // The reason of the signal is more specific than the error of a request that it has aborted.
        if (this.signal.aborted) throw abortedError(this.#request.what, this.signal);
        const hasCode = error instanceof LocalError || error instanceof ProtocolError;
        if (!hasCode || !isRetryable(error)) throw error;
        if (failures >= maxFailures) throw this.#unavailable(error);
        const backoff = Math.max(firstPause * 2 ** (failures - 1), delayOf(error));
        await pause(clock, Math.min(backoff, longestPause), this.signal);
      }
    }
  }

  /** Runs an action of the user. The time limit pauses until it ends. */
  async pauseDuring<T>(run: () => Promise<T>): Promise<T> {
    this.#stop();
    try {
      return await unlessAborted(run(), this.signal, this.#request.what);
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    } finally {
      this.#resume();
    }
  }

  /** Releases the timer and the signal of the call. */
  release(): void {
    this.#stop();
    this.#linkedSignal.unlink();
  }

  #resume(): void {
    const { clock } = this.#request;
    this.#resumedAt = clock.now();
    const expire = (): void => {
      this.#isLate = true;
      const message = `The task of ${this.#request.what} did not end within the time limit and was cancelled.`;
      this.#linkedSignal.abort(new LocalError("timeout", message, { data: { taskId: this.#taskId } }));
    };
    this.#timer = startLimit(clock, expire, Math.max(0, this.#remainingTime));
  }

  #stop(): void {
    if (this.#timer === undefined) return;
    const { clock } = this.#request;
    clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#remainingTime -= clock.now() - this.#resumedAt;
  }

  #unavailable(error: LocalError | ProtocolError): Error {
    const { what } = this.#request;
    const message = `The server of the task ${this.#taskId} of ${what} is unavailable; the task continues. ${error.message}`;
    const data = isObject(error.data) ? error.data : {};
    // The task still runs, so a second call would run the tool twice.
    const options = { cause: error, data: { ...data, safeToRepeat: false, taskId: this.#taskId } };
    return error instanceof LocalError
      ? new LocalError(error.code, message, options)
      : new ProtocolError(error.code, message, options);
  }
}

/** Returns whether a server that failed to read or change a task may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof ProtocolError) return error.code === RpcErrorCode.InternalError || delayOf(error) > 0;
  if (!(error instanceof LocalError)) return false;
  if (error.code === "http") return !isRefusal(isObject(error.data) ? error.data.status : undefined);
  return /^(timeout|closed|exited|unreachable|session_lost)$/.test(error.code);
}

/** Returns the milliseconds that the server asks to wait, or 0. */
export function delayOf(error: unknown): number {
  const data = error instanceof LocalError || error instanceof ProtocolError ? error.data : undefined;
  const { retryAfterMs, retryAfter } = isObject(data) ? data : {};
  if (typeof retryAfterMs === "number") return retryAfterMs;
  return typeof retryAfter === "number" ? retryAfter * 1000 : 0;
}

/** Returns whether the same request would fail again. A proxy responds with 404 while no process of the server is available. */
function isRefusal(status: unknown): boolean {
  return typeof status === "number" && status >= 400 && status < 500 && ![404, 408, 425, 429].includes(status);
}
